// Command deploy deploys a stage (`make deploy`), or its previous version with the argument
// rollback (`make rollback`).
//
// A new stage other than dev is deployed twice. The first deployment leaves the stack and the
// table unprotected, because CloudFormation could not remove a protected table after a failed
// creation. The second deployment only adds the protection.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "deploy:", err)
		os.Exit(1)
	}
}

func run(args []string, getenv func(string) string, out, errors io.Writer) error {
	d, err := newDeployment(getenv, out, errors)
	switch {
	case err != nil:
		return err
	case len(args) == 0:
		return d.deploy()
	case len(args) == 1 && args[0] == "rollback":
		return d.rollback(getenv("TO"))
	}
	return fmt.Errorf("got the arguments %q; want none, or rollback", args)
}

// disposable is the only stage that may be deployed with uncommitted changes.
const disposable = "dev"

// deployment holds what the operator asks for.
type deployment struct {
	stage   string
	region  string // "": the region of the credentials
	context string // options for the CDK, in the shell's syntax
	revert  bool
	ask     bool // whether the CDK asks before it changes permissions

	out, err io.Writer
}

// newDeployment reads the environment and cdk.json.
func newDeployment(getenv func(string) string, out, errors io.Writer) (deployment, error) {
	b, err := os.ReadFile("cdk.json")
	if err != nil {
		return deployment{}, err
	}
	var file struct{ Context map[string]any }
	if err := json.Unmarshal(b, &file); err != nil {
		return deployment{}, fmt.Errorf("cdk.json: %w", err)
	}
	d := deployment{context: getenv("CONTEXT"), revert: getenv("REVERT_DRIFT") != "", ask: getenv("CI") == "", out: out, err: errors}
	setting := func(name string) string {
		value, _ := file.Context[name].(string)
		for _, word := range strings.Fields(d.context) { // values that contain spaces belong to settings that are not read here
			if v, ok := strings.CutPrefix(strings.Trim(word, `'"`), name+"="); ok {
				value = v
			}
		}
		return value
	}
	d.stage, d.region = cmp.Or(getenv("STAGE"), setting("stage"), "prod"), setting("region")
	return d, nil
}

// stack returns the stack's name (infra/stack.go).
func (d deployment) stack() string { return "agentsocial-" + d.stage }

// deployed is the stack's current state.
type deployed struct {
	Status  string // CloudFormation's; "" if there is no stack
	Outputs map[string]string
}

// exists reports whether the stack was created. A stack that failed to be created counts as
// missing: its table was never in use.
func (s deployed) exists() bool {
	switch s.Status {
	case "", "REVIEW_IN_PROGRESS", "CREATE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "DELETE_COMPLETE":
		return false
	}
	return true
}

func (d deployment) deploy() error {
	version, changes, err := describe(".")
	if err != nil && d.stage != disposable {
		return fmt.Errorf("cannot tell what is deployed: %w; deploy from a clone of the repository", err)
	}
	if changes != "" && d.stage != disposable {
		return fmt.Errorf("the work tree has changes that no commit has; commit them (settings in cdk.json, too), so that they can be deployed again:\n%s", changes)
	}
	now, err := d.look()
	if err != nil {
		return err
	}
	args := []string{"--outputs-file", "build/outputs.json"}
	if !d.ask {
		args = append(args, "--require-approval", "never")
	}
	if d.revert {
		args = append(args, "--revert-drift")
	}
	if version != "" {
		args = append(args, "-c", "version="+version)
	}
	previous := now.Outputs["Version"]
	if previous == version {
		previous = now.Outputs["PreviousVersion"]
	}
	if previous != "" {
		args = append(args, "-c", "previousVersion="+previous)
	}
	if now.exists() || d.stage == disposable {
		return d.cdk(args...)
	}
	if err := d.cdk(append(args, "-c", "unprotected=true")...); err != nil {
		return fmt.Errorf("%w\nThe stack %s was not created. Fix the cause, and run `make deploy` again: it removes what is left. infra/RUNBOOK.md has the usual causes: \"The first deployment failed\"", err, d.stack())
	}
	fmt.Fprintf(d.out, "\n%s exists; protecting the stack and its table from deletion\n", d.stack())
	return d.cdk(append(args, "--build", "true")...) // the functions are built already, so `true` replaces the build
}

