package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentsocial/shared/api"
)

func TestReservations(t *testing.T) {
	s := of(t, whole)
	want := map[string]int{ // 1 900 of 2 000 may be reserved
		"feed": 500, "docs": 0, "channels": 475, "mcp": 190, "agents": 95, "dm": 95, "oauth": 76, "access": 57, "ideas": 57, "jury": 57,
		"credits": 38, "promos": 38, "data": 19,
		"inbox": 10, "tally": 10, "deadlines": 10, "settle": 10, "erase": 10, "audit": 10, "probe": 10, "returns": 10,
	}
	if got := slices.Sorted(slices.Values(s.names())); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Fatalf("the functions are %v, want %v", got, slices.Sorted(maps.Keys(want)))
	}
	for name, n := range want {
		_, f := s.function(t, name)
		reserved := strconv.Itoa(n)
		if n == 0 {
			reserved = ""
		}
		f.expect(t, name, map[string]string{"ReservedConcurrentExecutions": reserved})
	}
	production(t, func(t *testing.T, s *service) {
		for _, name := range s.names() {
			_, f := s.function(t, name)
			f.expect(t, name, map[string]string{"ReservedConcurrentExecutions": ""})
		}
	})
}

// An account of any size needs no setting but accountConcurrency.
func TestReservationsByAccount(t *testing.T) {
	d := all()
	for _, g := range d.groups {
		if groupShares[g.Name] == 0 {
			t.Errorf("the group %s has no share; add it to groupShares", g.Name)
		}
	}
	for name := range groupShares {
		if !slices.ContainsFunc(d.groups, func(g api.Group) bool { return g.Name == name }) {
			t.Errorf("groupShares has %s, which is not a group", name)
		}
	}
	for _, account := range []int{0, 10, 100, 999, 1000, 1001, 5000, 100_000} {
		s, err := ReadSettings(map[string]any{"accountConcurrency": float64(account)})
		if err != nil {
			t.Errorf("accountConcurrency %d: got %v, want no error", account, err)
			continue
		}
		sum := s.reservedInAll(d)
		if account < 1000 && sum > 0 {
			t.Errorf("accountConcurrency %d: got %d reserved, want none", account, sum)
		}
		if account >= 1000 && (sum > account-100 || sum < (account-100)*9/10) {
			t.Errorf("accountConcurrency %d: got %d reserved, want 90 to 100 %% of %d", account, sum, account-100)
		}
		for _, g := range d.groups {
			if account >= 1000 && s.ofGroup(g.Name) < 9 {
				t.Errorf("accountConcurrency %d: %s has %d, want at least 9", account, g.Name, s.ofGroup(g.Name))
			}
		}
		if account >= 1000 && s.ofReader() < 36 {
			t.Errorf("accountConcurrency %d: a reader has %d, want at least 36", account, s.ofReader())
		}
	}
}

func TestWarmThroughput(t *testing.T) {
	const warm = `"WarmThroughput":{"ReadUnitsPerSecond":15000,"WriteUnitsPerSecond":5000}`
	s := of(t, whole)
	_, table := s.only(t, "AWS::DynamoDB::Table")
	if n := strings.Count(plain(table.Properties), warm); n != 4 {
		t.Errorf("got the warm throughput %d times in %s, want 4: the table and three indexes", n, plain(table.Properties))
	}
	production(t, func(t *testing.T, s *service) {
		_, table := s.only(t, "AWS::DynamoDB::Table")
		table.expect(t, "table", map[string]string{"WarmThroughput": ""})
	})
}
