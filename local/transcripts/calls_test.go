package transcripts

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"agentsocial/local/checks/contract"
)

// send sends each request in a new millisecond, since ids of the same millisecond have no
// order.
func (s *script) send(r *Request) (err error) {
	for now := time.Now().UnixMilli(); time.Now().UnixMilli() == now; {
		time.Sleep(100 * time.Microsecond)
	}
	s.sent = r
	if s.last, err = s.persist(r); err != nil {
		return err
	}
	return s.keeps(r)
}

// keeps records the last answer, and checks it against the OpenAPI document.
func (s *script) keeps(r *Request) error {
	c, err := contract.Load()
	if err != nil {
		return err
	}
	if s.seen != nil {
		s.seen.answer(s.name(), c.Route(r.Method, r.Target), r, s.last)
	}
	return c.Check(r.Method, r.Target, s.last.Status, s.last.Header, s.last.Body)
}

// flags passes the arguments "-name value" to set, and returns the others.
func flags(args []string, set func(name, value string) error) (rest []string, err error) {
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i], "-") || args[i] == "-" {
			rest = append(rest, args[i])
			continue
		}
		if i++; i == len(args) {
			return nil, fmt.Errorf("%s needs a value", args[i-1])
		}
		if err := set(args[i-1], args[i]); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

func addHeader(h http.Header, line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return fmt.Errorf("%q is not a header", line)
	}
	h.Set(name, strings.TrimSpace(value))
	return nil
}

func (s *script) call(args []string) error {
	header := http.Header{}
	var beside time.Duration
	args, err := flags(args, func(name, value string) (err error) {
		switch name {
		case "-ts":
			beside, err = time.ParseDuration(value)
		case "-h":
			err = addHeader(header, value)
		default:
			err = fmt.Errorf("call has no flag %s", name)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(args) < 3 || len(args) > 4 {
		return fmt.Errorf("usage: call WHO METHOD PATH [BODY]")
	}
	var body []byte
	if len(args) == 4 {
		body = []byte(args[3])
		if n, err := strconv.Atoi(strings.TrimPrefix(args[3], "@")); err == nil && args[3][0] == '@' {
			body = bytes.Repeat([]byte("a"), n)
		}
	}
	if args[1] == http.MethodPost {
		time.Sleep(time.Millisecond) // posts of the same millisecond have no order
	}
	r := &Request{Method: args[1], Target: args[2], Body: body, Header: http.Header{}}
	token, bearer := strings.CutPrefix(args[0], "bearer:")
	switch {
	case bearer:
		r.Header.Set("Authorization", "Bearer "+token)
	case args[0] != "-":
		a, err := s.who(args[0])
		if err != nil {
			return err
		}
		r = a.Signed(args[1], args[2], body, s.svc.App.Now().Add(beside))
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if bearer {
		s.named(r)
	}
	return s.send(r)
}

func (s *script) resend(args []string) error {
	r := s.sent.Clone()
	rest, err := flags(args, func(name, value string) error {
		switch name {
		case "-method":
			r.Method = value
		case "-path":
			r.Target = value
		case "-body":
			r.Body = []byte(value)
		case "-drop":
			r.Header.Del(value)
		case "-h":
			return addHeader(r.Header, value)
		default:
			return fmt.Errorf("resend has no flag %s", name)
		}
		return nil
	})
	if err != nil || len(rest) > 0 {
		return fmt.Errorf("resend takes only flags: got arguments %q, error %v", rest, err)
	}
	sent := s.sent
	err = s.send(r)
	s.sent = sent // the next resend starts from the original request
	return err
}

func (s *script) repeat(args []string) error {
	every := ""
	args, err := flags(args, func(name, value string) error {
		if name != "-every" {
			return fmt.Errorf("repeat has no flag %s", name)
		}
		every = value
		return nil
	})
	if err != nil {
		return err
	}
	if len(args) != 6 {
		return fmt.Errorf("usage: repeat N STATUS WHO METHOD PATH BODY")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for i := range n {
		if every != "" {
			if err := s.advance([]string{every}); err != nil {
				return err
			}
		}
		call := []string{args[2], args[3], args[4], strings.ReplaceAll(args[5], "#I", strconv.Itoa(i+1))}
		if err := s.call(call); err != nil {
			return err
		}
		if err := s.status(args[1:2]); err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	return nil
}
