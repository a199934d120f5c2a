package transcripts

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	"agentsocial/tables/id"
)

// value returns the value of $NAME, or N letters for ${N}.
func (s *script) value(name string) string {
	if n, err := strconv.Atoi(name); err == nil {
		return strings.Repeat("a", n)
	}
	return s.ts.Getenv(name)
}

func (s *script) status(args []string) error {
	s.held++
	if got := strconv.Itoa(s.last.Status); !slices.Contains(strings.Split(args[0], "|"), got) {
		return fmt.Errorf("the status is %s, not %s", got, args[0])
	}
	if s.last.Status >= 400 && s.sent != nil && s.sent.Method != http.MethodHead {
		if wrong := s.last.Envelope(s.svc.URL); wrong != "" {
			return fmt.Errorf("the envelope is broken: %s", wrong)
		}
	}
	if len(args) > 1 && s.last.Code() != args[1] {
		return fmt.Errorf("the code is %s, not %s", s.last.Code(), args[1])
	}
	return nil
}

func compare(got string, found bool, args []string) error {
	if len(args) == 1 {
		switch {
		case args[0] == "exists" && !found:
			return fmt.Errorf("it is absent")
		case args[0] == "absent" && found:
			return fmt.Errorf("it is there: %s", got)
		case args[0] != "exists" && args[0] != "absent":
			return fmt.Errorf("%q must be exists or absent", args[0])
		}
		return nil
	}
	if !found {
		return fmt.Errorf("it is absent")
	}
	op, not := strings.CutPrefix(args[0], "!")
	want := strings.Join(args[1:], " ")
	var holds bool
	switch op {
	case "==", "=":
		holds = got == want
	case "has":
		holds = strings.Contains(got, want)
	case "~":
		re, err := regexp.Compile(want)
		if err != nil {
			return err
		}
		holds = re.MatchString(got)
	case "<", ">":
		g, err1 := strconv.ParseFloat(got, 64)
		w, err2 := strconv.ParseFloat(want, 64)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%q or %q is not a number", got, want)
		}
		holds = op == "<" && g < w || op == ">" && g > w
	default:
		return fmt.Errorf("there is no operator %q", args[0])
	}
	if holds == not {
		return fmt.Errorf("%q %s %q does not hold", got, args[0], want)
	}
	return nil
}

func (s *script) json(args []string) error {
	s.held++
	v, found := s.last.At(args[0])
	got := ""
	if found {
		got = text(v)
	}
	if err := compare(got, found, args[1:]); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

func (s *script) body(args []string) error {
	s.held++
	return compare(string(s.last.Body), true, args)
}

func (s *script) header(args []string) error {
	s.held++
	if err := compare(s.last.Header.Get(args[0]), s.last.Header.Values(args[0]) != nil, args[1:]); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

func (s *script) save(args []string) error {
	if name, ok := strings.CutPrefix(args[0], "header:"); ok {
		s.ts.Setenv(args[1], s.last.Header.Get(name))
		return nil
	}
	v, found := s.last.At(args[0])
	if !found {
		return fmt.Errorf("there is no %s", args[0])
	}
	s.ts.Setenv(args[1], text(v))
	return nil
}

func (s *script) damaged(args []string) error {
	for i := 0; i < len(args[0]); i += 5 {
		b := []byte(args[0])
		if b[i]++; b[i] == 'z'+1 || b[i] == 'Z'+1 || b[i] == '9'+1 {
			b[i] = 'a'
		}
		if err := s.call([]string{"bearer:" + string(b), "GET", "/v1/me"}); err != nil {
			return err
		}
		if err := s.status([]string{"401", "bad_token"}); err != nil {
			return fmt.Errorf("character %d: %w", i, err)
		}
	}
	return nil
}

func (s *script) forged(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	value, _, err := auth.MintToken(a.ID, id.Token.New(s.svc.App.Now(), rand.Reader), rand.Reader)
	s.ts.Setenv(args[1], value)
	return err
}

func (s *script) documented([]string) error {
	for _, c := range api.Codes {
		if !bytes.Contains(s.last.Body, []byte(`id="`+string(c.Code)+`"`)) {
			return fmt.Errorf("the page has no anchor for the error code %s", c.Code)
		}
	}
	return nil
}

func (s *script) styled([]string) error {
	_, style, _ := strings.Cut(string(s.last.Body), "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(s.last.Header.Get("Content-Security-Policy"), want) {
		return fmt.Errorf("the Content-Security-Policy lacks %s", want)
	}
	return nil
}
