// Package secret gives a Lambda function the service's secret, from which the
// keys that seal tokens and derive puzzles are made.
package secret

import (
	"context"
	"errors"
	"strings"
	"sync"

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
	var mu sync.Mutex
	var box *seal.Box
	return func(ctx context.Context) (*seal.Box, error) {
		mu.Lock()
		defer mu.Unlock()
		if box != nil {
			return box, nil
		}
		s, err := fetch(ctx)
		if err != nil {
			return nil, errors.Join(errors.New("secret: cannot be fetched"), err)
		}
		var keys [][]byte
		for _, line := range strings.Fields(s) {
			keys = append(keys, []byte(line))
		}
		box, err = seal.New(keys...)
		return box, err
	}
}
