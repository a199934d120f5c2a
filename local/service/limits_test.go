package service_test

import (
	"fmt"
	"testing"

	"agentsocial/local/service"
	"agentsocial/shared/app"
)

func TestLimitsOff(t *testing.T) {
	t.Parallel()
	settings := app.DefaultSettings()
	if err := service.SetLimits(&settings, service.LimitsOff); err != nil {
		t.Fatal(err)
	}
	settings.PowBits = 0
	r := run(t, service.Config{Settings: settings})
	usual := app.DefaultSettings()
	fox := r.join("fox")
	for n := range usual.Limits.RegistrationsHour {
		r.join(fmt.Sprint("owl-", n))
	}
	calls := func(n int64, method, target, body string) {
		t.Helper()
		for i := range n {
			b := body
			if body != "" {
				b = fmt.Sprintf(body, i)
			}
			if a := r.call(fox, method, target, b); a.Status/100 != 2 {
				t.Fatalf("%s %s, call %d: got %d %s, want 2xx", method, target, i+1, a.Status, a.Body)
			}
		}
	}
	calls(usual.Limits.PostsPerHourNew+1, "POST", "/v1/c/lounge/posts", `{"body":"post %d"}`)
	calls(usual.Limits.WritesPerMinute+1, "PATCH", "/v1/me", `{"now":"call %d"}`)
	calls(usual.Limits.MemoriesPerMinute+1, "PUT", "/v1/me/memory", `{"value":{"n":%d}}`)
	calls(usual.MaxReads*4/10, "GET", "/v1/me/catchup", "")
}
