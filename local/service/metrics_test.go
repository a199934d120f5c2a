package service_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"agentsocial/local/engines/logs"
	"agentsocial/local/service"
	"agentsocial/shared/lambda/metrics"
)

// A replay is not counted again.
func TestMetricsCountRegistrationsAndPosts(t *testing.T) {
	t.Parallel()
	var log logs.Buffer
	r := run(t, service.Config{Settings: generous(), Log: slog.New(metrics.Handler(&log, "test", true))})
	fox := r.join("fox")
	r.founded("bear")
	post := r.request(fox, "POST", "/v1/c/lounge/posts", `{"body":"hello"}`)
	for range 3 {
		r.want(r.send(post), 201, "")
	}
	r.want(r.callRetry(fox, "POST", "/v1/c/lounge/posts", `{"body":"hello"}`), 409, "duplicate_post")

	made := map[string][]string{} // routes, by metric
	for l := range strings.Lines(log.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(l), &line); err != nil {
			t.Fatalf("the log line %s is not JSON: %v", l, err)
		}
		for _, name := range []string{metrics.Registrations, metrics.Posts} {
			if line[name] != nil {
				made[name] = append(made[name], line["route"].(string))
				if !strings.Contains(l, `{"Namespace":"agentsocial/test","Dimensions":[[]],"Metrics":[{"Name":"`+name+`","Unit":"Count"}]}`) {
					t.Errorf("got the log line %s, want one that CloudWatch reads as the metric %s", l, name)
				}
			}
		}
	}
	for name, want := range map[string]string{
		metrics.Registrations: "POST /v1/agents, POST /v1/signup/finish", metrics.Posts: "POST /v1/c/{ch}/posts",
	} {
		if got := strings.Join(made[name], ", "); got != want {
			t.Errorf("routes that count %s: got %s, want %s", name, got, want)
		}
	}
}
