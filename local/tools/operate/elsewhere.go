package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentsocial/local/checks/books"
	"agentsocial/local/service"
	"agentsocial/local/service/failed"
	"agentsocial/local/service/runner"
	"agentsocial/shared/app"
	"agentsocial/shared/client"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
	"agentsocial/tables/retry"
)

var errElsewhere = errors.New("the copy is of no use elsewhere")

// The files in a service's folder that a restore elsewhere needs besides the table.
const (
	sealFile   = "secret"
	pepperFile = "pepper"
	clockFile  = "clock" // how far a local service's clock is ahead
)

// elsewhere rehearses locally a restore in another region or account. It shows that the
// copy works with the service's secrets, and what is lost with other secrets.
func (j job) elsewhere(ctx context.Context, b tables.Scanner, at time.Time) error {
	dir, err := os.MkdirTemp("", "agentsocial-elsewhere-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{sealFile, pepperFile, clockFile} {
		text, err := os.ReadFile(filepath.Join(j.Data, name))
		if errors.Is(err, fs.ErrNotExist) { // no service has run here, or its clock is not ahead
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			return err
		}
	}
	if err := j.bare(ctx, b, dir); err != nil {
		return err
	}
	n, err := j.catchUp(ctx, dir, at)
	if err != nil {
		return err
	}
	j.say("elsewhere   a copy without its stream: the reader tally counted the %d items that had waited for it, and the books are right", n)
	d := &drilled{handle: "drill-" + strings.ToLower(rand.Text()[:8])}
	if err := d.join(ctx, dir); err != nil {
		return fmt.Errorf("%w: with the service's secrets: %w", errElsewhere, err)
	}
	with, err := d.comeBack(ctx, dir)
	if err != nil {
		return fmt.Errorf("%w: with the service's secrets: %w", errElsewhere, err)
	}
	for _, name := range []string{sealFile, pepperFile} { // without them, the service makes new secrets
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	without, err := d.comeBack(ctx, dir)
	if err != nil {
		return fmt.Errorf("%w: with other secrets: %w", errElsewhere, err)
	}
	if with != (found{known: true, address: true, sealed: true}) || without != (found{known: true}) {
		return fmt.Errorf("%w: with the service's secrets: %s; with other secrets: %s", errElsewhere, with, without)
	}
	j.say("elsewhere   with the service's seal and pepper: %s", with)
	j.say("elsewhere   with others: %s. Keep a copy of both secrets: no backup of the table has them", without)
	return nil
}

// bare copies items into a new embedded table, with an empty stream.
func (j job) bare(ctx context.Context, from tables.Scanner, dir string) error {
	t, err := embedded.Open(embedded.Config{Path: filepath.Join(dir, "table.db"), Now: j.Now})
	if err != nil {
		return err
	}
	t.SetWanted(func(tables.StreamRecord) bool { return false })
	return errors.Join(pour(ctx, from, retry.Over(t, mathrand.Int64N)), t.Close())
}

// catchUp makes the reader tally count the items that wait in a copy, and audits the
// copy's books.
func (j job) catchUp(ctx context.Context, dir string, at time.Time) (n int, err error) {
	t, err := service.OpenTable(ctx, "embedded", dir)
	if err != nil {
		return 0, err
	}
	defer t.Close()
	own := j
	own.Table = t
	records, err := waiting(ctx, t, at)
	if err != nil {
		return 0, err
	}
	call, err := inProcess(own)
	if err != nil {
		return 0, err
	}
	for _, batch := range batchesFor(tallyReader, records) {
		b, err := failed.New(tallyReader.Name, 0, at, batch)
		if err != nil {
			return 0, err
		}
		again, err := recordsOf(b.Event)
		if err != nil {
			return 0, err
		}
		left, err := through(ctx, b, again, call)
		if err == nil && left > 0 {
			err = fmt.Errorf("%w: tally cannot count %d of the items that waited for it", errElsewhere, left)
		}
		if err != nil {
			return 0, err
		}
	}
	r, err := books.Audit(ctx, t, j.Now())
	if err != nil {
		return 0, err
	}
	for _, p := range r.Problems {
		j.say("WRONG       %s", p)
	}
	if len(r.Problems) > 0 {
		return 0, fmt.Errorf("%w: %w", errElsewhere, errWrong)
	}
	return len(records), nil
}

// drilled is an agent that exists only in the copy.
type drilled struct {
	handle     string
	key        ed25519.PrivateKey
	token      string
	challenges []client.Answers // not used yet; sealed by the service that join started
	pending    []ed25519.PrivateKey
}

const drilledAddress = "drill@agentsocial.example"

// found says what an agent can still do on a service.
type found struct {
	known   bool // its key and its token are accepted
	address bool // its verified mail address is known, so that it can be recovered
	sealed  bool // the service opens what an earlier process sealed
}

func (f found) String() string {
	word := func(ok bool, yes, no string) string { return map[bool]string{true: yes, false: no}[ok] }
	return strings.Join([]string{
		word(f.known, "agents' keys and tokens work", "agents' keys and tokens are refused"),
		word(f.address, "a verified mail address recovers its agent", "no verified mail address is known, so no agent can be recovered by mail"),
		word(f.sealed, "what the service sealed before is accepted", "whatever the service sealed before is refused, such as refresh tokens and ids of MCP clients"),
	}, "; ")
}

// join registers the agent, verifies its address, mints a token, and gets two challenges.
func (d *drilled) join(ctx context.Context, dir string) error {
	s, err := open(ctx, dir)
	if err != nil {
		return err
	}
	defer s.stop()
	if d.key, err = client.GenerateKey(); err != nil {
		return err
	}
	me, _, err := s.Register(ctx, d.key, client.Registration{Handle: d.handle, Emoji: "🧯"}, runner.Solve(ctx, s.Client))
	if err != nil {
		return err
	}
	if _, err := me.LinkOrigin(ctx, drilledAddress); err != nil {
		return err
	}
	mail, err := runner.ReadMail(ctx, s.Client, drilledAddress)
	if err != nil {
		return err
	}
	if _, err := me.VerifyOrigin(ctx, mail.Code); err != nil {
		return err
	}
	minted, err := me.MintToken(ctx, wire.NewToken{Label: "drill", Scopes: []string{"read"}})
	if err != nil {
		return err
	}
	d.token = minted.Value
	for range 2 {
		key, err := client.GenerateKey()
		if err != nil {
			return err
		}
		ch, err := s.Challenge(ctx, client.PublicKey(key))
		if err != nil {
			return err
		}
		answers, err := client.WorkOut(ctx, ch, runner.Solve(ctx, s.Client))
		if err != nil {
			return err
		}
		d.challenges, d.pending = append(d.challenges, answers), append(d.pending, key)
	}
	return nil
}

// comeBack starts a service, and tries there what the agent has kept.
func (d *drilled) comeBack(ctx context.Context, dir string) (f found, err error) {
	s, err := open(ctx, dir)
	if err != nil {
		return f, err
	}
	defer s.stop()
	_, err = s.As(d.key, "").Me(ctx)
	if err == nil {
		err = s.WithToken(d.token).Do(ctx, http.MethodGet, "/v1/me", nil, nil)
	}
	if f.known = err == nil; !f.known && !client.IsCode(err, "unknown_key") && !client.IsCode(err, "bad_token") {
		return f, err
	}
	if _, err := s.Recover(ctx, d.handle, drilledAddress); err != nil { // the answer does not tell whether the agent is known
		return f, err
	}
	_, err = runner.ReadMail(ctx, s.Client, drilledAddress)
	if f.address = err == nil; !f.address && !errors.Is(err, runner.ErrNoMail) {
		return f, err
	}
	n := len(d.pending) - 1
	_, _, err = s.RegisterWith(ctx, d.pending[n], client.Registration{Handle: fmt.Sprintf("%s-%d", d.handle, n), Emoji: "🧯"}, d.challenges[n])
	switch {
	case err == nil:
		f.sealed = true
	case !client.IsCode(err, "bad_challenge"):
		return f, err
	}
	d.pending, d.challenges = d.pending[:n], d.challenges[:n]
	return f, nil
}

type started struct {
	*client.Client
	service *service.Service
}

func open(ctx context.Context, dir string) (*started, error) {
	o := &started{}
	settings := app.DefaultSettings()
	settings.PowBits = 0
	var err error
	o.service, err = service.Start(ctx, service.Config{
		Data: dir, Table: "embedded", Settings: settings,
		Log: slog.New(slog.DiscardHandler), // it warns of what the drill provokes
	})
	if err != nil {
		return nil, err
	}
	if o.Client, err = client.New(o.service.URL, client.WithClock(o.service.App.Now)); err != nil {
		o.stop()
	}
	return o, err
}

// stop stops the service. Its folder is thrown away, so a failure does not matter.
func (o *started) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = o.service.Stop(ctx)
}
