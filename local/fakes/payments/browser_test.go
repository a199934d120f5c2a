package payments_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"agentsocial/local/engines/browser"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/app"
)

func TestAPersonBuysCredits(t *testing.T) {
	tab := browser.Open(t)
	settings := app.DefaultSettings()
	settings.PowBits, settings.ByAddr = 0, false
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
	fox := transcripts.NewAgent("fox")
	if a, err := fox.Register(s.URL, "🦊"); err != nil || a.Status != 201 {
		t.Fatalf("registering fox: got %v, %v; want 201", a, err)
	}
	call := func(method, target, body string) *transcripts.Answer {
		t.Helper()
		time.Sleep(2 * time.Millisecond) // equal requests in one millisecond count as one
		a, err := fox.Signed(method, target, []byte(body), s.App.Now()).Send(s.URL)
		if err != nil || a.Status >= 300 {
			t.Fatalf("%s %s: got %v, %v; want a 2xx answer", method, target, a, err)
		}
		return a
	}
	balance := func(want string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Drain(ctx); err != nil {
			t.Fatal(err)
		}
		if got := call("GET", "/v1/me/credits", "").Text("balance"); got != want {
			t.Errorf("balance: got %s, want %s", got, want)
		}
	}
	text := chromedp.Evaluate[string]("document.body.innerText")
	styled := chromedp.Evaluate[bool](`getComputedStyle(document.querySelector("main")).maxWidth != "none"`)
	arrive := func() {
		t.Helper()
		if at, err := browser.Arrives(tab, func(place string) bool { return place == s.URL+"/paid" }); err != nil {
			t.Fatalf("after the button: got the address %q, %v; want the page /paid", at, err)
		}
		browser.Does(t, tab, chromedp.WaitVisible(chromedp.CSS("h1")))
		if words := browser.Does(t, tab, text); !strings.Contains(words, "If you paid, the credits arrive") || !browser.Does(t, tab, styled) {
			t.Errorf("page after the checkout: got\n%s\nwant the styled page /paid", words)
		}
	}

	link := call("POST", "/v1/me/credits/checkout", `{"usd": 25}`).Text("url")
	browser.Does(t, tab, chromedp.Navigate(link))
	if words := browser.Does(t, tab, text); !strings.Contains(words, "25 USD of credits for @fox") || !strings.Contains(words, "$25.00") || !browser.Does(t, tab, styled) {
		t.Errorf("checkout: got the page\n%s\nwant the styled page, with 25 USD of credits for @fox and $25.00", words)
	}
	browser.Does(t, tab, chromedp.Click(chromedp.CSS("#cancel")))
	arrive()
	balance("0")

	browser.Does(t, tab, chromedp.Navigate(link))
	browser.Does(t, tab, chromedp.Click(chromedp.CSS("#pay")))
	arrive()
	balance("25000000")
	if a := call("GET", "/v1/me/inbox", ""); a.Text("items.-1.kind") != "credits" || a.Text("items.-1.subject.change") != "bought" {
		t.Errorf("inbox: got %s, want its last event to be bought credits", a.Body)
	}

	browser.Does(t, tab, chromedp.Navigate(link))
	if words := browser.Does(t, tab, text); !strings.Contains(words, "This was paid") {
		t.Errorf("paid checkout: got the page\n%s\nwant \"This was paid\"", words)
	}
	if !browser.Does(t, tab, chromedp.Evaluate[bool](`document.querySelector("button") == null`)) {
		t.Error("the paid page: got a button, want none")
	}
	balance("25000000")
}
