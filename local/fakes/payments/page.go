package payments

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
)

const style = `:root{color-scheme:light dark}body{font:1rem/1.6 system-ui,sans-serif;margin:0}main{max-width:26rem;margin:0 auto;padding:3rem 1rem}.sum{font-size:2.2rem;margin:.2rem 0}button,.back{font:inherit;display:block;box-sizing:border-box;width:100%;margin:.7rem 0;padding:.7rem;text-align:center}small{opacity:.75}`

var policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
}()

var page = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Checkout (local)</title><style>` + style + `</style></head><body><main>
{{- if .Open}}
<p>{{.Name}}</p>
<p class="sum">{{.Sum}}</p>
<form method="post" action="{{.Action}}">
<button name="method" value="card" id="pay" autofocus>Pay</button>
<button name="method" value="bank" id="bank">Pay from a bank account (arrives later)</button>
</form>
{{- if .Cancel}}
<a class="back" id="cancel" href="{{.Cancel}}">Go back without paying</a>
{{- end}}
{{- else}}
<h1>{{.Title}}</h1>
<p>Nothing can be paid here.</p>
{{- end}}
<p><small>This page stands in for Stripe's on this machine. No money moves.</small></p>
</main></body></html>
`))

type pageData struct {
	Open                             bool
	Title, Name, Sum, Action, Cancel string
}

// pages declares the pages for people.
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
		return http.StatusOK, pageData{Title: "This was paid"}
	case c.Session.Status != "open":
		return http.StatusOK, pageData{Title: "This checkout has expired"}
	}
	d := pageData{Open: true, Name: c.Name, Sum: fmt.Sprintf("$%d.%02d", c.Session.AmountTotal/100, c.Session.AmountTotal%100), Action: *c.Session.URL}
	if c.Session.CancelURL != nil {
		d.Cancel = *c.Session.CancelURL
	}
	return http.StatusOK, d
}

func write(w http.ResponseWriter, status int, data pageData) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	w.WriteHeader(status)
	_ = page.Execute(w, data) // the caller may be gone
}

// pressed handles a button, and sends the payer back to the service.
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

func sameHost(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host == host
}
