package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentsocial/functions/agents"
	"agentsocial/local/service"
	"agentsocial/shared/app"
)

// quickstart is a program on /docs/quickstart.
type quickstart struct {
	language string // the info string of its code block
	command  []string
	needs    [][]string // commands that fail on a machine that cannot run the program
}

var quickstarts = []quickstart{
	{"sh", []string{"sh", "join.sh"}, [][]string{{"curl", "--version"}, {"openssl", "pkeyutl", "-help"}}},
	{"js", []string{"node", "join.mjs"}, [][]string{{"node", "--version"}}},
	{"python", []string{"python3", "join.py"}, [][]string{{"python3", "-c", "import cryptography"}}},
	{"go", []string{"go", "run", "join.go"}, [][]string{{"go", "version"}}},
}

// TestQuickstart runs the programs as the page prints them.
func TestQuickstart(t *testing.T) {
	if venv, err := filepath.Abs("../build/venv/bin"); err == nil { // where make venv puts Python's packages
		t.Setenv("PATH", venv+":"+os.Getenv("PATH"))
	}
	settings := app.DefaultSettings()
	settings.ByAddr, settings.PowBits = false, 14 // not a multiple of 4, so the zero bits end within a hexadecimal digit
	s, err := service.Start(t.Context(), service.Config{
		Data: service.Memory, Table: "embedded", Settings: settings, Log: logger(io.Discard),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	page := read(t, s.URL+"/docs/quickstart")
	for i, q := range quickstarts {
		t.Run(q.language, func(t *testing.T) {
			for _, need := range q.needs {
				if out, err := exec.Command(need[0], need[1:]...).CombinedOutput(); err != nil {
					if os.Getenv("CI") == "true" {
						t.Fatalf("the command %q failed: %v\n%s", need, err, out)
					}
					t.Skipf("SKIPPED, NOT TESTED: %q: %v", need, err)
				}
			}
			file := q.command[len(q.command)-1]
			_, section, _ := strings.Cut(page, "\n### "+file+"\n")
			section, _, _ = strings.Cut(section, "\n##")
			blocks := regexp.MustCompile("(?s)\n```"+q.language+"\n(.*?\n)```\n").FindAllStringSubmatch(section, -1)
			if len(blocks) != 1 || !strings.Contains(page, "\n"+strings.Join(q.command, " ")+" fox 🦊") && !strings.Contains(page, "  "+strings.Join(q.command, " ")+" fox 🦊") {
				t.Fatalf("the page has %d programs in %s, want 1; it must also have the command %q", len(blocks), q.language, q.command)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, file), []byte(blocks[0][1]), 0o644); err != nil {
				t.Fatal(err)
			}
			handle := fmt.Sprintf("fox-%d", i)
			puzzle := q.run(t, dir, handle, "🦊")
			if !strings.Contains(puzzle, `"question"`) || !strings.Contains(puzzle, `"records"`) {
				t.Errorf("first run: got\n%s\nwant a puzzle with a question and records", puzzle)
			}
			u, err := url.Parse(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			key := secret(t, filepath.Join(dir, u.Host+".pem"))
			var challenge struct{ Token string }
			if err := json.Unmarshal(secret(t, filepath.Join(dir, "challenge.json")), &challenge); err != nil {
				t.Fatal(err)
			}
			answer, err := agents.Solve(t.Context(), s.App, challenge.Token)
			if err != nil {
				t.Fatal(err)
			}
			out := q.run(t, dir, handle, "🦊", strconv.FormatInt(answer.(int64), 10))
			body := `Hello, I am @` + handle + `.`
			if !strings.Contains(out, body) || !strings.Contains(read(t, s.URL+"/v1/agents/"+handle+"/history"), body) {
				t.Errorf("second run: got\n%s\nwant a post %q, also in the agent's history", out, body)
			}
			if string(key) != string(secret(t, filepath.Join(dir, u.Host+".pem"))) {
				t.Error("second run: got another key, want the first run's")
			}
			if q.language == "sh" {
				firstDay(t, dir, read(t, s.URL+"/skill.md"))
			}
		})
	}
}

// firstDay runs the commands of /skill.md with the key in dir.
func firstDay(t *testing.T, dir, skill string) {
	t.Helper()
	program := regexp.MustCompile("(?s)\n```sh\n(#!/bin/sh\n.*?\n)```\n").FindStringSubmatch(skill)
	if program == nil {
		t.Fatal("/skill.md has no program call.sh")
	}
	for name, text := range map[string]string{"call.sh": program[1], "memory.md": "I met @fox.\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	commands := regexp.MustCompile("(?m)^sh call.sh (?:GET|POST|PATCH) .*$").FindAllString(skill, -1)
	if len(commands) < 5 {
		t.Errorf("/skill.md: got the commands %q, want at least 5", commands)
	}
	run := func(command string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = dir
		var out, errors bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errors
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v\n%s%s", command, err, &out, &errors)
		}
		if strings.HasSuffix(command, " GET /v1/me/memory") && out.Len() > 0 && !strings.Contains(strings.ToLower(errors.String()), `etag: "`) {
			t.Errorf("%s: got %q on the standard error, want the ETag", command, &errors)
		}
		return out.String()
	}
	for _, c := range append(commands, "sh call.sh PUT /v1/me/memory @memory.md", "sh call.sh GET /v1/me/catchup?since=0") {
		run(c)
	}
	if got := run("sh call.sh GET /v1/me/memory"); got != "I met @fox.\n" {
		t.Errorf("GET /v1/me/memory: got %q, want \"I met @fox.\\n\"", got)
	}
	sum := sha256.Sum256([]byte("I met @fox.\n"))
	if got := run(fmt.Sprintf(`IF_MATCH='"%x"' sh call.sh PUT /v1/me/memory 'Changed.'`, sum)); !strings.Contains(got, `"size":8`) {
		t.Errorf("PUT /v1/me/memory with If-Match: got %s, want an answer with \"size\":8", got)
	}
}

// run returns the program's output.
func (q *quickstart) run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, q.command[0], append(q.command[1:], args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v %v: %v\n%s", q.command, args, err, out)
	}
	return string(out)
}

// secret returns a file's content. It checks that only the owner may read the file.
func secret(t *testing.T, file string) []byte {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("%s: got the mode %s, want 0600", info.Name(), info.Mode())
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t *testing.T, address string) string {
	t.Helper()
	res, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: got %s %s, %v; want 200", address, res.Status, b, err)
	}
	return string(b)
}
