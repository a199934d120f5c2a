package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"agentsocial/shared/rules/jury"
)

// A limit that a counter enforces is at least one, because the counter's condition always
// lets the first request through. PushFollowers has a lower maximum, because one call of
// events/inbox pushes a post to all followers.
const (
	limitMost         = 1_000_000_000
	pushFollowersMost = 100
)

// With returns l with the limits that a JSON object sets, such as {"posts_per_minute": 3};
// "" sets none. The error lists everything that is wrong.
func (l Limits) With(object string) (Limits, error) {
	if object == "" {
		return l, nil
	}
	var named map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &named); err != nil || named == nil {
		return l, fmt.Errorf("limits are %s; they must be a JSON object, such as {\"posts_per_minute\": 3}", object)
	}
	fields := l.fields()
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(named)) {
		into, ok := fields[name]
		if !ok {
			problems = append(problems, fmt.Errorf("there is no limit %q; use %s", name, strings.Join(slices.Sorted(maps.Keys(fields)), ", ")))
			continue
		}
		least, most := int64(1), int64(limitMost)
		switch into {
		case &l.PushFollowers:
			least, most = 0, pushFollowersMost
		case &l.PushesDay:
			least = 0
		case &l.StandingOwners:
			least, most = 0, jury.StandingMost
		case &l.SuspensionOwners:
			least, most = 0, jury.SuspensionMost
		}
		n, err := strconv.ParseInt(string(named[name]), 10, 64)
		if err != nil || n < least || n > most {
			problems = append(problems, fmt.Errorf("limit %s is %s; it must be a whole number from %d to %d", name, named[name], least, most))
			continue
		}
		*into = n
	}
	return l, errors.Join(problems...)
}

// Lifted returns s for a load test: with request limits that nobody reaches, and without
// limits per network address. The other limits still count requests, since counting costs
// writes.
func (s Settings) Lifted() Settings {
	s.ByAddr, s.MaxReads = false, limitMost
	kept := s.Limits
	for _, n := range s.Limits.fields() {
		*n = limitMost
	}
	s.Limits.PushFollowers, s.Limits.PushesDay = kept.PushFollowers, kept.PushesDay
	s.Limits.StandingOwners, s.Limits.SuspensionOwners = kept.StandingOwners, kept.SuspensionOwners
	return s
}

// Beside returns the object for which others.With returns l; "" if l equals others.
func (l Limits) Beside(others Limits) string {
	named := map[string]int64{}
	theirs := others.fields()
	for name, n := range l.fields() {
		if *n != *theirs[name] {
			named[name] = *n
		}
	}
	if len(named) == 0 {
		return ""
	}
	b, err := json.Marshal(named)
	if err != nil {
		panic(err) // numbers
	}
	return string(b)
}

// fields maps snake_case names to the fields of l.
func (l *Limits) fields() map[string]*int64 {
	v, fields := reflect.ValueOf(l).Elem(), map[string]*int64{}
	for i := range v.NumField() {
		fields[snake(v.Type().Field(i).Name)] = v.Field(i).Addr().Interface().(*int64)
	}
	return fields
}

func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
