package mail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
	mails "agentsocial/shared/outside/mail"
)

const recipient = "reynard+jury@foxden.example"

func message(t *testing.T) mails.Message {
	t.Helper()
	to, err := mails.ParseAddress(recipient)
	if err != nil {
		t.Fatal(err)
	}
	return mails.OriginCode(to, "https://social.example", "fox", "K7QM2XPD", 15*time.Minute)
}

// ses stands in for SES, without a network, so that synctest can control the time.
type ses struct {
	t       *testing.T
	mu      sync.Mutex
	answers []http.HandlerFunc // the last one repeats
	got     []request
}

type request struct {
	line, authorization, session string
	body                         map[string]any
}

func serve(t *testing.T, answers ...http.HandlerFunc) *ses {
	return &ses{t: t, answers: answers}
}

// Do implements [aws.HTTPClient].
func (s *ses) Do(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	var body map[string]any
	if err != nil || json.Unmarshal(b, &body) != nil {
		s.t.Errorf("the request body is not JSON: %s %v", b, err)
	}
	s.mu.Lock()
	s.got = append(s.got, request{r.Method + " " + r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("X-Amz-Security-Token"), body})
	answer := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	s.mu.Unlock()
	w := httptest.NewRecorder()
	answer(w, r)
	switch {
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	case w.Code == broken:
		return nil, io.ErrUnexpectedEOF
	}
	return w.Result(), nil
}

func (s *ses) requests() []request { s.mu.Lock(); defer s.mu.Unlock(); return slices.Clone(s.got) }

func (s *ses) sender() *sender { return senderTo("https://ses.example", s) }

func senderTo(url string, way sesv2.HTTPClient) *sender {
	return newSender(sesv2.Options{
		Region: "eu-central-1", BaseEndpoint: aws.String(url), HTTPClient: way,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKID", SecretAccessKey: "secret", SessionToken: "session"}, nil
		}),
	}, "no-reply@social.example", "codes")
}

func accepts(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"MessageId":"0107"}`)
}

// refuses answers like SES, with a message that names addresses.
func refuses(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Amzn-ErrorType", code)
		w.Header().Set("X-Amzn-RequestId", "req-1")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"message":"Email address is not verified. The following identities failed the check: %s, Fox <%[1]s>"}`, recipient)
	}
}

func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// broken is a status that stands for a broken connection.
const broken = 999

func breaks(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(broken) }

func TestSend_Request(t *testing.T) {
	s, m := serve(t, accepts), message(t)
	if err := s.sender().Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	got := s.requests()
	if len(got) != 1 || got[0].line != "POST /v2/email/outbound-emails" || got[0].session != "session" ||
		!strings.Contains(got[0].authorization, "Credential=AKID/") || !strings.Contains(got[0].authorization, "/eu-central-1/ses/aws4_request") {
		t.Fatalf("requests = %+v, want one signed request to SES", got)
	}
	content := func(s string) map[string]any { return map[string]any{"Charset": "UTF-8", "Data": s} }
	want := map[string]any{
		"FromEmailAddress":     "no-reply@social.example",
		"ConfigurationSetName": "codes",
		"Destination":          map[string]any{"ToAddresses": []any{recipient}},
		"Content": map[string]any{"Simple": map[string]any{
			"Subject": content(m.Subject),
			"Body":    map[string]any{"Text": content(m.Text), "Html": content(m.HTML)},
			"Headers": []any{map[string]any{"Name": "Auto-Submitted", "Value": "auto-generated"}},
		}},
	}
	if g, w := encode(t, got[0].body), encode(t, want); g != w {
		t.Errorf("request body: got\n%s, want\n%s", g, w)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSend_TriesAtMostTwice(t *testing.T) { synctest.Test(t, testSendTriesAtMostTwice) }

func testSendTriesAtMostTwice(t *testing.T) {
	for _, c := range []struct {
		what    string
		answers []http.HandlerFunc
		asked   int
		want    string // in the error; "" for none
	}{
		{"throttled once", []http.HandlerFunc{refuses(429, "TooManyRequestsException"), accepts}, 2, ""},
		{"throttled", []http.HandlerFunc{refuses(429, "TooManyRequestsException")}, 2, `"TooManyRequestsException", request "req-1"`},
		{"failing once", []http.HandlerFunc{refuses(500, "InternalFailure"), accepts}, 2, ""},
		{"failing", []http.HandlerFunc{refuses(503, "ServiceUnavailable")}, 2, `"ServiceUnavailable"`},
		{"a broken connection", []http.HandlerFunc{breaks, accepts}, 2, ""},
		{"an unknown address", []http.HandlerFunc{refuses(400, "MessageRejected")}, 1, `"MessageRejected"`},
		{"no permission", []http.HandlerFunc{refuses(403, "AccessDeniedException")}, 1, `"AccessDeniedException"`},
		{"no domain", []http.HandlerFunc{refuses(400, "MailFromDomainNotVerifiedException:http://internal.amazon.com/x")}, 1, `"MailFromDomainNotVerifiedException"`},
		{"an error of unknown form", []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			_, _ = io.WriteString(w, "no: "+recipient)
		}}, 1, "SES"},
		{"a success of unknown form", []http.HandlerFunc{func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "{"+recipient)
		}}, 1, "SES"},
	} {
		s := serve(t, c.answers...)
		start := time.Now()
		err := s.sender().Send(t.Context(), message(t))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: Send = %v, want an error with %q (\"\": no error)", c.what, err, c.want)
		}
		if n := len(s.requests()); n != c.asked {
			t.Errorf("%s: got %d requests, want %d", c.what, n, c.asked)
		}
		if took := time.Since(start); took > sendWithin {
			t.Errorf("%s: took %v, want at most %v", c.what, took, sendWithin)
		}
		mustNotReveal(t, c.what, err)
	}
}

