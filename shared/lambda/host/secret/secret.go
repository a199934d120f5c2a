// Package secret gives a Lambda function the service's secrets: the one from
// which the keys that seal tokens and derive puzzles are made, and the pepper
// that hashes of mail addresses are keyed with.
package secret

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"agentsocial/shared/app"
	"agentsocial/shared/identity/seal"
	"agentsocial/shared/lambda/host"
)

// Manager reads the sealing secret from Secrets Manager when it is first
// needed. It is one or more keys, a line each: the first seals, the others only
// open, so that changing it logs nobody out.
var Manager = host.Part{
	Is:  app.Secret,
	Add: func(e host.Env, a *app.App) { a.Box = Keep(Read(e, e.SecretARN), boxOf, a.Now).Get },
}

// Pepper reads the pepper from Secrets Manager when it is first needed. Unlike
// the sealing secret it is one value, and never changes: with another, every
// verified address would be unknown, and no agent could be recovered.
var Pepper = host.Part{
	Is:  app.Pepper,
	Add: func(e host.Env, a *app.App) { a.Pepper = Keep(Read(e, e.PepperARN), pepperOf, a.Now).Get },
}

// Read reads a secret's text.
func Read(e host.Env, arn string) func(context.Context) (string, error) {
	client := secretsmanager.New(secretsmanager.Options{
		Region: e.Region, BaseEndpoint: host.Endpoint(e.SecretsManagerURL),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: e.AccessKey, SecretAccessKey: e.SecretKey, SessionToken: e.SessionToken}, nil
		}),
	})
	return func(ctx context.Context) (string, error) {
		v, err := client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &arn})
		if err != nil {
			return "", err
		}
		return aws.ToString(v.SecretString), nil
	}
}

// How long what was fetched is good for, and how far apart fetches are at least
// that somebody else can bring about: each is paid for. The latter is also how
// long a secret that is none is not looked at again.
const (
	keptFor = 5 * time.Minute
	apart   = 30 * time.Second
)

// fetchWithin bounds one fetch.
const fetchWithin = 5 * time.Second

// Kept is a secret that is fetched when it is needed, and again from time to
// time, since an operator may change it. Its methods may be used by any
// goroutine.
type Kept[T any] struct {
	fetch func(context.Context) (string, error)
	of    func(string) (T, error)
	now   func() time.Time

	mu    sync.Mutex
	last  *fetched[T] // what is had; nil if nothing is
	next  *fetched[T] // the fetch that is under way; nil if none is
	until time.Time   // last is not looked at again before
}

// fetched is what a fetch brought, once done is closed.
type fetched[T any] struct {
	value T
	err   error
	at    time.Time // as it began
	done  chan struct{}
}

// Keep makes a Kept. of makes of the secret's text what is kept and shared.
func Keep[T any](fetch func(context.Context) (string, error), of func(string) (T, error), now func() time.Time) *Kept[T] {
	return &Kept[T]{fetch: fetch, of: of, now: now}
}

// Get answers the secret as it was within the last minutes. A text that is no
// secret is an error until it is looked at again. A fetch that fails leaves what
// there was, if there was something, and else is tried again by whoever asks next.
func (k *Kept[T]) Get(ctx context.Context) (T, error) {
	k.mu.Lock()
	r := k.last
	if r == nil || !k.now().Before(k.until) {
		if k.next == nil {
			k.next = &fetched[T]{at: k.now(), done: make(chan struct{})}
			// It goes on when who asked first is gone: others wait for it too.
			go k.bring(context.WithoutCancel(ctx), k.next)
		}
		r = k.next
	}
	k.mu.Unlock()
	select {
	case <-r.done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Doubt has the next Get fetch the secret, unless that was done just now: what
// it answered was of no use, and may have been changed.
func (k *Kept[T]) Doubt() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != nil {
		k.until = earlier(k.until, k.last.at.Add(apart))
	}
}

// bring fetches, and says for how long that is good.
func (k *Kept[T]) bring(ctx context.Context, r *fetched[T]) {
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	text, lost := k.fetch(ctx)
	if lost == nil {
		r.value, r.err = k.of(text)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	defer close(r.done)
	k.next = nil
	good := keptFor
	if lost != nil {
		if k.last == nil || k.last.err != nil {
			r.err = fmt.Errorf("secret: cannot be fetched: %w", lost)
			return
		}
		r.value = k.last.value
	}
	if lost != nil || r.err != nil {
		good = apart
	}
	k.last, k.until = r, r.at.Add(good)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func boxOf(text string) (*seal.Box, error) {
	var keys [][]byte
	for _, line := range strings.Fields(text) {
		keys = append(keys, []byte(line))
	}
	return seal.New(keys...)
}

// minPepper is the fewest characters of a pepper.
const minPepper = 32

func pepperOf(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if len(text) < minPepper {
		return nil, fmt.Errorf("secret: the pepper has %d characters and needs %d", len(text), minPepper)
	}
	return []byte(text), nil
}
