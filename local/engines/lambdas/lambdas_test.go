package lambdas

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"agentsocial/functions"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
	hostmail "agentsocial/shared/lambda/host/mail"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/outside/mail"
)

// outbox is a sender. It refuses mail if err is set.
type outbox struct {
	sent []mail.Message
	err  error
}

func (o *outbox) Send(_ context.Context, m mail.Message) error {
	if o.err == nil {
		o.sent = append(o.sent, m)
	}
	return o.err
}

// cloud serves c, and returns the environment of functions that use it.
func cloud(t *testing.T, c Cloud) host.Env {
	c.Stripe = http.NotFoundHandler()
	s := httptest.NewServer(c.Handler())
	t.Cleanup(s.Close)
	return host.Env{
		SecretsManagerURL: s.URL, SESURL: s.URL, Region: "local", AccessKey: "a", SecretKey: "b",
		MailFrom: "no-reply@social.example", MailSet: "set",
	}
}

func TestSecrets(t *testing.T) {
	e := cloud(t, Cloud{Secrets: map[string]string{"arn:seal": "first\nsecond"}})
	if text, err := secret.Read(e, "arn:seal")(t.Context()); err != nil || text != "first\nsecond" {
		t.Errorf("an existing secret: got %q, %v; want its text", text, err)
	}
	if text, err := secret.Read(e, "arn:other")(t.Context()); err == nil || !strings.Contains(err.Error(), "ResourceNotFoundException") {
		t.Errorf("a missing secret: got %q, %v, want ResourceNotFoundException", text, err)
	}
}

func TestMail(t *testing.T) {
	to, err := mail.ParseAddress("someone@example.com")
	if err != nil {
		t.Fatal(err)
	}
	box := &outbox{}
	a := &app.App{}
	hostmail.SES.Add(cloud(t, Cloud{Mail: box}), a)
	m := mail.Message{To: to, Subject: "a code é", Text: "text", HTML: "<p>html"}
	if err := a.Mail.Send(t.Context(), m); err != nil || len(box.sent) != 1 || box.sent[0] != m {
		t.Errorf("outbox: got %d mails, error %v; want the one that was sent", len(box.sent), err)
	}
	box.err = mail.ErrRefused
	if err := a.Mail.Send(t.Context(), m); !errors.Is(err, mail.ErrRefused) {
		t.Errorf("a refused mail: got %v, want mail.ErrRefused", err)
	}
}

func TestNotBuilt(t *testing.T) {
	l := Open(Config{Folder: t.TempDir()})
	if _, err := l.Group(functions.All()[0]); err == nil || !strings.Contains(err.Error(), "make lambdas") {
		t.Errorf("missing binary: got error %v, want one that names make lambdas", err)
	}
}
