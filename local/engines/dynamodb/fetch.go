package dynamodb

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"agentsocial/local/engines/logs"
)

// Version is the version of DynamoDB Local in pom.xml.
const Version = "3.3.1"

//go:embed pom.xml
var pom []byte

// ErrUnavailable means that Java or Maven is missing, or that the jars could not be fetched.
var ErrUnavailable = errors.New("DynamoDB Local is unavailable")

// Fetch returns the folder of DynamoDB Local's jars in the user's cache. If the folder is
// missing, Fetch copies the jars (49 MB) from Maven Central. The folder's name has a hash of
// pom.xml, so a changed pom.xml gets a new folder.
func Fetch(ctx context.Context) (dir string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	cache = filepath.Join(cache, "agentsocial")
	hash := sha256.Sum256(pom)
	dir = filepath.Join(cache, fmt.Sprintf("dynamodb-local-%s-%x", Version, hash[:4]))
	if present(dir) {
		return dir, nil
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return "", fmt.Errorf("%w: Maven, which fetches its jars, is not installed: %w", ErrUnavailable, err)
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return "", fmt.Errorf("locking %s: %w", dir, err)
	}
	defer unlock()
	if present(dir) {
		return dir, nil
	}
	return dir, fetch(ctx, mvn, dir)
}

// fetch makes the complete folder or nothing.
func fetch(ctx context.Context, mvn, dir string) error {
	work, err := os.MkdirTemp(filepath.Dir(dir), "fetching-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, "pom.xml"), pom, 0o644); err != nil {
		return err
	}
	jars := filepath.Join(work, "jars")
	var output logs.Tail
	cmd := exec.CommandContext(ctx, mvn, "-q", "-B", "-f", filepath.Join(work, "pom.xml"),
		"dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+jars)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("%w: mvn: %w\n%s", ErrUnavailable, err, &output)
	}
	return os.Rename(jars, dir)
}

func present(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}
