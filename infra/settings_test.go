package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func lookup(m map[string]any) func(string) any { return func(k string) any { return m[k] } }

func TestSettings(t *testing.T) {
	t.Run("nothing set", func(t *testing.T) {
		if s, err := ReadSettings(lookup(nil)); err != nil || s != DefaultSettings() {
			t.Errorf("%+v, %v", s, err)
		}
	})
	t.Run("cdk.json says the defaults", func(t *testing.T) {
		b, err := os.ReadFile("../cdk.json")
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Context map[string]any }
		if err := json.Unmarshal(b, &file); err != nil {
			t.Fatal(err)
		}
		if s, err := ReadSettings(lookup(file.Context)); err != nil || s != DefaultSettings() {
			t.Errorf("%+v, %v", s, err)
		}
		delete(file.Context, "cli-telemetry") // the CDK's own
		if len(file.Context) != 11 {
			t.Errorf("%d names in the context of cdk.json, and 11 settings", len(file.Context))
		}
	})
	t.Run("from the command line", func(t *testing.T) {
		s, err := ReadSettings(lookup(map[string]any{
			"stage": "dev", "baseUrl": "https://agents.example:8443", "powBits": "26", "pageBits": "20", "logRetentionDays": "3653",
			"throttleRate": "1", "throttleBurst": "5000", "microUsdPerChar": "25", "webOrigins": "https://a.example,https://b.example", "mailFrom": "no-reply@agents.example", "alarmMail": "ops@agents.example",
		}))
		want := Settings{"dev", "https://agents.example:8443", 26, 20, 3653, 1, 5000, 25, "https://a.example,https://b.example", "ops@agents.example", "no-reply@agents.example"}
		if err != nil || s != want || !s.Disposable() {
			t.Errorf("%+v, %v", s, err)
		}
	})
}

func TestSettingsRefused(t *testing.T) {
	for name, values := range map[string][]any{
		"stage":            {"", "Prod", "a_b", "seventeen-letters", "ünique", 1.0, true},
		"baseUrl":          {"http://agents.example", "https://agents.example/", "https://agents.example/v1", "https://agents.example?x", "https://", "https://a b", "https://u@agents.example", "HTTPS://agents.example", "agents.example", 7.0},
		"powBits":          {7.0, 27.0, 18.5, "x", "", "18.0", true, -18.0, 1e300},
		"pageBits":         {7.0, 21.0, 14.5, "x"},
		"logRetentionDays": {0.0, 31.0, "29", "forever"},
		"throttleRate":     {0.0, 10001.0, "1e3"},
		"throttleBurst":    {0.0, 5001.0, []any{1.0}},
		"microUsdPerChar":  {0.0, 1000001.0, "0.5"},
		"webOrigins":       {"https://a.example/", "a.example", "https://a.example, https://b.example", "https://a.example,", "*,https://a.example", "null", 1.0},
		"alarmMail":        {"ops", "Ops@agents.example", "ops@localhost", true},
		"mailFrom":         {"agents.example", "No-Reply@agents.example", " a@agents.example", "a@localhost", "a@münchen.de", "Agents <a@agents.example>", "a@b.de,c@d.de", 1.0},
	} {
		for _, v := range values {
			_, err := ReadSettings(lookup(map[string]any{name: v}))
			if err == nil || !strings.Contains(err.Error(), "setting "+name+" is ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s = %#v: %v", name, v, err)
			}
		}
	}
}

func TestSettingsSayEverythingAtOnce(t *testing.T) {
	_, err := ReadSettings(lookup(map[string]any{"stage": "PROD", "powBits": 99.0, "logRetentionDays": "31"}))
	want := `setting stage is "PROD"; it must be 1 to 16 of a-z, 0-9 and -
setting powBits is 99; it must be 8 to 26
setting logRetentionDays is "31"; it must be one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}
