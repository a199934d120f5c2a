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
	"agentsocial/shared/host"
	"agentsocial/shared/seal"
)

// Manager reads the sealing secret from Secrets Manager when it is first
// needed. It is one or more keys, a line each: the first seals, the others only
// open, so that changing it logs nobody out.
var Manager = host.Part{
	Needs: func(e host.Env) []string {
		return host.Missing(map[string]string{"SECRET_ARN": e.SecretARN, "AWS_REGION": e.Region})
	},
	Add: func(e host.Env, a *app.App) { a.Box = Lazily(Read(e, e.SecretARN), boxOf) },
}

// Pepper reads the pepper from Secrets Manager when it is first needed. Unlike
// the sealing secret it is one value, and never changes: with another, every
// verified address would be unknown, and no agent could be recovered.
var Pepper = host.Part{
	Needs: func(e host.Env) []string {
		return host.Missing(map[string]string{"PEPPER_ARN": e.PepperARN, "AWS_REGION": e.Region})
	},
	Add: func(e host.Env, a *app.App) { a.Pepper = Lazily(Read(e, e.PepperARN), pepperOf) },
}

// Read reads a secret's text.
func Read(e host.Env, arn string) func(context.Context) (string, error) {
	client := secretsmanager.New(secretsmanager.Options{
		Region: e.Region,
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

// Lazily fetches a secret once it is needed, and again if that failed or the
// secret is none. of makes of its text what is kept and shared.
func Lazily[T any](fetch func(context.Context) (string, error), of func(string) (T, error)) func(context.Context) (T, error) {
	type result struct {
		value T
		err   error
		done  chan struct{}
	}
	var mu sync.Mutex
	var last *result // the fetch that is under way, or succeeded
	return func(ctx context.Context) (T, error) {
		mu.Lock()
		r := last
		if r == nil {
			r = &result{done: make(chan struct{})}
			last = r
			// It goes on when who asked first is gone: others wait for it too.
			go func() {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchWithin)
				defer cancel()
				text, err := fetch(ctx)
				if err != nil {
					r.err = fmt.Errorf("secret: cannot be fetched: %w", err)
				} else {
					r.value, r.err = of(text)
				}
				if r.err != nil {
					mu.Lock()
					last = nil
					mu.Unlock()
				}
				close(r.done)
			}()
		}
		mu.Unlock()
		select {
		case <-r.done:
			return r.value, r.err
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
	}
}

// fetchWithin bounds one fetch.
const fetchWithin = 5 * time.Second

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
