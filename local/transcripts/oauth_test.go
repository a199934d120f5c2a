package transcripts

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

func (s *script) ask(args []string) error {
	s.connection = NewConnection("", "http://127.0.0.1:9999/callback")
	set := url.Values{}
	err := options(args, func(name, value string) error {
		set.Add(name, value)
		return nil
	})
	if err != nil {
		return err
	}
	q := s.connection.Query()
	for name, values := range set {
		if q[name] = values; values[0] == "none" {
			delete(q, name)
		}
	}
	s.connection.Client, s.connection.Redirect = q.Get("client_id"), q.Get("redirect_uri")
	s.ts.Setenv("VERIFIER", s.connection.Verifier)
	return s.send(&Request{Method: http.MethodGet, Target: "/oauth/authorize?" + q.Encode(), Header: http.Header{}})
}

func (s *script) answer(args []string) error {
	page, err := s.last.Consent()
	if err != nil {
		return err
	}
	form := page.Form(args[0], nil)
	err = options(args[1:], func(name, value string) error {
		switch {
		case value == "none":
			delete(form, name)
		case name == "scope":
			form[name] = strings.Split(value, ",")
		case name == "pow" && value == "wrong":
			form.Set(name, page.Pow(false))
		default:
			form.Set(name, value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.send(Submit(form))
}

func (s *script) ticks(args []string) error {
	s.held++
	page, err := s.last.Consent()
	if err != nil {
		return err
	}
	if got := strings.Join(page.Scopes, ","); got != args[0] {
		return fmt.Errorf("the ticked scopes are %s, not %s", got, args[0])
	}
	return nil
}

func (s *script) back(args []string) error {
	s.held++
	to, err := s.last.Back()
	if err != nil {
		return err
	}
	q := to.Query()
	got, found := q.Get(args[0]), q.Has(args[0])
	if args[0] == "to" {
		to.RawQuery = ""
		got, found = to.String(), true
	}
	if len(args) == 3 && args[1] == "as" {
		if !found {
			return fmt.Errorf("%s is missing in %s", args[0], to)
		}
		s.ts.Setenv(args[2], got)
		return nil
	}
	if err := compare(got, found, args[1:]); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}
