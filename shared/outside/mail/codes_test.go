package mail

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// mails returns every mail that names an agent.
func mails(t *testing.T, service, handle string) map[string]Message {
	t.Helper()
	to, err := ParseAddress("Reynard@FoxDen.example")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Message{
		"origin":    OriginCode(to, service, handle, "K7QM2XPD", 15*time.Minute),
		"recovery":  RecoveryCode(to, service, handle, "K7QM2XPD", 15*time.Minute),
		"reconnect": ReconnectCode(to, service, handle, "K7QM2XPD", 15*time.Minute),
	}
}

func TestMails_Content(t *testing.T) {
	says := map[string][]string{
		"origin":    {"origin", "the human who is responsible for it", "Nothing is linked", "keyed hash", "do nothing"},
		"recovery":  {"recover", "a new key", "revokes all its other keys, tokens and connections at once", "unless the person who uses the code chooses to keep them", "Nothing changes", "do nothing"},
		"reconnect": {"connect a program", "revokes nothing", "To remove somebody else's access", "/docs/auth on social.example:8443", "Nothing changes", "do nothing"},
	}
	for name, m := range mails(t, "https://social.example:8443", "fox.den-1_x") {
		if m.To.Reveal() != "reynard@foxden.example" {
			t.Errorf("%s: recipient = %q, want reynard@foxden.example", name, m.To.Reveal())
		}
		if !strings.Contains(m.Subject, "@fox.den-1_x") || strings.Contains(m.Subject, "K7QM") || len(m.Subject) > 78 {
			t.Errorf("%s: subject = %q, want the handle and no code, at most 78 bytes", name, m.Subject)
		}
		text, page := flat(m.Text), flat(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body(t, m.HTML), " ")))
		if text != page {
			t.Errorf("%s: text and HTML differ\n%s\n%s", name, text, page)
		}
		for _, want := range append(says[name], "@fox.den-1_x", "social.example:8443", "K7QM-2XPD", "15 minutes", "only the newest works") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the mail lacks %q:\n%s", name, want, m.Text)
			}
		}
		if name == "reconnect" && strings.Contains(text, "revoked") {
			t.Errorf("%s: the mail says that something is revoked, but connecting revokes nothing:\n%s", name, m.Text)
		}
		if strings.Contains(strings.ToLower(m.Subject+m.Text+m.HTML), "reynard") {
			t.Errorf("%s: the mail contains its recipient's address", name)
		}
	}
}

func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

func body(t *testing.T, page string) string {
	t.Helper()
	_, b, found := strings.Cut(page, "<body")
	_, b, opened := strings.Cut(b, ">")
	b, _, closed := strings.Cut(b, "</body>")
	if !found || !opened || !closed {
		t.Fatalf("no body in\n%s", page)
	}
	return b
}

func TestTextForm(t *testing.T) {
	code := regexp.MustCompile(`(?m)^    ([0-9A-Z]{4}-[0-9A-Z]{4})$`)
	for _, service := range []string{"https://s.io", "https://abcdefghij.execute-api.eu-central-1.amazonaws.com"} {
		for name, m := range mails(t, service, strings.Repeat("h", 32)) {
			for _, line := range strings.Split(m.Text, "\n") {
				if utf8.RuneCountInString(line) > 72 || strings.ContainsAny(line, "\t\r") || strings.HasSuffix(line, " ") {
					t.Errorf("%s: line %q, want at most 72 columns, no tabs, no space at the end", name, line)
				}
			}
			if got := code.FindAllStringSubmatch(m.Text, -1); len(got) != 1 || got[0][1] != "K7QM-2XPD" {
				t.Errorf("%s: codes = %v, want K7QM-2XPD once, in\n%s", name, got, m.Text)
			}
			if !strings.HasSuffix(m.Text, ".\n") || strings.Contains(m.Text, "\n\n\n") {
				t.Errorf("%s: want the text to end with a full stop and to have no empty paragraphs:\n%s", name, m.Text)
			}
		}
	}
}

func TestSubjectsHaveNoDomains(t *testing.T) {
	for handle, shown := range map[string]bool{
		"fox": true, "fox.den-1_x": true, "v1.2": true, "fox.": true, "paypal.com": false, "www.bank.co.uk": false, "x.y.io": false, "fox.den": false,
	} {
		for name, m := range mails(t, "https://social.example", handle) {
			if got := strings.Contains(m.Subject, handle); got != shown {
				t.Errorf("%s: does the subject %q contain the handle %s? got %v, want %v", name, m.Subject, handle, got, shown)
			}
			if !strings.Contains(m.Text, "@"+handle) || strings.HasSuffix(m.Subject, " ") {
				t.Errorf("%s: subject %q, text:\n%s\nwant @%s in the text, and no space at the subject's end", name, m.Subject, m.Text, handle)
			}
		}
	}
}

