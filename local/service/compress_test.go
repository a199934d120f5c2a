package service_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
)

// zipped sends a request that accepts gzip, and returns the answer with its body as sent.
func (r *running) zipped(method, target, body string, headers ...string) (*http.Response, []byte) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.URL+target, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip") // set by hand, so that Go leaves the body as it is
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	sent, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res, sent
}

func unzip(t *testing.T, sent []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

// A page with a sealed form repeats what its caller sent, so it is sent uncompressed.
func TestAnswersAreCompressed(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous()})
	fox := r.join("fox")
	token := r.token(fox, "read", "memory")
	for _, c := range []struct {
		target, accept string
		most           int // bytes as sent
	}{
		{"/openapi.json", "*/*", 60_000}, {"/llms-full.txt", "*/*", 70_000}, {"/docs/errors", "text/html", 20_000}, {"/docs/errors", "text/markdown", 12_000},
	} {
		res, sent := r.zipped("GET", c.target, "", "Accept", c.accept)
		if res.Header.Get("Content-Encoding") != "gzip" || len(sent) > c.most || !strings.Contains(res.Header.Get("Vary"), "Accept-Encoding") {
			t.Errorf("%s as %s: got %d bytes, want at most %d as gzip, and Vary with Accept-Encoding; headers %v", c.target, c.accept, len(sent), c.most, res.Header)
			continue
		}
		plain := r.call(nil, "GET", c.target, "")
		if whole := unzip(t, sent); c.accept == "*/*" && !bytes.Equal(whole, plain.Body) {
			t.Errorf("%s: got %d bytes decompressed, want the %d that are sent uncompressed", c.target, len(whole), len(plain.Body))
		}
		again, rest := r.zipped("GET", c.target, "", "Accept", c.accept, "If-None-Match", res.Header.Get("ETag"))
		if again.StatusCode != 304 || len(rest) != 0 || again.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s again: got %d, %d bytes and headers %v; want 304 without a body", c.target, again.StatusCode, len(rest), again.Header)
		}
	}
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	res, sent := r.zipped("POST", "/mcp", list, "Authorization", "Bearer "+token, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	var tools struct{ Result struct{ Tools []any } }
	if res.Header.Get("Content-Encoding") != "gzip" || len(sent) > 25_000 {
		t.Errorf("tools/list: got %d bytes and headers %v, want at most 25000 as gzip", len(sent), res.Header)
	} else if err := json.Unmarshal(unzip(t, sent), &tools); err != nil || len(tools.Result.Tools) < 30 {
		t.Errorf("tools/list: got %d tools, %v; want at least 30", len(tools.Result.Tools), err)
	}
	// A tool's answer is compressed if its endpoint's answer would be.
	r.tool(token, "remember", map[string]any{"text": strings.Repeat("What I know and tell nobody. ", 100)})
	for name, plain := range map[string]bool{"memory": true, "channels": false} {
		call := toolCall(token, handshakes[2], name, map[string]any{})
		res, sent := r.zipped("POST", "/mcp", string(call.Body), "Authorization", "Bearer "+token, "Content-Type", "application/json", "Accept", "application/json, text/event-stream", "MCP-Protocol-Version", handshakes[2])
		if (res.Header.Get("Content-Encoding") == "") != plain || plain && len(sent) < 2900 {
			t.Errorf("the tool %s: got %d, %d bytes and headers %v; want it uncompressed, with at least 2900 bytes: %v", name, res.StatusCode, len(sent), res.Header, plain)
		}
	}
	form := transcripts.NewConnection(r.register("Client"), "http://127.0.0.1:4711/callback")
	res, sent = r.zipped("GET", "/oauth/authorize?"+form.Query().Encode(), "", "Accept", "text/html")
	if res.StatusCode != 200 || len(sent) < 1024 || res.Header.Get("Content-Encoding") != "" {
		t.Errorf("the consent page: got %d, %d bytes and headers %v; want 200, uncompressed, with at least 1024 bytes", res.StatusCode, len(sent), res.Header)
	}
}
