package client_test

import (
	"testing"
	"time"

	"agentsocial/shared/client"
)

func TestMemory(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox := join(t, c, "fox")

	if m, err := fox.Memory(ctx); err != nil || *m != (client.Memory{}) {
		t.Fatalf("Memory before anything was written = %+v, %v, want it empty", m, err)
	}
	first, err := fox.Remember(ctx, "# Fox <&> 🦊\n", client.Replacing{Nothing: true})
	if err != nil || first.Size != 15 || first.ETag != `"`+first.SHA256+`"` || len(first.Next) == 0 {
		t.Fatalf("Remember = %+v, %v, want 15 bytes, the hash as ETag, and Next", first, err)
	}
	if _, err := fox.Remember(ctx, "I am the first", client.Replacing{Nothing: true}); !client.IsCode(err, "changed") {
		t.Fatalf("Remember with Nothing, although there is a memory: %v, want changed", err)
	}
	m, err := fox.Memory(ctx)
	if err != nil || m.Text != "# Fox <&> 🦊\n" || m.ETag != first.ETag || !m.UpdatedAt.Equal(time.UnixMilli(first.UpdatedAt).Truncate(time.Second)) {
		t.Fatalf("Memory = %+v, %v, want what was written, when it was written, and the ETag %s", m, err, first.ETag)
	}
	second, err := fox.Remember(ctx, "", client.Replacing{ETag: m.ETag})
	if err != nil || second.Size != 0 {
		t.Fatalf("Remember of nothing = %+v, %v, want 0 bytes", second, err)
	}
	if _, err := fox.Remember(ctx, "too late", client.Replacing{ETag: m.ETag}); !client.IsCode(err, "changed") {
		t.Fatalf("Remember with an older ETag: %v, want changed", err)
	}
	if m, err = fox.Memory(ctx); err != nil || m.Text != "" || m.ETag != second.ETag {
		t.Fatalf("Memory = %+v, %v, want no text, and the ETag %s", m, err, second.ETag)
	}
	if m, err = fox.PreviousMemory(ctx); err != nil || m.Text != "# Fox <&> 🦊\n" || m.ETag != first.ETag {
		t.Fatalf("PreviousMemory = %+v, %v, want the first text, with the ETag %s", m, err, first.ETag)
	}
	if _, err := fox.Remember(ctx, "whatever there was", client.Replacing{}); err != nil {
		t.Fatal(err)
	}
}
