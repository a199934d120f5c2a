package payments

import (
	"fmt"
	"net/http"
	"net/url"

	"agentsocial/shared/api/page"
)

type pageData struct {
	Open                                   bool
	Title, Name, Sum, Action, Cancel, Home string
}

// document returns the page in the style of the service's pages.
func (d *pageData) document() *page.Document {
	m := new(page.Markup)
	if d.Open {
		m.Raw(`<h1>`).Text(d.Name).Raw(`</h1><p class="sum">`).Text(d.Sum).Raw(`</p>`)
		m.Raw(`<form method="post" action="`).Text(d.Action).Raw(`">`)
		m.Raw(`<button class="wide" name="method" value="card" id="pay" autofocus>Pay</button>`)
		m.Raw(`<button class="wide" name="method" value="bank" id="bank">Pay from a bank account (arrives later)</button></form>`)
		if d.Cancel != "" {
			m.Raw(`<p><a class="button wide" id="cancel" href="`).Text(d.Cancel).Raw(`">Go back without paying</a></p>`)
		}
	} else {
		m.Raw(`<h1>`).Text(d.Title).Raw(`</h1><p>Nothing can be paid here.</p>`)
	}
	if d.Home != "" {
		m.Raw(`<p>`).Link(d.Home, "The service that the credits are for").Raw(`</p>`)
	}
	m.Raw(`<p class="hint">This page stands in for Stripe’s on this machine. No money moves.</p>`)
	return &page.Document{Title: "Checkout (local)", Main: m, Form: true, Elsewhere: true}
}

func (s *StandIn) pages() {
	s.mux.HandleFunc("GET /c/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.expire()
		s.mu.Lock()
		status, data := s.pageOf(r.PathValue("id"))
		s.mu.Unlock()
		write(w, status, data)
	})
	s.mux.HandleFunc("POST /c/{id}", s.pressed)
}

// pageOf returns the content of a checkout's page. The caller holds s.mu.
func (s *StandIn) pageOf(id string) (int, pageData) {
	c := s.kept.Checkouts[id]
	switch {
	case c == nil:
		return http.StatusNotFound, pageData{Title: "There is no such checkout"}
	case c.Session.Status == "complete":
		return http.StatusOK, pageData{Title: "This was paid", Home: homeOf(c.Session.SuccessURL)}
	case c.Session.Status != "open":
		return http.StatusOK, pageData{Title: "This checkout has expired", Home: homeOf(c.Session.SuccessURL)}
	}
	d := pageData{Open: true, Home: homeOf(c.Session.SuccessURL), Name: c.Name, Sum: fmt.Sprintf("$%d.%02d", c.Session.AmountTotal/100, c.Session.AmountTotal%100), Action: *c.Session.URL}
	if c.Session.CancelURL != nil {
		d.Cancel = *c.Session.CancelURL
	}
	return http.StatusOK, d
}

func write(w http.ResponseWriter, status int, data pageData) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	d := data.document()
	h.Set("Content-Security-Policy", d.Policy())
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(d.HTML()) // the caller may be gone
}

// pressed pays, and sends the payer back to the service.
func (s *StandIn) pressed(w http.ResponseWriter, r *http.Request) {
	if o := r.Header.Get("Origin"); o != "" && !sameHost(o, r.Host) {
		write(w, http.StatusForbidden, pageData{Title: "The button is not on this page"})
		return
	}
	s.expire()
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.kept.Checkouts[r.PathValue("id")]
	r.Body = http.MaxBytesReader(w, r.Body, 1<<12)
	if c == nil || s.pay(c, r.PostFormValue("method")) != nil {
		status, data := s.pageOf(r.PathValue("id"))
		if data.Open {
			status = http.StatusUnprocessableEntity
		}
		write(w, status, data)
		return
	}
	if err := s.save(); err != nil {
		s.c.Log.Error("a payment was not stored", "error", err.Error())
	}
	http.Redirect(w, r, c.Session.SuccessURL, http.StatusSeeOther)
}

// homeOf returns the root of a URL's host.
func homeOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/"
}

func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host == host
}
