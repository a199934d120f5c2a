package service_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentsocial/local/engines/logs"
	"agentsocial/local/service"
	"agentsocial/shared/outside/mail"
)

func address(t testing.TB, s string) mail.Address {
	t.Helper()
	a, err := mail.ParseAddress(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The mailbox prints each mail, but logs none.
func TestMailbox(t *testing.T) {
	t.Parallel()
	var printed, logged logs.Buffer
	r := run(t, service.Config{Settings: generous(), Mailed: &printed, Log: slog.New(slog.NewJSONHandler(&logged, nil))})
	fox, dog := address(t, "fox@den.example"), address(t, "dog+a@den.example")
	before := r.App.Now().UnixMilli()
	for i := range 205 {
		to := fox
		if i%5 == 4 {
			to = dog
		}
		m := mail.OriginCode(to, "https://social.example", "a"+strconv.Itoa(i), fmt.Sprintf("K7QM%04d", i), 15*time.Minute)
		if err := r.App.Mail.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	all := r.call(nil, "GET", "/_local/mail", "")
	if n := all.Text("len"); all.Status != 200 || n != "200" {
		t.Fatalf("got status %d and %s mails, want 200 and 200", all.Status, n)
	}
	at, err := strconv.ParseInt(all.Text("0.at"), 10, 64)
	if err != nil || at < before || at > r.App.Now().UnixMilli() {
		t.Errorf("time of the newest mail: got %d, %v; want a time during the test", at, err)
	}
	if all.Text("0.to") != "dog+a@den.example" || !strings.Contains(all.Text("0.subject"), "@a204") ||
		!strings.Contains(all.Text("0.text"), "K7QM-0204") || !strings.Contains(all.Text("0.html"), "K7QM-0204") || !strings.Contains(all.Text("199.subject"), "@a5") {
		t.Errorf("newest and oldest mail: got %s and %s, want mail 204, to dog+a, and mail 5", all.Text("0"), all.Text("199"))
	}
	for to, want := range map[string]string{"fox%40den.example": "160", "dog%2ba@DEN.example": "40", "dog@den.example": "0"} {
		if a := r.call(nil, "GET", "/_local/mail?to="+to, ""); a.Text("len") != want {
			t.Errorf("mails to %s: got %s, want %s", to, a.Text("len"), want)
		}
	}
	if a := r.call(nil, "GET", "/_local/mail?to=dog", ""); a.Status != 422 || a.Text("problem") != `"to" has no @` {
		t.Errorf("mails to dog: got %d %s, want 422 and that \"to\" has no @", a.Status, a.Body)
	}
	out := printed.String()
	if strings.Count(out, "| to      fox@den.example\n") != 164 || !strings.Contains(out, "K7QM-0000") || !strings.Contains(out, "K7QM-0204") {
		t.Errorf("printed\n%.2000s\nwant all 205 mails, 164 of them to fox", out)
	}
	if s := logged.String(); strings.Contains(s, "den.example") || strings.Contains(s, "K7QM") {
		t.Errorf("the log has an address or a code:\n%s", s)
	}
}

func TestMailboxFails(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	m := mail.RecoveryCode(address(t, "fox@den.example"), "https://social.example", "fox", "K7QM2XPD", time.Minute)
	sent := func() string { return r.call(nil, "GET", "/_local/mail", "").Text("len") }
	tell := func(body string, status int) {
		t.Helper()
		if a := r.call(nil, "POST", "/_local/mail", body); a.Status != status {
			t.Errorf("%s: got %d %s, want %d", body, a.Status, a.Body, status)
		}
	}
	tell(`{"fail":true}`, 200)
	if err := r.App.Mail.Send(t.Context(), m); err == nil || strings.Contains(err.Error(), "den") || sent() != "0" {
		t.Errorf("Send to a failing mailbox: got %v and %s mails, want an error without the address and 0", err, sent())
	}
	for _, bad := range []string{"", "{}", `{"fail":1}`, `{"fail":null}`} {
		tell(bad, 422)
	}
	tell(`{"fail":false}`, 200)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.App.Mail.Send(gone, m); err == nil || sent() != "0" {
		t.Errorf("Send with an ended context: got %v and %s mails, want an error and 0", err, sent())
	}
	if err := r.App.Mail.Send(t.Context(), m); err != nil || sent() != "1" {
		t.Errorf("Send to a mailbox that works again: got %v and %s mails, want no error and 1", err, sent())
	}
}

// This test needs the race detector.
func TestMailboxIsConcurrent(t *testing.T) {
	t.Parallel()
	r := run(t, service.Config{Settings: generous(), Mailed: io.Discard})
	m := mail.OriginCode(address(t, "fox@den.example"), r.URL, "fox", "K7QM2XPD", time.Minute)
	atOnce(8, func(i int) {
		for range 20 {
			if err := r.App.Mail.Send(t.Context(), m); err != nil {
				t.Error(err)
			}
			if i == 0 {
				r.call(nil, "GET", "/_local/mail", "")
			}
		}
	})
	r.has(r.call(nil, "GET", "/_local/mail?to=fox@den.example", ""), "len", "160")
}

func TestPepperIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start := func(data string) (*service.Service, error) {
		return service.Start(t.Context(), service.Config{Data: data, Table: "embedded", Settings: generous(), Log: slog.New(slog.DiscardHandler)})
	}
	pepper := func(data string) string {
		t.Helper()
		s, err := start(data)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		}()
		p, err := s.App.Pepper(t.Context())
		if err != nil || len(p) < 32 {
			t.Fatalf("pepper: got %q %v, want at least 32 bytes", p, err)
		}
		return string(p)
	}
	first := pepper(dir)
	if again := pepper(dir); again != first {
		t.Errorf("pepper after a restart: got %q, want %q", again, first)
	}
	if other := pepper(service.Memory); other == first {
		t.Error("two services have the same pepper")
	}
	file := filepath.Join(dir, "pepper")
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file of the pepper: got %v %v, want mode 600", info, err)
	}
	secret, err := os.ReadFile(filepath.Join(dir, "secret"))
	if err != nil || strings.TrimSpace(string(secret)) == first {
		t.Errorf("the secret: got the pepper, or the error %v; want another value", err)
	}
	if err := os.WriteFile(file, []byte(first[:20]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := start(dir); err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), first[:20]) {
		t.Errorf("start with a truncated pepper: got %v, want an error that names the file, but not the pepper", err)
	}
}
