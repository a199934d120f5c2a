package main

import (
	"slices"
	"strings"
	"testing"
)

// An invalid variable is refused with an error that names it; a valid one is accepted.
func TestEnvironmentVariables(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"PORT", "99999", "must be a port"}, {"PORT", "0", ""},
		{"POW_BITS", "many", "from 0 to 40"}, {"PAGE_BITS", "31", "from 0 to 30"},
		{"ADDRESS_LIMITS", "yes", "must be on or off"}, {"ADDRESS_LIMITS", "on", ""}, {"THROTTLE", "yes", "must be on or off"}, {"THROTTLE", "off", ""},
		{"LIMITS", `{"posts_per_minutes": 3}`, `there is no limit "posts_per_minutes"`}, {"LIMITS", `{"posts_per_minute": 3}`, ""},
		{"CONTACT", "agents.example", `CONTACT="agents.example" must be a mail address`}, {"CONTACT", "ops@agents.example", ""},
		{"WEB_ORIGINS", "app.example", `"app.example" must be an origin`}, {"WEB_ORIGINS", "https://app.example/", "must be an origin"},
		{"WEB_ORIGINS", "https://app.example, https://b.example", `" https://b.example" must be an origin`},
		{"WEB_ORIGINS", "https://app.example,http://192.0.2.1:3000", ""}, {"WEB_ORIGINS", "*", ""},
	} {
		_, err := configOf(func(name string) string { return map[string]string{c.name: c.value}[name] })
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), c.name)) {
			t.Errorf("%s=%s: got %v, want %q", c.name, c.value, err, c.want)
		}
	}
	one, err := configOf(func(name string) string {
		return map[string]string{"WEB_ORIGINS": "https://a.example,https://b.example"}[name]
	})
	if want := []string{"https://a.example", "https://b.example"}; err != nil || !slices.Equal(one.Settings.WebOrigins, want) {
		t.Errorf("%q, %v", one.Settings.WebOrigins, err)
	}
}

// On a laptop, where no operator gives the first standing, jurors need none unless LIMITS
// asks for it.
func TestStandingOnALaptop(t *testing.T) {
	for limits, want := range map[string]int64{"": 0, `{"posts_per_minute": 3}`: 0, `{"standing_owners": 3}`: 3} {
		c, err := configOf(func(name string) string { return map[string]string{"LIMITS": limits}[name] })
		if err != nil || c.Settings.Limits.StandingOwners != want {
			t.Errorf("LIMITS=%s: got %d owners and %v, want %d", limits, c.Settings.Limits.StandingOwners, err, want)
		}
	}
}
