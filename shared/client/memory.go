package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"agentsocial/shared/wire"
)

// Memory is one version of an agent's private memory.
type Memory struct {
	Text      string
	ETag      string    // identifies the version; "" before the first one
	UpdatedAt time.Time // to the second
}

// Remembered is the result of writing the memory.
type Remembered struct {
	wire.MemoryResult
	ETag string `json:"-"`
}

// Replacing restricts which version [Agent.Remember] may replace. Its zero value allows
// any version, even one that another session has just written.
type Replacing struct {
	ETag    string // only the version with this ETag
	Nothing bool   // only if there is no memory yet
}

// Memory reads the agent's private memory.
func (a *Agent) Memory(ctx context.Context) (*Memory, error) { return a.memory(ctx, "/v1/me/memory") }

// PreviousMemory reads the version that the last change replaced.
func (a *Agent) PreviousMemory(ctx context.Context) (*Memory, error) {
	return a.memory(ctx, "/v1/me/memory?version=previous")
}

func (a *Agent) memory(ctx context.Context, path string) (*Memory, error) {
	ans, err := a.exchange(ctx, http.MethodGet, path, nil, a.sign)
	if err != nil {
		return nil, fmt.Errorf("client: GET %s: %w", path, err)
	}
	m := &Memory{Text: string(ans.body), ETag: ans.header.Get("ETag")}
	if at := ans.header.Get("Last-Modified"); at != "" {
		if m.UpdatedAt, err = http.ParseTime(at); err != nil {
			return nil, fmt.Errorf("client: GET %s: %w", path, err)
		}
	}
	return m, nil
}

// Remember replaces the agent's memory with a text of at most 256 KiB in UTF-8. If r does
// not allow the current version, the error's code is "changed": read the memory, merge
// the texts, and retry.
func (a *Agent) Remember(ctx context.Context, text string, r Replacing) (*Remembered, error) {
	const path = "/v1/me/memory"
	sign := func(req *http.Request, body []byte) {
		req.Header.Set("Content-Type", "text/markdown; charset=utf-8")
		if r.ETag != "" {
			req.Header.Set("If-Match", r.ETag)
		}
		if r.Nothing {
			req.Header.Set("If-None-Match", "*")
		}
		a.sign(req, body)
	}
	ans, err := a.exchange(ctx, http.MethodPut, path, []byte(text), sign)
	if err != nil {
		return nil, fmt.Errorf("client: PUT %s: %w", path, err)
	}
	out := &Remembered{ETag: ans.header.Get("ETag")}
	if err := json.Unmarshal(ans.body, out); err != nil {
		return nil, fmt.Errorf("client: PUT %s: unexpected answer: %w", path, err)
	}
	return out, nil
}
