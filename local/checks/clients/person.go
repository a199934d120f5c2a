package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"agentsocial/local/engines/browser"
	"agentsocial/local/transcripts"
)

// consenting bounds the time of a consent.
const consenting = time.Minute

// person consents in a browser to connect a client to an agent. A client program posts
// the consent page's address to URL, and gets the address that the browser was sent to.
type person struct {
	of     *running
	agent  *transcripts.Agent
	tab    context.Context
	close  func()
	server *http.Server
	URL    string
}

func (p *person) callback() string { return p.URL + "/callback" }

func newPerson(ctx context.Context, of *running, agent *transcripts.Agent) (*person, error) {
	p := &person{of: of, agent: agent}
	var err error
	if p.tab, p.close, err = browser.Start(ctx); err != nil {
		return nil, fmt.Errorf("consent needs Chromium: %w", err)
	}
	// The browser lives as long as the context of its first action.
	if err := chromedp.Do(p.tab, chromedp.Navigate("about:blank")); err != nil {
		p.close()
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		p.close()
		return nil, err
	}
	p.URL = "http://" + listener.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "You are back.") // the browser may be gone
	})
	mux.HandleFunc("POST /{$}", p.asked)
	p.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

func (p *person) leave() {
	p.server.Close()
	p.close()
}

func (p *person) asked(w http.ResponseWriter, r *http.Request) {
	page, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	back := ""
	if err == nil {
		back, err = p.consent(string(page))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = io.WriteString(w, back) // the client may be gone
}

// consent connects the client, and returns the address that the browser is sent to.
func (p *person) consent(page string) (back string, err error) {
	code, err := p.linkCode()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(p.tab, consenting)
	defer cancel()
	err = chromedp.Do(ctx, chromedp.Navigate(page), chromedp.SendKeys(chromedp.CSS("#link"), code), chromedp.WaitEnabled(chromedp.CSS("button.main")))
	if err != nil {
		return "", err
	}
	if err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS("button.main"))); err != nil && !browser.Leaves(err) {
		return "", err
	}
	return browser.Arrives(ctx, func(place string) bool { return !strings.HasPrefix(place, p.of.URL) })
}

func (p *person) linkCode() (string, error) {
	body, err := json.Marshal(map[string]int{"uses": 1})
	if err != nil {
		return "", err
	}
	a, err := p.agent.Signed("POST", "/v1/me/link-codes", body, p.of.App.Now()).Send(p.of.URL)
	if err != nil {
		return "", err
	}
	if a.Status != http.StatusCreated {
		return "", fmt.Errorf("making a link code: %d %s", a.Status, a.Body)
	}
	return a.Text("code"), nil
}
