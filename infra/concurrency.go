package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// In a large account each group and each reader has a reservation. Then a flood of requests
// to one group cannot take the executions that other functions need. A function gets no
// more than its reservation. By default the other functions share what is left.

const (
	// unreservedLeast is the number of executions that must stay unreserved in an account.
	unreservedLeast = 100

	// largeAccount is the concurrency from which groups and readers have reservations by
	// default. It is what AWS gives an account that is no longer new.
	largeAccount = 1000

	// readerShare is each stream reader's percentage of what may be reserved. In a large
	// account it is at least 36 executions, one for each of 36 shards.
	readerShare = 4
)

// groupShares has each group's default percentage of what may be reserved. Groups and
// readers together leave some executions for the other functions.
var groupShares = map[string]int{
	"channels": 25, "feed": 20, "mcp": 10, "agents": 5, "dm": 5, "oauth": 4,
	"access": 3, "docs": 3, "ideas": 3, "jury": 3, "credits": 2, "promos": 2, "data": 1,
}

// share returns this percentage of what may be reserved; 0 in an account that is small or
// of unknown size.
func (s Settings) share(percent int) int {
	if s.AccountConcurrency < largeAccount {
		return 0
	}
	return (s.AccountConcurrency - unreservedLeast) * percent / 100
}

// ofGroup returns the executions that are reserved for a group; 0 for none.
func (s Settings) ofGroup(name string) int {
	if n, set := s.ownConcurrency()[name]; set {
		return n
	}
	return s.share(groupShares[name])
}

// ofReader returns the executions that are reserved for each reader of the stream.
func (s Settings) ofReader() int {
	if s.Reserved > 0 {
		return s.Reserved
	}
	return s.share(readerShare)
}

// reservation returns the executions that are reserved for a function; 0 for none.
func (s Settings) reservation(f function) int {
	switch {
	case f.Waited:
		return s.ofGroup(f.Name)
	case f.Reader:
		return s.ofReader()
	}
	return s.Reserved
}

// ownConcurrency returns the reservations that the setting groupConcurrency has.
func (s Settings) ownConcurrency() map[string]int {
	own := map[string]int{}
	if s.GroupConcurrency != "" {
		if err := json.Unmarshal([]byte(s.GroupConcurrency), &own); err != nil {
			panic(err) // the setting was checked
		}
	}
	return own
}

func (s Settings) reservedInAll(d declared) (sum int) {
	for _, g := range d.groups {
		sum += s.ofGroup(g.Name)
	}
	return sum + len(d.readers)*s.ofReader() + (len(d.schedules)+len(d.mail))*s.Reserved
}

// reservations reads the reservations of groups, an object that maps names to numbers.
func reservations(name string, into *string) setting {
	const want = `an object such as {"feed": 200}`
	return setting{name, want, func(v any) error {
		object, ok := objectText(v)
		if !ok {
			return wrong(name, v, want)
		}
		if object == "" {
			*into = ""
			return nil
		}
		var named map[string]json.RawMessage
		if err := json.Unmarshal([]byte(object), &named); err != nil || named == nil {
			return wrong(name, v, want)
		}
		for _, group := range slices.Sorted(maps.Keys(named)) {
			if _, ok := groupShares[group]; !ok {
				return fmt.Errorf("setting %s is %s; there is no group %q, use %s", name, object, group, strings.Join(slices.Sorted(maps.Keys(groupShares)), ", "))
			}
			if n, err := strconv.Atoi(string(named[group])); err != nil || n < 0 || n > concurrencyMost {
				return fmt.Errorf("setting %s is %s; %s must be a whole number from 0 to %d", name, object, group, concurrencyMost)
			}
		}
		*into = ""
		if len(named) > 0 {
			b, err := json.Marshal(named)
			if err != nil {
				return wrong(name, v, want)
			}
			*into = string(b)
		}
		return nil
	}}
}
