// Package awscli runs the AWS CLI with the credentials of the operator's shell.
package awscli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// CLI runs commands of the AWS CLI.
type CLI struct {
	Region string // "": the region of the environment or the profile
}

// Error is a command that failed.
type Error struct {
	Command string // "lambda get-account-settings"
	Code    string // AWS's, such as AccessDenied; "" if AWS did not refuse the call
	Text    string // what the CLI wrote to its standard error
}

func (e *Error) Error() string { return fmt.Sprintf("aws %s: %s", e.Command, e.Text) }

// ErrMissing is the error of every command on a machine without the AWS CLI.
var ErrMissing = errors.New("the AWS CLI is missing: install version 2 (https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html)")

// refused matches what the CLI writes when AWS refuses a call.
var refused = regexp.MustCompile(`An error occurred \(([A-Za-z0-9.]+)\)`)

// Do runs a command, such as "lambda", "get-account-settings". It decodes the command's
// output, if there is any, into out, unless out is nil.
func (c CLI) Do(ctx context.Context, out any, args ...string) error {
	command := strings.Join(args[:min(2, len(args))], " ")
	args = append(args, "--output", "json")
	if c.Region != "" {
		args = append(args, "--region", c.Region)
	}
	printed, err := run(ctx, command, args...)
	if err != nil || out == nil {
		return err
	}
	if len(bytes.TrimSpace(printed)) == 0 {
		return nil
	}
	if err := json.Unmarshal(printed, out); err != nil {
		return fmt.Errorf("aws %s printed %.200q: %w", command, printed, err)
	}
	return nil
}

// Version returns what `aws --version` prints, such as "aws-cli/2.31.0 Python/3.13.7 …".
func Version(ctx context.Context) (string, error) {
	printed, err := run(ctx, "--version", "--version")
	return strings.TrimSpace(string(printed)), err
}

func run(ctx context.Context, command string, args ...string) ([]byte, error) {
	var out, failure bytes.Buffer
	cmd := exec.CommandContext(ctx, "aws", args...)
	cmd.Env = append(os.Environ(), "AWS_PAGER=")
	cmd.Stdout, cmd.Stderr = &out, &failure
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrMissing
	case errors.As(err, &exit):
		e := &Error{Command: command, Text: strings.TrimSpace(failure.String())}
		if m := refused.FindStringSubmatch(e.Text); m != nil {
			e.Code = m[1]
		}
		return nil, e
	}
	return out.Bytes(), err
}

// Refused reports whether err is AWS's refusal with one of these codes.
func Refused(err error, codes ...string) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	for _, c := range codes {
		if e.Code == c {
			return true
		}
	}
	return false
}
