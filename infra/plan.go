package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"agentsocial/shared/api"
	"agentsocial/shared/stream"
)

// plan is what the declarations come to, checked, before anything is built of
// it: constructs throw what they do not like as a panic, without a name.
type plan struct {
	assets  string // folder with one folder per function, each with its bootstrap
	groups  []api.Group
	readers []stream.Function
	routes  []route
}

// maxReaders of a shard: more are throttled (architecture: events).
const maxReaders = 2

var nameForm = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// newPlan checks the declarations and that every function was built.
func newPlan(groups []api.Group, readers []stream.Function, assets string) (*plan, error) {
	routes, err := routesOf(groups)
	problems := []error{err}
	var names []string
	for _, g := range groups {
		names = append(names, g.Name)
		problems = append(problems, checkNeeds(g))
	}
	for _, r := range readers {
		names = append(names, r.Name)
		_, err := patternsOf(r)
		problems = append(problems, err, checkBatch(r))
	}
	if len(readers) > maxReaders {
		problems = append(problems, fmt.Errorf("%d readers of the stream; a shard bears %d", len(readers), maxReaders))
	}
	problems = append(problems, checkNames(names), checkBuilt(assets, names))
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return &plan{assets, groups, readers, routes}, nil
}

// checkNames: a function's name is its folder, its asset and part of logical
// ids, for groups and readers alike.
func checkNames(names []string) error {
	var problems []error
	seen := map[string]bool{}
	for _, n := range names {
		if !nameForm.MatchString(n) {
			problems = append(problems, fmt.Errorf("%q is no name for a function: a-z and 0-9, a letter first", n))
		}
		if seen[n] {
			problems = append(problems, fmt.Errorf("two functions are named %q", n))
		}
		seen[n] = true
	}
	return errors.Join(problems...)
}

// checkNeeds finds what would only fail when it is called. The read limit of a
// caller without credentials counts a keyed hash of the address (api.Call's
// AddressHash): without the secret, nobody would be limited, and only a line
// in the log would say so.
func checkNeeds(g api.Group) error {
	if g.Writes() && !g.Needs.Table {
		return fmt.Errorf("group %s has endpoints with an effect, and Needs.Table is false", g.Name)
	}
	if (g.Needs.Pepper || g.Needs.Mail) && !g.Needs.Table { // hashes are kept, and mails counted
		return fmt.Errorf("group %s hashes addresses or sends mail, and Needs.Table is false", g.Name)
	}
	for _, e := range g.Endpoints {
		if g.Needs.Table && !g.Needs.Secret && !e.Auth.Needed() && !e.Pure {
			return fmt.Errorf("group %s: anybody may call %q, which counts hashed addresses; set Needs.Secret", g.Name, e.Route)
		}
	}
	return nil
}

func checkBuilt(assets string, names []string) error {
	var missing []string
	for _, n := range names {
		file := filepath.Join(assets, n, "bootstrap")
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			missing = append(missing, file)
		}
	}
	if missing != nil {
		return fmt.Errorf("functions are not built: %s; run `make build`", strings.Join(missing, ", "))
	}
	return nil
}
