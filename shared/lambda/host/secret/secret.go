// Package secret reads the service's secrets. The sealing secret seals tokens and derives
// puzzles. The pepper is the key of the hashes of mail addresses and mailed codes. The
// edge's secret shows that a request came through the edge.
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

// Manager reads the sealing secret from Secrets Manager on first use. The secret
// is one or more keys, one per line. The first key seals; the others only open, so that a
// rotation logs nobody out.
var Manager = host.Part{
	Is:  app.Secret,
	Add: func(e host.Env, a *app.App) { a.Box = Keep(Read(e, e.SecretARN), boxOf, a.Now).Get },
}

// Pepper reads the pepper from Secrets Manager on first use. The pepper never changes:
// with another value, every verified address would be unknown and no agent could be
// recovered.
var Pepper = host.Part{
	Is:  app.Pepper,
	Add: func(e host.Env, a *app.App) { a.Pepper = Keep(Read(e, e.PepperARN), pepperOf, a.Now).Get },
}

// Read returns a function that reads a secret's text.
func Read(e host.Env, arn string) func(context.Context) (string, error) {
	client := manager(e)
	return func(ctx context.Context) (string, error) {
		return read(ctx, client, &secretsmanager.GetSecretValueInput{SecretId: &arn})
	}
}

func manager(e host.Env) *secretsmanager.Client {
	return secretsmanager.New(secretsmanager.Options{
		Region: e.Region, BaseEndpoint: host.Endpoint(e.SecretsManagerURL),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: e.AccessKey, SecretAccessKey: e.SecretKey, SessionToken: e.SessionToken}, nil
		}),
	})
}

func read(ctx context.Context, client *secretsmanager.Client, in *secretsmanager.GetSecretValueInput) (string, error) {
	v, err := client.GetSecretValue(ctx, in)
	if err != nil {
		return "", err
	}
	return aws.ToString(v.SecretString), nil
}

// keptFor is how long a fetched secret is used. apart is the least time between two
// fetches, since each fetch is paid for. After a failed fetch, apart applies only if there
// is an older usable secret.
const (
	keptFor = 5 * time.Minute
	apart   = 30 * time.Second
)

const fetchWithin = 5 * time.Second

// Kept is a secret that is fetched on first use and again from time to time,
// since an operator may change it. It is safe for concurrent use.
type Kept[T any] struct {
	fetch func(context.Context) (string, error)
	of    func(string) (T, error)
	now   func() time.Time

	mu    sync.Mutex
	last  *fetched[T] // the secret in use; nil if none
	next  *fetched[T] // the fetch under way; nil if none
	until time.Time   // last is used until then
}

// fetched is the result of a fetch, valid once done is closed.
type fetched[T any] struct {
	value T
	err   error
	at    time.Time // when the fetch began
	done  chan struct{}
}

// Keep makes a Kept that converts the secret's text with of.
func Keep[T any](fetch func(context.Context) (string, error), of func(string) (T, error), now func() time.Time) *Kept[T] {
	return &Kept[T]{fetch: fetch, of: of, now: now}
}

// Get returns the secret. If a fetch fails, the old value stays. Without an old value, the
// next Get fetches again. If the text cannot be converted, Get fails until the next fetch.
func (k *Kept[T]) Get(ctx context.Context) (T, error) {
	k.mu.Lock()
	r := k.last
	if r == nil || !k.now().Before(k.until) {
		if k.next == nil {
			k.next = &fetched[T]{at: k.now(), done: make(chan struct{})}
			// The fetch continues if its first caller leaves, because other callers
			// may wait for it.
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

// Doubt makes Get fetch the secret again, as soon as apart has passed since the last
// fetch. Call it when the secret was refused and may have changed.
func (k *Kept[T]) Doubt() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != nil {
		k.until = earlier(k.until, k.last.at.Add(apart))
	}
}

// bring fetches the secret and sets how long it is used.
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
			r.err = fmt.Errorf("secret: fetch failed: %w", lost)
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

// minPepper is the least length of a pepper in characters.
const minPepper = 32

func pepperOf(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if len(text) < minPepper {
		return nil, fmt.Errorf("secret: the pepper has %d characters and needs %d", len(text), minPepper)
	}
	return []byte(text), nil
}