func TestHTMLLoadsNothing(t *testing.T) {
	for name, m := range mails(t, "https://social.example", "fox") {
		for _, want := range []string{`<html lang="en">`, "<title>" + m.Subject + "</title>", `charset="utf-8"`} {
			if !strings.Contains(m.HTML, want) {
				t.Errorf("%s: the HTML lacks %s", name, want)
			}
		}
		for _, bad := range []string{"<a", "<img", "<script", "<form", "<link", "http", "url(", "<style"} {
			if strings.Contains(strings.ToLower(m.HTML), bad) {
				t.Errorf("%s: the HTML contains %s", name, bad)
			}
		}
	}
}

func TestNothingIsInjected(t *testing.T) {
	const evil = "x\r\nBcc: a@b.de\x00<script>&\"'\u202e"
	to, err := ParseAddress("fox@example.com")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []Message{
		OriginCode(to, "https://"+evil, evil, evil, time.Minute),
		OriginCode(to, evil, evil, evil, time.Minute),
		RecoveryCode(to, "https://"+evil, evil, evil, time.Minute),
		ReconnectCode(to, "https://"+evil, evil, evil, time.Minute),
	} {
		if strings.ContainsAny(m.Subject, "\r\n\x00<>\"'\u202e") || strings.Contains(m.HTML, "<script") ||
			strings.ContainsAny(m.Text, "\r\x00<>\u202e") || strings.Contains(m.Text, "\nBcc") {
			t.Errorf("injected text in\n%q\n%q\n%q", m.Subject, m.Text, m.HTML)
		}
		if !strings.Contains(m.Text, "once, for a minute.") {
			t.Errorf("the mail lacks the lifetime: %s", m.Text)
		}
	}
	if page := (letter{subject: "<b>", before: []string{"<i>"}, code: "<u>", after: []string{"&"}}).html(); strings.Contains(page, "<b>") ||
		strings.Contains(page, "<i>") || strings.Contains(page, "<u>") || !strings.Contains(page, "&amp;") {
		t.Errorf("html does not escape: %s", page)
	}
}

func TestLifetimes(t *testing.T) {
	for lives, want := range map[time.Duration]string{
		time.Minute: "a minute", 15 * time.Minute: "15 minutes", 90 * time.Minute: "90 minutes", time.Hour: "an hour", 6 * time.Hour: "6 hours",
		24 * time.Hour: "a day", 72 * time.Hour: "3 days",
	} {
		if got := lifetime(lives); got != want {
			t.Errorf("lifetime(%v) = %q, want %q", lives, got, want)
		}
	}
}

func TestCodesAreGrouped(t *testing.T) {
	for code, want := range map[string]string{"K7QM2XPD": "K7QM-2XPD", "K7QM": "K7QM", "K7QM2": "K7QM-2", "": "", "K7QM2XPDAB": "K7QM-2XPD-AB"} {
		if got := grouped(code); got != want {
			t.Errorf("grouped(%q) = %q, want %q", code, got, want)
		}
	}
}

func TestNoneSendsNothing(t *testing.T) {
	if err := (None{}).Send(t.Context(), Message{}); err != ErrNone {
		t.Errorf("Send of None = %v, want ErrNone", err)
	}
}

func TestSharedCode(t *testing.T) {
	to, err := ParseAddress("Reynard@FoxDen.example")
	if err != nil {
		t.Fatal(err)
	}
	m := SharedCode(to, "https://social.example:8443", "K7QM2XPD", 24*time.Hour)
	text, page := flat(m.Text), flat(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body(t, m.HTML), " ")))
	if text != page {
		t.Errorf("text and HTML differ\n%s\n%s", text, page)
	}
	for _, want := range []string{"K7QM-2XPD", "social.example:8443", "to nobody else", "works once, for any agent", "for a day or longer", "Nothing is linked", "at most one such mail a day"} {
		if !strings.Contains(text, want) {
			t.Errorf("the mail lacks %q:\n%s", want, m.Text)
		}
	}
	if all := strings.ToLower(m.Subject + m.Text + m.HTML); strings.Contains(m.Subject, "K7QM") || strings.Contains(all, "reynard") || strings.Contains(m.Subject, "@") {
		t.Errorf("the subject has the code or an @, or the mail names its recipient: %s\n%s", m.Subject, m.Text)
	}
}
