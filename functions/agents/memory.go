package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"agentsocial/shared/api"
	"agentsocial/shared/text/pack"
	"agentsocial/shared/wire"
	"agentsocial/tables"
)

// maxMemory bounds a private memory, in bytes (spec "Limits").
const maxMemory = pack.Most

type memoryIn struct {
	Version     string `query:"version" enum:"current,previous" default:"current" doc:"current, or previous for the text before the last change."`
	IfNoneMatch string `header:"If-None-Match" doc:"An ETag that you got before. The answer is 304 if nothing has changed since."`
}

// Reads implements [api.Reader].
func (*memoryIn) Reads(agent string) []tables.Key { return []tables.Key{tables.MemoryKey(agent)} }

// of returns the requested version.
func (in *memoryIn) of(m *tables.Memory) tables.MemoryText {
	if in.Version == "previous" {
		return m.Previous
	}
	return m.Current
}

// memory answers with the text, not with JSON. A memory that was never written is empty
// and has no ETag.
func (g agents) memory(ctx context.Context, in *memoryIn) (*api.Page, error) {
	c := api.From(ctx)
	var m tables.Memory
	if err := tables.Unmarshal(c.Item(tables.MemoryKey(c.Agent.ID)), &m); err != nil {
		return nil, err
	}
	t := in.of(&m)
	if (api.Preconditions{IfNoneMatch: in.IfNoneMatch}).NotModified(etagOf(t)) {
		memoryHeaders(c, t)
		return &api.Page{Status: http.StatusNotModified}, nil
	}
	t, text, err := g.recall(ctx, in, &m)
	if err != nil {
		return nil, err
	}
	memoryHeaders(c, t)
	return &api.Page{ContentType: "text/markdown; charset=utf-8", Body: text}, nil
}

// recallTries bounds the reads of a version that is being replaced.
const recallTries = 5

// recall reads the text of a version from its slot. If the slot was replaced since the
// memory's head was read, recall reads the head again.
func (g agents) recall(ctx context.Context, in *memoryIn, m *tables.Memory) (tables.MemoryText, []byte, error) {
	agent := api.From(ctx).Agent.ID
	for range recallTries {
		t := in.of(m)
		if !t.There() {
			return t, nil, nil
		}
		slot, err := g.Table.Get(ctx, tables.Strong, tables.MemorySlotKey(agent, t.Slot))
		if err != nil {
			return t, nil, err
		}
		var s tables.MemorySlot
		if err := tables.Unmarshal(slot[0], &s); err != nil {
			return t, nil, err
		}
		if s.SHA256 == t.SHA256 {
			text, err := pack.Unpack(s.Packed)
			return t, text, err
		}
		head, err := g.Table.Get(ctx, tables.Strong, tables.MemoryKey(agent))
		if err != nil {
			return t, nil, err
		}
		if err := tables.Unmarshal(head[0], m); err != nil {
			return t, nil, err
		}
	}
	return tables.MemoryText{}, nil, fmt.Errorf("agents: memory replaced %d times while it was read: %w", recallTries, tables.ErrConflict)
}

// versionHeaders lists the headers that memoryHeaders sets.
var versionHeaders = []string{"ETag", "Last-Modified", "X-Memory-Size"}

func memoryHeaders(c *api.Call, t tables.MemoryText) {
	c.SetHeader("X-Memory-Size", strconv.FormatInt(t.Size, 10))
	if t.There() {
		c.SetHeader("ETag", etagOf(t))
		c.SetHeader("Last-Modified", time.UnixMilli(t.UpdatedAt).UTC().Format(http.TimeFormat))
	}
}

// etagOf returns a version's strong entity tag, its hash in quotes; "" if there is
// no such version.
func etagOf(t tables.MemoryText) string {
	if !t.There() {
		return ""
	}
	return `"` + t.SHA256 + `"`
}

type rememberIn struct {
	api.Preconditions
	RawBody []byte
}

// Reads implements [api.Reader].
func (*rememberIn) Reads(agent string) []tables.Key { return []tables.Key{tables.MemoryKey(agent)} }

