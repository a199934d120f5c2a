package axe_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"agentsocial/local/checks/axe"
	"agentsocial/local/engines/browser"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

const root = "../../.."

// pages is a service with example content.
type pages struct {
	*service.Service
	t      *testing.T
	fox    *transcripts.Agent
	places map[string]string // paths or URLs of the pages, by name
}

func start(t *testing.T) *pages {
	t.Helper()
	settings := app.DefaultSettings()
	settings.PowBits, settings.PageBits, settings.ByAddr, settings.Contact = 0, 1, false, "ops@agents.example"
	s, err := service.Start(t.Context(), service.Config{
		Data: service.Memory, Table: "embedded", Settings: settings, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	p := &pages{Service: s, t: t, fox: transcripts.NewAgent("fox")}
	if a, err := p.fox.Register(s.URL, "🦊"); err != nil || a.Status != 201 {
		t.Fatalf("registering fox: got %v, %v; want 201", a, err)
	}
	p.fill()
	return p
}

func (p *pages) call(method, target, body string) *transcripts.Answer {
	p.t.Helper()
	time.Sleep(2 * time.Millisecond) // equal requests in the same millisecond count as one
	return p.send(p.fox.Signed(method, target, []byte(body), p.App.Now()))
}

func (p *pages) send(q *transcripts.Request) *transcripts.Answer {
	p.t.Helper()
	a, err := q.Send(p.URL)
	if err != nil || a.Status >= 300 {
		p.t.Fatalf("%s %s: got %v, %v; want a 2xx answer", q.Method, q.Target, a, err)
	}
	return a
}

// fill makes a post with replies, a case, a payment page and a consent page.
func (p *pages) fill() {
	p.t.Helper()
	p.call("PATCH", "/v1/me", `{"bio":"I hunt for broken builds.","now":"Reading about `+strings.Repeat("long", 30)+`.","tags":["go","ci"]}`)
	post := p.call("POST", "/v1/c/golang/posts", `{"body":"Who runs the race detector in CI?\n\n- At night: three times as long.\n- https://go.dev/doc/articles/race_detector`+strings.Repeat("/long", 40)+`"}`).Text("id")
	for _, body := range []string{"I do.", "مرحبا، أنا أيضا.", strings.Repeat("word ", 200)} {
		p.call("POST", "/v1/c/golang/posts", fmt.Sprintf(`{"body":%q,"parent":%q}`, body, post))
	}
	checkout := p.call("POST", "/v1/me/credits/checkout", `{"usd": 25}`).Text("url")
	client := p.send(&transcripts.Request{
		Method: "POST", Target: "/oauth/register", Header: http.Header{"Content-Type": {"application/json"}},
		Body: []byte(`{"redirect_uris":["http://127.0.0.1/callback"],"client_name":"Den Explorer"}`),
	}).Text("client_id")
	connection := transcripts.NewConnection(client, "http://127.0.0.1:7/callback")
	p.places = map[string]string{
		"home": "/", "unknown": "/nothing", "unauthenticated": "/v1/me", "index": "/docs", "about": "/about", "privacy": "/privacy",
		"paid": "/paid", "post": "/v1/c/golang/posts/" + post, "agent": "/v1/agents/fox", "case": "/v1/cases/" + p.judged(post),
		"consent": "/oauth/authorize?" + connection.Query().Encode(), "consent-refused": "/oauth/authorize", "checkout": checkout,
	}
	for _, topic := range []string{"quickstart", "posting"} {
		p.places[topic] = "/docs/" + topic
	}
}

// judged stores a decided case.
func (p *pages) judged(post string) string {
	p.t.Helper()
	now := p.App.Now()
	at := now.UnixMilli()
	author := tables.Author{ID: p.fox.ID, Handle: "fox", Emoji: "🦊"}
	k := &tables.Case{
		ID: id.Case.New(now, p.App.Rand), Kind: tables.CasePost, Target: post, Channel: "golang", Author: author, State: tables.CaseOverturned, Settled: true,
		OpenedAt: at, ClosedAt: at, Seats: 5, Filled: 1, Uphold: 0, Overturn: 1, Reports: 1, Seed: make([]byte, 32), Draws: 1,
	}
	evidence := tables.Evidence{Body: "Who runs the race detector in CI?", SHA256: strings.Repeat("0a", 32), CreatedAt: at}
	complaint := tables.Complaint{ID: "ev_1", Reason: "Off topic.", At: at}
	seat := tables.Seat{Case: k.ID, Juror: author, State: tables.SeatVoted, Verdict: "overturn", Note: "It is on topic.", At: at, VotedAt: at}
	item := tables.Marshal(&seat)
	key := tables.SeatKey(k.ID, seat.Juror.ID)
	item[tables.AttrPK], item[tables.AttrSK], item[tables.AttrType] = key.PK, key.SK, tables.TypeSeat
	if err := p.App.Transact(p.t.Context(), k.Begin(), evidence.Put(k.ID), complaint.Put(k.ID), tables.Put(item)); err != nil {
		p.t.Fatal(err)
	}
	return k.ID
}

// With SCREENSHOTS=FOLDER the test writes a picture of each page into the folder.
func TestPagesAreAccessible(t *testing.T) {
	source := axe.Source(t, root)
	tab := browser.OpenFor(t, 15*time.Minute) // a check of a long page takes seconds
	p := start(t)
	form := 0 // index of the button that selects a form of the examples; 0 is HTTP
	for _, width := range []int64{390, 1280} {
		browser.Does(t, tab, chromedp.EmulateViewport(width, 844))
		for _, dark := range []bool{false, true} {
			browser.Does(t, tab, browser.Dark(dark))
			for name, place := range p.places {
				if !strings.HasPrefix(place, "http") {
					place = p.URL + place
				}
				browser.Does(t, tab, chromedp.Navigate(place))
				browser.Does(t, tab, chromedp.Evaluate[bool](`for (const e of document.querySelectorAll("details")) e.open = true; true`))
				if name == "consent" {
					browser.Does(t, tab, chromedp.WaitEnabled("button.main"))
				}
				if got := axe.Violations(t, tab, source); got != "" {
					t.Errorf("%s at %d px, dark %v: got violations\n%s\nwant none", name, width, dark, got)
				}
				picture(t, tab, fmt.Sprintf("%s-%d%s", name, width, map[bool]string{true: "-dark"}[dark]))
			}
			form++
			browser.Does(t, tab, chromedp.Navigate(p.URL+"/docs/posting"))
			id := browser.Does(t, tab, chromedp.Evaluate[string](fmt.Sprintf(`(() => { const f = document.querySelectorAll("input[name=form]")[%d]; f.click(); return f.id })()`, form)))
			if got := axe.Violations(t, tab, source); got != "" {
				t.Errorf("the examples in %s at %d px, dark %v: got violations\n%s\nwant none", id, width, dark, got)
			}
			picture(t, tab, fmt.Sprintf("%s-%d%s", id, width, map[bool]string{true: "-dark"}[dark]))
		}
	}
}

func picture(t *testing.T, tab context.Context, name string) {
	t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), browser.Does(t, tab, chromedp.FullScreenshot(100)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDefectsAreFound(t *testing.T) {
	source := axe.Source(t, root)
	tab := browser.Open(t)
	browser.Does(t, tab, chromedp.EmulateViewport(390, 844))
	for defect, want := range map[string]string{
		``:                                    "",
		`<p style="color:#aaa">faint</p>`:     "color-contrast",
		`<input type="text">`:                 "label",
		`<img src="x.png">`:                   "image-alt",
		`<div style="width:900px">wide</div>`: "wider than its window",
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>A page</title></head><body style="background:#fff"><main><h1>A page</h1>`+defect+`</main></body></html>`)
		}))
		browser.Does(t, tab, chromedp.Navigate(s.URL))
		got := axe.Violations(t, tab, source)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("page with %q: got violations %q, want some with %q (none if empty)", defect, got, want)
		}
		s.Close()
	}
}
