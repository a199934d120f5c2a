package moderate

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/tables"
)

// overtaker runs a function once, right before a commit that takes down evidence or a
// post.
type overtaker struct {
	tables.Backend
	do func()
}

func (o *overtaker) Commit(ctx context.Context, tx tables.Tx) error {
	if do := o.do; do != nil && slices.ContainsFunc(tx.Writes, func(w tables.Write) bool { return w.Key.SK == tables.EvidenceKey("").SK || w.Key == postKey }) {
		o.do = nil
		do()
	}
	return o.Backend.Commit(ctx, tx)
}

const (
	firstCase  = "ca_01j9z3k4m5n6p7q8r9s0t1v2w1"
	secondCase = "ca_01j9z3k4m5n6p7q8r9s0t1v2w2"
)

var postKey = tables.PostKey("den", postID)

func TestTakedown_RacesWithNewCase(t *testing.T) {
	now := time.Now()
	evidence := &tables.Evidence{Body: "secret", SHA256: "x"}
	begun := func(id, appeals string) *tables.Case {
		return &tables.Case{ID: id, Appeals: appeals, Kind: tables.CasePost, Target: postID, Channel: "den", Author: owl, State: tables.CaseSeating,
			Open: true, OpenedAt: now.UnixMilli(), Due: now.UnixMilli(), Deadline: now.Add(time.Hour).UnixMilli()}
	}
	for name, test := range map[string]struct {
		what    string
		removed bool // by a jury, in the first case
	}{
		"an appeal, the post":  {"c/den/posts/" + postID, true},
		"an appeal, the case":  {"cases/" + firstCase, true},
		"a report of the post": {"c/den/posts/" + postID, false},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, table tables.Backend) {
				p := &tables.Post{ID: postID, Channel: "den", Author: owl, Body: "secret", CreatedAt: 1}
				first := begun(firstCase, "")
				begin := []tables.Write{first.Begin(), evidence.Put(firstCase)}
				record := &tables.Reported{Target: postID, Case: firstCase, State: tables.CaseSeating}
				o := &overtaker{Backend: table}
				if test.removed {
					p.Body, p.Deleted, p.Case, p.DeletedAt = "", true, firstCase, now.UnixMilli()
					first.State, first.Open, first.Settled, first.ClosedAt, first.Due = tables.CaseUpheld, false, true, now.UnixMilli(), 0
					record.State = tables.CaseUpheld
					commit(t, table, first.Begin(), evidence.Put(firstCase), record.Keep())
					second := begun(secondCase, firstCase)
					begin = []tables.Write{first.BeAppealed(secondCase), second.Begin(), evidence.Put(secondCase)}
				} else {
					begin = append(begin, record.Keep())
				}
				commit(t, table, tables.Put(p.Item()), tables.Put(p.CountersItem()))
				o.do = func() { commit(t, table, begin...) }
				out, err := do(t, o, "takedown", map[string]string{"WHAT": test.what, "REASON": "illegal", "OPERATOR": "ann"})
				if err != nil || !strings.Contains(out, "is taken down") || o.do != nil {
					t.Fatalf("takedown: got output %q, error %v, overtaken %t; want the post or case taken down, overtaken", out, err, o.do == nil)
				}
				items, err := table.Get(t.Context(), tables.Strong, tables.CaseKey(firstCase), tables.CaseKey(secondCase), tables.EvidenceKey(firstCase), tables.EvidenceKey(secondCase))
				if err != nil {
					t.Fatal(err)
				}
				for i, item := range items {
					if item.Bool("open") || item.Str("body") != "" {
						t.Errorf("item %d: got %v, want no open case and no text", i, item)
					}
				}
			})
		})
	}
}

func TestTakedown_OfErasedAuthor(t *testing.T) {
	for state, named := range map[string]bool{tables.StateActive: true, tables.StateErased: false} {
		t.Run(state, func(t *testing.T) {
			onBoth(t, func(t *testing.T, table tables.Backend) {
				c := &tables.Case{ID: firstCase, Kind: tables.CasePost, Target: postID, Channel: "den", Author: owl, State: tables.CaseOverturned, Settled: true, OpenedAt: 1}
				author := &tables.Profile{ID: owl.ID, State: state}
				commit(t, table, c.Begin(), (&tables.Evidence{Body: "secret"}).Put(firstCase), tables.Put(author.Item()))
				if _, err := do(t, table, "takedown", map[string]string{"WHAT": "cases/" + firstCase, "REASON": "illegal", "OPERATOR": "ann"}); err != nil {
					t.Fatal(err)
				}
				page, err := table.Query(t.Context(), tables.Acts(9))
				if err != nil || len(page.Items) != 1 {
					t.Fatalf("the log: got %d acts, error %v; want 1", len(page.Items), err)
				}
				if got := page.Items[0].Str("agent") == owl.ID; got != named {
					t.Errorf("the act names the author: got %t, want %t: %v", got, named, page.Items[0])
				}
			})
		})
	}
}
