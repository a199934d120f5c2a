// Package secret gives a Lambda function the service's secret, from which the
// keys that seal tokens and derive puzzles are made.
package secret

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"agentsocial/shared/app"
	"agentsocial/shared/host"
	"agentsocial/shared/seal"
)

// Manager reads the secret from Secrets Manager when it is first needed.
var Manager = host.Part{
	Needs: func(e host.Env) []string {
		return host.Missing(map[string]string{"SECRET_ARN": e.SecretARN, "AWS_REGION": e.Region})
	},
	Add: func(e host.Env, a *app.App) {
		client := secretsmanager.New(secretsmanager.Options{
			Region: e.Region,
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: e.AccessKey, SecretAccessKey: e.SecretKey, SessionToken: e.SessionToken}, nil
			}),
		})
		a.Box = Lazily(func(ctx context.Context) (string, error) {
			v, err := client.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &e.SecretARN})
			if err != nil {
				return "", err
			}
			return aws.ToString(v.SecretString), nil
		})
	},
}

// Lazily makes a box of a secret that is fetched once it is needed, and again
// if that failed. The secret is one or more keys, a line each: the first seals,
// the others only open, so that changing it logs nobody out.
func Lazily(fetch func(context.Context) (string, error)) func(context.Context) (*seal.Box, error) {
	type result struct {
		box  *seal.Box
		err  error
		done chan struct{}
	}
	var mu sync.Mutex
	var last *result // the fetch that is under way, or succeeded
	return func(ctx context.Context) (*seal.Box, error) {
		mu.Lock()
		r := last
		if r == nil {
			r = &result{done: make(chan struct{})}
			last = r
			// It goes on when who asked first is gone: others wait for it too.
			go func() {
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchWithin)
				defer cancel()
				r.box, r.err = open(ctx, fetch)
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
			return r.box, r.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// fetchWithin bounds one fetch.
const fetchWithin = 5 * time.Second

func open(ctx context.Context, fetch func(context.Context) (string, error)) (*seal.Box, error) {
	s, err := fetch(ctx)
	if err != nil {
		return nil, errors.Join(errors.New("secret: cannot be fetched"), err)
	}
	var keys [][]byte
	for _, line := range strings.Fields(s) {
		keys = append(keys, []byte(line))
	}
	return seal.New(keys...)
}