func (d deployment) cdk(args ...string) error {
	if d.stage != "" {
		args = append(args, "-c", "stage="+d.stage)
	}
	// These options take precedence over the operator's, because they come later.
	c := exec.Command("sh", append([]string{"-c", `exec npx cdk deploy ` + d.context + ` "$@"`, "sh"}, args...)...)
	c.Env = append(os.Environ(), "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=1")
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, d.out, d.err
	if err := c.Run(); err != nil {
		return fmt.Errorf("cdk deploy: %w", err)
	}
	return nil
}

// look returns the stack's state according to CloudFormation.
func (d deployment) look() (deployed, error) {
	args := []string{"cloudformation", "describe-stacks", "--stack-name", d.stack(), "--output", "json"}
	if d.region != "" {
		args = append(args, "--region", d.region)
	}
	answer, err := command(".", "aws", args...)
	if err != nil && strings.Contains(err.Error(), "does not exist") {
		return deployed{}, nil
	}
	if err != nil {
		return deployed{}, fmt.Errorf("cannot see whether the stack %s exists: %w", d.stack(), err)
	}
	var list struct {
		Stacks []struct {
			StackStatus string
			Outputs     []struct{ OutputKey, OutputValue string }
		}
	}
	if err := json.Unmarshal([]byte(answer), &list); err != nil || len(list.Stacks) != 1 {
		return deployed{}, fmt.Errorf("aws cloudformation describe-stacks answered %.200q (error: %v); want one stack", answer, err)
	}
	now := deployed{list.Stacks[0].StackStatus, map[string]string{}}
	for _, o := range list.Stacks[0].Outputs {
		now.Outputs[o.OutputKey] = o.OutputValue
	}
	return now, nil
}

// rollback deploys a version from a separate work tree, with that version's cdk.json. If to
// is "", it deploys the previous version.
func (d deployment) rollback(to string) error {
	if to == "" {
		now, err := d.look()
		if err != nil {
			return err
		}
		if to = now.Outputs["PreviousVersion"]; to == "" {
			return fmt.Errorf("the stack %s has no output PreviousVersion, so the previous version is unknown; name a commit: make rollback TO=COMMIT", d.stack())
		}
	}
	if strings.HasSuffix(to, dirty) {
		return fmt.Errorf("version %s had changes that no commit has; name a commit: make rollback TO=COMMIT", to)
	}
	commit, err := command(".", "git", "rev-parse", "--verify", "--quiet", to+"^{commit}")
	if err != nil {
		return fmt.Errorf("this clone has no version %s: %w; run git fetch --tags", to, err)
	}
	fmt.Fprintf(d.out, "deploying %s (%s), with the settings of its cdk.json\n", to, commit)
	tree := filepath.Join("build", "rollback")
	remove := func() error {
		if _, err := os.Stat(tree); os.IsNotExist(err) {
			return nil
		}
		_, err := command(".", "git", "worktree", "remove", "--force", tree)
		return err
	}
	if err := remove(); err != nil {
		return err
	}
	if _, err := command(".", "git", "worktree", "add", "--detach", tree, commit); err != nil {
		return err
	}
	c := exec.Command("make", "deploy")
	c.Dir, c.Stdin, c.Stdout, c.Stderr = tree, os.Stdin, d.out, d.err
	c.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=") // without the options of the make that runs this
	if err := c.Run(); err != nil {
		return errors.Join(fmt.Errorf("make deploy of %s: %w", to, err), remove())
	}
	return remove()
}

// dirty is the suffix of the version of a work tree with uncommitted changes.
const dirty = "-dirty"

// describe returns a work tree's version, as git describe names it, and its uncommitted
// changes.
func describe(tree string) (version, changes string, err error) {
	if version, err = command(tree, "git", "describe", "--tags", "--always", "--abbrev=12"); err != nil {
		return "", "", err
	}
	if changes, err = command(tree, "git", "status", "--porcelain"); err != nil {
		return "", "", err
	}
	if changes != "" {
		version += dirty
	}
	return version, changes, nil
}

// command returns a program's standard output. The error contains its standard error.
func command(dir, name string, args ...string) (string, error) {
	var out, failure bytes.Buffer
	c := exec.Command(name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &failure
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, strings.TrimSpace(failure.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
