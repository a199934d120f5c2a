package main

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentsocial/local/service"
	"agentsocial/shared/api"
)

func TestEnvironmentVariables(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"PORT", "99999", "must be a port"}, {"PORT", "0", ""},
		{"POW_BITS", "many", "from 0 to 40"}, {"PAGE_BITS", "31", "from 0 to 30"},
		{"ADDRESS_LIMITS", "yes", "must be on or off"}, {"ADDRESS_LIMITS", "on", ""}, {"THROTTLE", "yes", "must be on or off"}, {"THROTTLE", "off", ""},
		{"PPROF", "on", "must be 1 or 0"}, {"PPROF", "1", ""},
		{"PROBE", "1", "must be on or off"}, {"PROBE", "on", ""},
		{"LIMITS", `{"posts_per_minutes": 3}`, `there is no limit "posts_per_minutes"`}, {"LIMITS", `{"posts_per_minute": 3}`, ""},
		{"LIMITS", "on", "limits are on; they must be a JSON object"}, {"LIMITS", "off", ""},
		{"CONTACT", "agents.example", `CONTACT="agents.example" must be a mail address`}, {"CONTACT", "ops@agents.example", ""},
		{"INDEX", "yes", `INDEX="yes" must be on or off`}, {"INDEX", "on", ""}, {"INDEX", "off", ""},
		{"WEB_ORIGINS", "app.example", `"app.example" must be an origin`}, {"WEB_ORIGINS", "https://app.example/", "must be an origin"},
		{"WEB_ORIGINS", "https://app.example, https://b.example", `" https://b.example" must be an origin`},
		{"WEB_ORIGINS", "https://app.example,http://192.0.2.1:3000", ""}, {"WEB_ORIGINS", "*", ""},
	} {
		_, err := configOf(func(name string) string { return map[string]string{c.name: c.value}[name] })
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), c.name)) {
			t.Errorf("%s=%s: got error %v, want one that begins with %[1]s and has %[4]q (\"\": no error)", c.name, c.value, err, c.want)
		}
	}
	one, err := configOf(func(name string) string {
		return map[string]string{"WEB_ORIGINS": "https://a.example,https://b.example"}[name]
	})
	if want := []string{"https://a.example", "https://b.example"}; err != nil || !slices.Equal(one.Settings.WebOrigins, want) {
		t.Errorf("two origins in WEB_ORIGINS: got %q, %v; want %q", one.Settings.WebOrigins, err, want)
	}
}

func TestLimitsOff(t *testing.T) {
	of := func(pairs ...string) (service.Config, error) {
		return configOf(func(name string) string {
			if i := slices.Index(pairs, name); i >= 0 {
				return pairs[i+1]
			}
			return ""
		})
	}
	usual, err := of()
	if err != nil || usual.Throttle != api.DefaultThrottle || usual.Settings.ByAddr {
		t.Errorf("without variables: got throttle %+v, limits per address %t, error %v; want %+v and false", usual.Throttle, usual.Settings.ByAddr, err, api.DefaultThrottle)
	}
	if c, err := of("ADDRESS_LIMITS", "on", "THROTTLE", "off"); err != nil || c.Throttle != (api.Throttle{}) || !c.Settings.ByAddr {
		t.Errorf("ADDRESS_LIMITS=on THROTTLE=off: got throttle %+v, limits per address %t, error %v; want no throttle and limits per address", c.Throttle, c.Settings.ByAddr, err)
	}
	lifted := usual.Settings.Lifted()
	for _, pairs := range [][]string{{}, {"ADDRESS_LIMITS", "off", "THROTTLE", "off"}} {
		c, err := of(append(pairs, "LIMITS", "off")...)
		if err != nil || c.Throttle != (api.Throttle{}) || !reflect.DeepEqual(c.Settings, lifted) {
			t.Errorf("LIMITS=off %q: got settings %+v, throttle %+v, error %v; want settings %+v and no throttle", pairs, c.Settings, c.Throttle, err, lifted)
		}
	}
	for want, pairs := range map[string][]string{
		"ADDRESS_LIMITS=on contradicts LIMITS=off": {"ADDRESS_LIMITS", "on"},
		"THROTTLE=on contradicts LIMITS=off":       {"THROTTLE", "on"},
		"LIMITS=off is not allowed with":           {"TABLE", "aws:agents"},
	} {
		if _, err := of(append(pairs, "LIMITS", "off")...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("LIMITS=off %q: got error %v, want %q", pairs, err, want)
		}
	}
}

func TestLimitsOff_Warning(t *testing.T) {
	for limits, want := range map[string]bool{"": false, "off": true} {
		ctx, cancel := context.WithCancel(t.Context())
		var out, logs bytes.Buffer
		cancelled := writer(func(b []byte) { out.Write(b); cancel() }) // the first output comes after the start
		env := map[string]string{"PORT": "0", "DATA": service.Memory, "LIMITS": limits}
		if err := run(ctx, func(name string) string { return env[name] }, built{}, cancelled, &logs); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(logs.String(), "lifts all limits"); got != want || !strings.Contains(out.String(), "the service") {
			t.Errorf("LIMITS=%s: got a warning %t, want %t, and the service's address printed; output\n%s\nlogs\n%s", limits, got, want, out.String(), logs.String())
		}
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

func TestStandingOnALaptop(t *testing.T) {
	for limits, want := range map[string]int64{"": 0, `{"posts_per_minute": 3}`: 0, `{"standing_owners": 3}`: 3} {
		c, err := configOf(func(name string) string { return map[string]string{"LIMITS": limits}[name] })
		if err != nil || c.Settings.Limits.StandingOwners != want {
			t.Errorf("LIMITS=%s: got StandingOwners %d, error %v; want %d", limits, c.Settings.Limits.StandingOwners, err, want)
		}
	}
}