func mustNotReveal(t *testing.T, what string, err error) {
	t.Helper()
	for e := err; e != nil; e = errors.Unwrap(e) {
		if s := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(s, "reynard") || strings.Contains(s, "foxden") || strings.Contains(s, "K7QM") {
			t.Errorf("%s: the error reveals the mail: %s", what, s)
		}
	}
}

func TestSend_EndsInTime(t *testing.T) { synctest.Test(t, testSendEndsInTime) }

func testSendEndsInTime(t *testing.T) {
	s := serve(t, hangs)
	within := func(what string, want error, most time.Duration, send func() error) {
		t.Helper()
		start := time.Now()
		err := send()
		if took := time.Since(start); !errors.Is(err, want) || took > most {
			t.Errorf("%s: Send = %v after %v, want %v within %v", what, err, took, want, most)
		}
		mustNotReveal(t, what, err)
	}
	within("a caller's deadline", context.DeadlineExceeded, time.Second, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		return s.sender().Send(ctx, message(t))
	})
	within("a cancelled caller", context.Canceled, time.Second, func() error {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(50*time.Millisecond, cancel)
		return s.sender().Send(ctx, message(t))
	})
	within("the sender's own deadline", context.DeadlineExceeded, time.Second, func() error {
		sender := s.sender()
		sender.within = 50 * time.Millisecond
		return sender.Send(t.Context(), message(t))
	})
	if sender := s.sender(); sender.within != sendWithin || sendWithin > 5*time.Second {
		t.Errorf("time for a mail = %v, want %v, at most 5 s", sender.within, sendWithin)
	}
	// No second attempt is made if the deadline would cut it off.
	throttled := serve(t, refuses(429, "TooManyRequestsException"))
	start := time.Now()
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		if err := throttled.sender().Send(ctx, message(t)); err == nil {
			t.Error("Send succeeded although SES throttled it")
		}
		cancel()
	}
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("20 mails with 30 ms each took %v, want at most 3 s", took)
	}
}

func TestSend_Unreachable(t *testing.T) {
	url := "http://127.0.0.1:1" // no test server gets port 1
	err := senderTo(url, nil).Send(t.Context(), message(t))
	if err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("Send without a server: got error %v, want \"cannot be reached\"", err)
	}
	mustNotReveal(t, "nobody there", err)

	s := newSender(sesv2.Options{Region: "eu-central-1", BaseEndpoint: &url, Credentials: aws.CredentialsProviderFunc(
		func(context.Context) (aws.Credentials, error) { return aws.Credentials{}, errors.New("no credentials") })}, "a@b.de", "codes")
	if err := s.Send(t.Context(), message(t)); err == nil || !strings.Contains(err.Error(), "the request to SES failed") {
		t.Errorf("Send without credentials: got error %v, want \"the request to SES failed\"", err)
	}
}

func TestSES_NeedsSenderAddress(t *testing.T) {
	for _, c := range []struct {
		env   host.Env
		sends bool
	}{
		{host.Env{}, false},
		{host.Env{MailSet: "codes", Region: "eu-central-1"}, false},
		{host.Env{MailFrom: "a@b.de", MailSet: "codes", Region: "eu-central-1"}, true},
	} {
		var a app.App
		SES.Add(c.env, &a)
		s, sends := a.Mail.(*sender)
		if sends != c.sends || sends && (s.from != c.env.MailFrom || s.set != c.env.MailSet) {
			t.Errorf("sender for %+v = %#v, want one with its MailFrom and MailSet: %v", c.env, a.Mail, c.sends)
		}
		if !sends {
			if err := a.Mail.Send(t.Context(), message(t)); !errors.Is(err, mails.ErrNone) {
				t.Errorf("Send for %+v = %v, want ErrNone", c.env, err)
			}
		}
	}
}
