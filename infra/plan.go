package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/mailevent"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
)

// plan holds the checked declarations. They are checked before the CDK makes constructs,
// because these panic on bad input without naming it.
type plan struct {
	assets string // folder with one folder per function, each with its bootstrap
	declared
	routes []route
}

// declared holds all functions.
type declared struct {
	groups    []api.Group
	readers   []stream.Function
	schedules []schedule.Function
	mail      []mailevent.Function
}

func (d declared) names() (names []string) {
	for _, g := range d.groups {
		names = append(names, g.Name)
	}
	for _, r := range d.readers {
		names = append(names, r.Name)
	}
	for _, s := range d.schedules {
		names = append(names, s.Name)
	}
	for _, m := range d.mail {
		names = append(names, m.Name)
	}
	return names
}

// maxReaders bounds the readers of a shard. DynamoDB throttles more than two.
const maxReaders = 2

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// newPlan checks the declarations and that every function was built.
func newPlan(d declared, assets string) (*plan, error) {
	routes, err := routesOf(d.groups)
	problems := []error{err}
	for _, g := range d.groups {
		problems = append(problems, checkNeeds(g))
	}
	for _, r := range d.readers {
		_, err := patternsOf(r)
		problems = append(problems, err, checkBatch(r))
	}
	if n := len(d.readers); n > maxReaders {
		problems = append(problems, fmt.Errorf("the stream has %d readers; a shard allows %d", n, maxReaders))
	}
	for _, s := range d.schedules {
		_, err := rateOf(s)
		problems = append(problems, err)
	}
	problems = append(problems, checkNames(d.names()), checkBuilt(assets, d.names()))
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return &plan{assets, d, routes}, nil
}

// checkNames checks that names are unique and can be folders, assets and parts of
// logical ids.
func checkNames(names []string) error {
	var problems []error
	seen := map[string]bool{}
	for _, n := range names {
		if !nameForm.MatchString(n) {
			problems = append(problems, fmt.Errorf("%q is not a function name; use a-z and 0-9, beginning with a letter", n))
		}
		if seen[n] {
			problems = append(problems, fmt.Errorf("two functions are named %q", n))
		}
		seen[n] = true
	}
	return errors.Join(problems...)
}

// checkNeeds finds missing needs, which would otherwise fail only when the function is
// called. Without the secret, callers without credentials would not be limited, because
// their limit counts a keyed hash of the address (api.Call.AddressHash).
func checkNeeds(g api.Group) error {
	if g.Effects() && !g.Needs.Has(app.Table) {
		return fmt.Errorf("group %s has endpoints with an effect, but does not need the table; add app.Table", g.Name)
	}
	if g.Reads|g.Writes != 0 && !g.Needs.Has(app.Table) {
		return fmt.Errorf("group %s reads or writes, but does not need the table; add app.Table", g.Name)
	}
	if g.Needs&(app.Pepper|app.Mail) != 0 && !g.Needs.Has(app.Table) { // the table keeps the hashes, and counts the mails
		return fmt.Errorf("group %s hashes addresses or sends mail, but does not need the table; add app.Table", g.Name)
	}
	for _, e := range g.Endpoints {
		if g.Needs.Has(app.Table) && !g.Needs.Has(app.Secret) && !e.Auth.Needed() && !e.Pure {
			return fmt.Errorf("group %s: %q needs no credentials, so it counts hashed addresses; add app.Secret", g.Name, e.Route)
		}
	}
	return nil
}

// checkBuilt checks that every binary exists and that everybody may run it. For a binary
// built under a strict umask, Lambda would report only a missing permission.
func checkBuilt(assets string, names []string) error {
	const forAll = 0o555
	var missing []string
	for _, n := range names {
		file := filepath.Join(assets, n, "bootstrap")
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() || info.Mode()&forAll != forAll {
			missing = append(missing, file)
		}
	}
	if missing != nil {
		return fmt.Errorf("functions are not built, or not executable by everybody: %s; run `make build`", strings.Join(missing, ", "))
	}
	return nil
}
