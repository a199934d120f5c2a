package transcripts

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
)

// mailsTo returns the mails to an address, newest first, and their number.
func (s *script) mailsTo(address string) (*Answer, int, error) {
	a, err := (&Request{Method: http.MethodGet, Target: "/_local/mail?to=" + url.QueryEscape(address)}).Send(s.svc.URL)
	if err != nil {
		return nil, 0, err
	}
	n, err := strconv.Atoi(a.Text("len"))
	if err != nil || a.Status != http.StatusOK {
		return nil, 0, fmt.Errorf("the mailbox answers %d %s", a.Status, a.Body)
	}
	return a, n, nil
}

var codeLine = regexp.MustCompile(`(?m)^    ([0-9A-Z]{4}-[0-9A-Z]{4})$`)

func (s *script) code(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: code ADDRESS AS")
	}
	a, n, err := s.mailsTo(args[0])
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("no mail went to %s", args[0])
	}
	code := codeLine.FindStringSubmatch(a.Text("0.text"))
	if code == nil {
		return fmt.Errorf("the newest mail to %s has no code:\n%s", args[0], a.Text("0.text"))
	}
	s.ts.Setenv(args[1], code[1])
	return nil
}

func (s *script) mails(args []string) error {
	s.held++
	if len(args) != 2 {
		return fmt.Errorf("usage: mails ADDRESS N")
	}
	_, n, err := s.mailsTo(args[0])
	if err == nil && strconv.Itoa(n) != args[1] {
		err = fmt.Errorf("%d mails went to %s, not %s", n, args[0], args[1])
	}
	return err
}

func (s *script) mail(args []string) error {
	switch {
	case len(args) == 1 && (args[0] == "fail" || args[0] == "works"):
		return s.post("/_local/mail", fmt.Sprintf(`{"fail":%v}`, args[0] == "fail"))
	case len(args) == 2 && (args[0] == "bounce" || args[0] == "complain"):
		return s.post("/_local/mail", fmt.Sprintf(`{%q:%q}`, args[0], args[1]))
	}
	return fmt.Errorf("usage: mail fail|works, or mail bounce|complain ADDRESS")
}
