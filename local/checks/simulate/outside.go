package simulate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	standin "agentsocial/local/fakes/payments"
	"agentsocial/local/transcripts"
	"agentsocial/shared/outside/mail"
	"agentsocial/shared/outside/payments"
)

// gate waits for the turn of a call to an outside service. draw returns a number from 0 to
// 1, to be compared with the rate of a fault.
func (w *world) gate(ctx context.Context, what string) (j *job, draw func(of string) float64) {
	j = jobOf(ctx)
	dieIfDead(ctx)
	n := j.Call(what)
	w.turns.Wait(j.Job, what)
	dieIfDead(ctx)
	return j, func(of string) float64 {
		if j.calm {
			return 1
		}
		return w.dice.Chance(of+" "+j.Name, n)
	}
}

// post stands in for the mail service, and keeps the mails that it delivered.
type post struct {
	w    *world
	sent []letter
}

// letter is a mail that was delivered.
type letter struct {
	to, text, code string
	subject        string
	id             string
	at             time.Time
}

var codeForm = regexp.MustCompile(`\b[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b`)

// Send implements [mail.Sender].
func (p *post) Send(ctx context.Context, m mail.Message) error {
	_, draw := p.w.gate(ctx, "mail")
	r := &p.w.c.Rates
	if draw("slow mail") < r.MailSlow {
		select {
		case <-time.After(time.Duration(draw("how slow") * float64(12*time.Second))):
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if draw("refused mail") < r.MailRefused {
		p.w.tracef("  mail refused")
		return fmt.Errorf("simulate: %w", mail.ErrRefused)
	}
	unknown := draw("unknown mail") < r.MailUnknown
	if unknown && draw("lost mail") < .5 {
		return errors.New("simulate: the mail service does not answer")
	}
	if found := address.FindString(m.Text + m.HTML); found != "" && found != m.To.Reveal() {
		p.w.violate("secrets", "a mail names another's address")
	}
	for _, code := range codeForm.FindAllString(m.Text+m.HTML, -1) {
		if p.w.codes[strings.ReplaceAll(code, "-", "")] != "" {
			p.w.violate("secrets", "a mail has the code of another mail")
		}
	}
	p.sent = append(p.sent, letter{
		to: m.To.Reveal(), text: m.Text, code: codeForm.FindString(m.Text), subject: m.Subject, id: fmt.Sprintf("mail-%d", len(p.sent)), at: time.Now(),
	})
	p.w.tracef("  mail %d: %s", len(p.sent), m.Subject)
	if unknown {
		return errors.New("simulate: the mail service's answer is lost")
	}
	return nil
}

func (p *post) newest(to string) *letter {
	for i := len(p.sent) - 1; i >= 0; i-- {
		if p.sent[i].to == to {
			return &p.sent[i]
		}
	}
	return nil
}

// bounce starts jobs that tell the service that a mail came back.
func (w *world) bounce(l *letter, name string) (jobs []*job) {
	detail, err := json.Marshal(map[string]any{
		"eventType": "Bounce",
		"mail":      map[string]any{"messageId": l.id, "destination": []string{l.to}},
		"bounce":    map[string]any{"bounceType": "Permanent", "bouncedRecipients": []any{map[string]string{"emailAddress": l.to}}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	e := events.EventBridgeEvent{Version: "0", ID: l.id, Source: "aws.ses", Time: time.Now().UTC(), Detail: detail}
	for _, tell := range w.parts.Returns {
		jobs = append(jobs, w.start("bounce "+name, false, func(ctx context.Context) {
			for try := 0; ; try++ { // EventBridge tries again
				if err := tell(ctx, e); err == nil {
					return
				}
				if try == 5 {
					jobOf(ctx).calm = true
				}
				if try == 8 {
					w.violate("mail", "the service never accepts a bounce")
					return
				}
				time.Sleep(time.Second)
			}
		}))
	}
	return jobs
}

// till is the payment processor as the jobs see it.
type till struct {
	payments.Processor
	w *world
}

func (w *world) charge(p payments.Processor) payments.Processor { return &till{p, w} }

// Checkout implements [payments.Processor].
func (t *till) Checkout(ctx context.Context, o payments.Order) (payments.Page, error) {
	_, draw := t.w.gate(ctx, "checkout")
	r := &t.w.c.Rates
	if draw("slow pay") < r.PaySlow {
		select {
		case <-time.After(time.Duration(draw("how slow pay") * float64(8*time.Second))):
		case <-ctx.Done():
			return payments.Page{}, ctx.Err()
		}
	}
	if draw("refused pay") < r.PayRefused {
		return payments.Page{}, errors.New("simulate: the processor refuses")
	}
	page, err := t.Processor.Checkout(ctx, o)
	if err == nil && draw("unknown pay") < r.PayUnknown {
		return payments.Page{}, errors.New("simulate: the processor's answer is lost")
	}
	return page, err
}

// Expire implements [payments.Processor].
func (t *till) Expire(ctx context.Context, checkout string) error {
	_, draw := t.w.gate(ctx, "expire")
	r := &t.w.c.Rates
	if draw("refused pay") < r.PayRefused {
		return errors.New("simulate: the processor refuses")
	}
	err := t.Processor.Expire(ctx, checkout)
	if err == nil && draw("unknown pay") < r.PayUnknown {
		return errors.New("simulate: the processor's answer is lost")
	}
	return err
}

// notice is a notification of the payment processor on its way to the service.
type notice struct {
	standin.Delivery
	due   time.Time
	tries int
	job   *job
	again int // times that it is sent again after it was accepted
}

func (w *world) notify(calm bool) (jobs []*job) {
	r := &w.c.Rates
	for _, d := range w.parts.Payments.Take() {
		n := &notice{Delivery: d, due: time.Now()}
		k := uint64(len(d.ID))
		if w.dice.Chance("twice "+d.ID, k) < r.NoticeTwice {
			n.again = 1
		}
		if w.dice.Chance("delayed "+d.ID, k) < r.NoticeDelayed {
			n.due = n.due.Add(time.Duration(w.dice.N("delay "+d.ID, k) % uint64(time.Hour)))
		} else if w.dice.Chance("shuffled "+d.ID, k) < r.NoticeShuffled {
			n.due = n.due.Add(time.Duration(w.dice.N("shuffle "+d.ID, k) % uint64(2*time.Minute)))
		}
		w.notices = append(w.notices, n)
	}
	var left []*notice
	for _, n := range w.notices {
		if n.due.IsZero() { // it was accepted
			continue
		}
		if n.job != nil && n.job.Runs() || !calm && time.Now().Before(n.due) {
			left = append(left, n)
			continue
		}
		n.tries++
		d := w.parts.Payments.Signed(n.Delivery)
		req := &transcripts.Request{Method: http.MethodPost, Target: "/payments/webhook", Body: d.Body, Header: http.Header{
			"Content-Type": {"application/json"}, "Stripe-Signature": {d.Signature},
		}}
		w.counts["POST /payments/webhook"]++
		n.job = w.start(fmt.Sprintf("notice %s %d", n.ID, n.tries), calm || n.tries > 6, func(ctx context.Context) {
			a := w.ask(ctx, req, "192.0.2.250")
			if a.Status/100 == 2 {
				w.accepted["POST /payments/webhook"]++
			}
			switch {
			case a.Status/100 != 2:
				n.due = time.Now().Add(time.Second << min(n.tries, 8))
				if n.tries > 12 {
					w.violate("payments", "the service never accepts the notification %s: %d %s", n.Type, a.Status, a.Body)
				}
			case n.again > 0:
				n.again--
				n.due = time.Now().Add(time.Minute)
			default:
				n.due = time.Time{}
			}
		})
		jobs = append(jobs, n.job)
		left = append(left, n)
	}
	w.notices = left
	return jobs
}

// fetch refuses all requests for strangers' documents, such as an OAuth client's metadata.
func (w *world) fetch(ctx context.Context, url string) ([]byte, error) {
	w.gate(ctx, "fetch")
	return nil, errors.New("simulate: nothing is served there")
}

// journal is the service's log. It looks for secrets, which no log may hold.
type journal struct {
	w     *world
	attrs []slog.Attr
}

func (*journal) Enabled(context.Context, slog.Level) bool { return true }

func (l *journal) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	for _, a := range l.attrs {
		line += " " + a.String()
	}
	l.w.logged(line)
	if r.Message == "messages not marked as read" {
		l.w.unmarked = l.w.op
	}
	return nil
}

func (l *journal) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &journal{l.w, append(l.attrs[:len(l.attrs):len(l.attrs)], attrs...)}
}
func (l *journal) WithGroup(string) slog.Handler { return l }
