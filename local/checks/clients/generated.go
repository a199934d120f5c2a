package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Versions of oapi-codegen, and of the package that its clients import.
const (
	oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"
	oapiRuntime = "github.com/oapi-codegen/runtime v1.9.0"
)

// document is the OpenAPI document, relative to a generator's folder.
const document = "../../../functions/docs/openapi.json"

// generator makes a client from the OpenAPI document. Our program imports the client.
type generator struct {
	name  string
	dir   string            // in the build folder
	files map[string]string // our files, by their names in dir
	text  map[string]string // contents of further files, by their names in dir

	// Commands, which run in dir. compile is nil for Python.
	generate, compile, run []string
}

func generators() []generator {
	return []generator{
		{
			"openapi-typescript", "fetch", map[string]string{"smoke.ts": "fetch.ts", "tsconfig.json": "tsconfig.json"}, nil,
			[]string{"openapi-typescript", document, "-o", "schema.d.ts"},
			[]string{"tsc", "--pretty", "false"},
			[]string{"node", "out/fetch/smoke.js"},
		},
		{
			"@hey-api/openapi-ts", "hey", map[string]string{"smoke.ts": "hey.ts", "tsconfig.json": "tsconfig.json", "openapi-ts.config.mjs": "openapi-ts.config.mjs"}, nil,
			[]string{"openapi-ts", "--input", document}, // the rest is in openapi-ts.config.mjs
			[]string{"tsc", "--pretty", "false"},
			[]string{"node", "out/hey/smoke.js"},
		},
		{
			"openapi-python-client", "python", map[string]string{"smoke.py": "generated.py"}, nil,
			[]string{"openapi-python-client", "generate", "--path", document, "--output-path", ".", "--meta", "setup", "--overwrite"},
			nil,
			[]string{"python", "smoke.py"},
		},
		{
			"oapi-codegen", "go", map[string]string{"main.go": "oapi.go.txt"},
			map[string]string{
				"go.mod":      "module smoke\n\ngo 1.24\n\nrequire " + oapiRuntime + "\n",
				"config.yaml": "package: api\ngenerate: {models: true, client: true}\noutput: api/api.gen.go\n",
			},
			[]string{"go", "run", oapiCodegen, "-config", "config.yaml", document},
			[]string{"go", "build", "-o", "smoke", "."},
			[]string{"./smoke"},
		},
	}
}

// generated starts all generators at once. Each returned client waits for its generator.
func generated(ctx context.Context, s *running) (list []client) {
	for _, g := range generators() {
		made := make(chan []result, 1)
		go func() { made <- g.make(ctx, s) }()
		list = append(list, client{g.name, func(ctx context.Context, s *running) []result {
			results := <-made
			if results[len(results)-1].problem != "" {
				return results
			}
			return append(results, resultsIn(g.command(ctx, s, g.run))...)
		}})
	}
	return list
}

func (g generator) make(ctx context.Context, s *running) []result {
	if err := g.prepare(); err != nil {
		return []result{{"prepare", err.Error()}}
	}
	out, err := g.command(ctx, s, g.generate)
	results := []result{{"generate", warning(out, err)}}
	if results[0].problem == "" && g.compile != nil {
		out, err := g.command(ctx, s, g.compile)
		results = append(results, result{"compile", brief(out, err)})
	}
	return results
}

// warning is like brief, but a generator that warned has failed, too.
func warning(out string, err error) string {
	if strings.Contains(strings.ToLower(out), "warn") || strings.Contains(out, "⚠") {
		err = errors.Join(err, errors.New("it warned"))
	}
	return brief(out, err)
}

// brief returns the error of a command with the beginning of its output, or "" if it succeeded.
func brief(out string, err error) string {
	if err == nil {
		return ""
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%v: %s", err, out[:min(len(out), 600)])), " ")
}

func (g generator) prepare() error {
	dir := filepath.Join(build, g.dir)
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, from := range g.files {
		b, err := os.ReadFile(filepath.Join(source, "generated", from))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			return err
		}
	}
	for name, text := range g.text {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (g generator) command(ctx context.Context, s *running, args []string) (string, error) {
	root, err := filepath.Abs(build)
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "node_modules", ".bin") + ":" + filepath.Join(root, "venv", "bin") + ":" + os.Getenv("PATH")
	ctx, cancel := context.WithTimeout(ctx, 2*patience) // generators share the processors
	defer cancel()
	cmd := exec.CommandContext(ctx, "/usr/bin/env", args...)
	cmd.Dir = filepath.Join(root, g.dir)
	cmd.Env = append(os.Environ(), "SERVICE="+s.URL, "MCP_TOKEN="+s.token, "AGENT_ID="+s.agent.ID, "PATH="+path, "PYTHONPATH="+root, "GOFLAGS=-mod=mod", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
