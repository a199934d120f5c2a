package secret

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager/types"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
)

// Edge lets a function recognise the requests of the edge by a secret from Secrets
// Manager. It has no effect in a deployment without an edge.
//
// The current and the previous version of the secret are valid. After a rotation, the edge
// sends the previous version until a deployment has reached all edge locations.
var Edge = host.Part{
	Is: app.Edge,
	Add: func(e host.Env, a *app.App) {
		if e.EdgeSecretARN == "" {
			return
		}
		kept := Keep(readBoth(e, e.EdgeSecretARN), hashesOf, a.Now)
		a.Edge = func(ctx context.Context, sent string) (bool, error) { return isOneOf(ctx, kept, sent) }
	},
}

// readBoth returns a function that reads a secret's current and previous versions, one per
// line.
func readBoth(e host.Env, arn string) func(context.Context) (string, error) {
	client := manager(e)
	return func(ctx context.Context) (string, error) {
		current, err := read(ctx, client, &secretsmanager.GetSecretValueInput{SecretId: &arn})
		if err != nil {
			return "", err
		}
		previous, err := read(ctx, client, &secretsmanager.GetSecretValueInput{SecretId: &arn, VersionStage: aws.String("AWSPREVIOUS")})
		if none := (*types.ResourceNotFoundException)(nil); err != nil && !errors.As(err, &none) {
			return "", err
		}
		return current + "\n" + previous, nil
	}
}

// minEdge is the least length of the edge's secret in characters.
const minEdge = 32

// hashesOf returns the hash of each line. It ignores a line that is too short, so that the
// other line stays valid.
func hashesOf(text string) (hashes [][sha256.Size]byte, err error) {
	for _, line := range strings.Fields(text) {
		if len(line) >= minEdge {
			hashes = append(hashes, sha256.Sum256([]byte(line)))
		}
	}
	if hashes == nil {
		return nil, fmt.Errorf("secret: the edge's secret needs %d characters", minEdge)
	}
	return hashes, nil
}

// isOneOf reports whether sent is one of the secrets. It compares them in constant time.
// If none matches, the secrets may have been rotated: it calls Doubt and tries once more.
func isOneOf(ctx context.Context, kept *Kept[[][sha256.Size]byte], sent string) (bool, error) {
	hash := sha256.Sum256([]byte(sent))
	for range 2 {
		hashes, err := kept.Get(ctx)
		if err != nil {
			return false, err
		}
		same := 0
		for _, h := range hashes {
			same |= subtle.ConstantTimeCompare(h[:], hash[:])
		}
		if same == 1 {
			return true, nil
		}
		kept.Doubt()
	}
	return false, nil
}