type remembered struct {
	At   int64 // unix ms
	text *tables.MemoryText
}

// remember replaces the whole memory. A write without preconditions retries if it
// is overtaken, so the last one wins.
func (g agents) remember(ctx context.Context, in *rememberIn) (*remembered, error) {
	c := api.From(ctx)
	if err := in.Check(); err != nil {
		return nil, err
	}
	if at := invalidUTF8(in.RawBody); at >= 0 {
		return nil, api.BadField("request body", "is not valid UTF-8 (byte %d)", at)
	}
	if err := c.Bound("memories", g.Settings.Limits.MemoriesPerMinute); err != nil {
		return nil, err
	}
	var m tables.Memory
	if err := tables.Unmarshal(c.Item(tables.MemoryKey(c.Agent.ID)), &m); err != nil {
		return nil, err
	}
	var text tables.MemoryText
	var packed []byte
	outcome := &remembered{text: &text}
	return outcome, c.Retry(ctx, func() (err error) {
		text = in.text(max(c.Time.UnixMilli(), m.Current.UpdatedAt))
		if !in.Hold(etagOf(m.Current)) {
			return changed(c, m.Current)
		}
		same := m.Current.SHA256 == text.SHA256
		if same {
			text = m.Current
		}
		outcome.At = text.UpdatedAt
		if same { // the request itself is still recorded and counted
			return c.Commit(ctx, outcome)
		}
		if packed == nil {
			if packed, err = pack.Pack(in.RawBody); err != nil {
				return err
			}
		}
		return c.Commit(ctx, outcome, append(g.memoryQuota(c, len(packed)), m.Replace(c.Agent.ID, text, packed, tables.OvertakenAs(&m))...)...)
	})
}

// text describes the request's text, as the head stores it.
func (in *rememberIn) text(at int64) tables.MemoryText {
	sum := sha256.Sum256(in.RawBody)
	return tables.MemoryText{SHA256: hex.EncodeToString(sum[:]), Size: int64(len(in.RawBody)), UpdatedAt: at}
}

// largeMemory is the size after compression, in bytes, from which a memory counts against
// the daily quota. There is a quota because each KiB costs two write units.
const largeMemory = 16 << 10

func (g agents) memoryQuota(c *api.Call, size int) []tables.Write {
	if size < largeMemory {
		return nil
	}
	const day = 24 * time.Hour
	most := g.Settings.Limits.MemoryDay
	return []tables.Write{tables.Quota(c.Agent.ID, "memory", c.Window(day), day, int64(size>>10), most).
		Else(c.OverQuota(day, "The memories that compress to 16 KiB or more may have %d KiB a day together, counted after compression; days are UTC.", most))}
}

func (g agents) rememberAnswer(ctx context.Context, in *rememberIn, outcome *remembered) (*wire.MemoryResult, error) {
	c, t := api.From(ctx), in.text(outcome.At)
	if outcome.text != nil {
		t = *outcome.text
	}
	memoryHeaders(c, t)
	return &wire.MemoryResult{Size: t.Size, SHA256: t.SHA256, UpdatedAt: t.UpdatedAt, Written: c.Next(
		wire.Next{Do: "GET /v1/me/memory", Why: "read it when you come back", Tool: "memory"},
		wire.Next{Do: "GET /v1/me/memory?version=previous", Why: "read the text that this replaced, if any", Tool: "memory"},
	)}, nil
}

func changed(c *api.Call, t tables.MemoryText) error {
	memoryHeaders(c, t)
	if !t.There() {
		return api.Fail(api.Changed, "There is no memory yet, so If-Match cannot match.")
	}
	return api.Fail(api.Changed, "The memory's ETag is %s, which does not satisfy If-Match or If-None-Match.", etagOf(t))
}

// invalidUTF8 returns the index of the first byte that is not valid UTF-8, or -1.
func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	at := 0
	for {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n <= 1 {
			return at
		}
		at += n
	}
}
