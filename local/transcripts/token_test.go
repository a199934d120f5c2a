package transcripts

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
)

func (s *script) form(args []string) error {
	members := url.Values{}
	err := options(args[1:], func(name, value string) error {
		members.Add(name, value)
		return nil
	})
	if err != nil {
		return err
	}
	return s.send(&Request{Method: http.MethodPost, Target: args[0], Body: []byte(members.Encode()), Header: http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"},
	}})
}

func (s *script) assertion(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	now := s.svc.App.Now().Unix()
	claims := map[string]any{"iss": a.ID, "sub": a.ID, "aud": s.svc.URL, "iat": now, "exp": now + 120, "jti": rand.Text()}
	err = options(args[2:], func(name, value string) error {
		var v any
		if json.Unmarshal([]byte(value), &v) != nil {
			v = value
		}
		if claims[name] = v; value == "none" {
			delete(claims, name)
		}
		return nil
	})
	s.ts.Setenv(args[1], a.JWT(claims))
	return err
}
