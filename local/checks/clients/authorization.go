package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"agentsocial/local/engines/ports"
	"agentsocial/local/transcripts"
)

// summed matches the conformance suite's summary of a scenario.
var summed = regexp.MustCompile(`(?m)^[✓✗] ([a-z-]+): (\d+) passed, (\d+) failed`)

// authorization runs the conformance suite's scenarios for authorization servers. The
// suite waits at a port for the browser to come back.
func authorization(node string) func(context.Context, *running) []result {
	return func(ctx context.Context, s *running) []result {
		port, release, err := ports.Free()
		if err != nil {
			return []result{{"start", err.Error()}}
		}
		defer release()
		id, err := s.register("conformance")
		if err != nil {
			return []result{{"registration", err.Error()}}
		}
		out, err := consenter(ctx, s, node, filepath.Join(build, "node_modules", ".bin", "conformance"), "authorization",
			"--url", s.URL, "--client-id", id, "--resource", s.URL+"/mcp", "--port", strconv.Itoa(port))
		return scenariosIn(out, err)
	}
}

// scenariosIn returns a result for each of the suite's scenarios. A scenario without a
// passed check was skipped, which counts as a failure.
func scenariosIn(out string, err error) []result {
	var results []result
	for _, m := range summed.FindAllStringSubmatch(colour.ReplaceAllString(out, ""), -1) {
		problem := ""
		if m[2] == "0" || m[3] != "0" {
			problem = m[0]
		}
		results = append(results, result{m[1], problem})
	}
	switch {
	case err != nil:
		results = append(results, result{"end", fmt.Sprintf("%v: %s", err, last(out))})
	case len(results) < 2:
		results = append(results, result{"end", fmt.Sprintf("got %d scenarios, want at least 2: %s", len(results), last(out))})
	}
	return results
}

func (s *running) register(name string) (clientID string, err error) {
	body, err := json.Marshal(map[string]any{"client_name": name, "redirect_uris": []string{"http://127.0.0.1/callback"}})
	if err != nil {
		return "", err
	}
	a, err := (&transcripts.Request{
		Method: http.MethodPost, Target: "/oauth/register", Body: body, Header: http.Header{"Content-Type": {"application/json"}},
	}).Send(s.URL)
	if err == nil && a.Status != http.StatusCreated {
		err = fmt.Errorf("%d %s", a.Status, a.Body)
	}
	if err != nil {
		return "", err
	}
	return a.Text("client_id"), nil
}

// consenter runs a program that prints the address of the consent page. The person
// consents there while the program waits.
func consenter(ctx context.Context, s *running, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd, err := command(ctx, s, name, args...)
	if err != nil {
		return "", err
	}
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		return "", err
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		w.Close()
		ended <- err
	}()
	var out strings.Builder
	for lines := bufio.NewScanner(r); lines.Scan(); {
		line := lines.Text()
		fmt.Fprintln(&out, line)
		if !strings.HasPrefix(line, s.URL+"/oauth/authorize?") {
			continue
		}
		if _, err := s.person.consent(line); err != nil {
			fmt.Fprintln(&out, err)
			cancel()
		}
	}
	return out.String(), <-ended
}
