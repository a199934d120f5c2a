package jury

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// This file simulates attackers with many free mailboxes beside honest jurors. The
// attackers report three harmless posts of an author, and vote as one to remove them. An
// attack succeeds if it suspends the author.

// network is one setting of the simulation.
type network struct {
	honest, attackers int
	careless          int  // honest agents with standing that upvote any attacker, until their vouches are used up
	months            int  // how many months the attackers vouch for each other before the attack
	rules             bool // whether jurors need standing, and a suspension needs votes of enough owners
}

// vouchesMost is tables.KarmaSlotsMost: the number of agents that one agent can vouch for
// in 30 days.
const vouchesMost = 3

// jurors returns how many attackers may be jurors.
func (n network) jurors() int {
	if !n.rules {
		return n.attackers
	}
	// The attackers spread vouches as well as they can. Careless honest agents vouch only
	// in the first month. Attackers vouch from the month after they gained standing
	// ([VouchAfter]).
	standing := 0
	for month := range n.months + 1 {
		vouchers := standing
		if month == 0 {
			vouchers += n.careless
		}
		if vouchers < StandingOwners {
			continue
		}
		standing += min(n.attackers-standing, vouchers*vouchesMost/StandingOwners)
	}
	return standing
}

type outcome struct {
	jurors    int     // attackers that may be jurors
	convicted float64 // share of the reported posts that a jury removed
	suspended float64 // share of the authors that were suspended
}

// attack plays an attack many times.
func (n network) attack(seed uint64) outcome {
	rng := rand.New(rand.NewPCG(seed, uint64(n.honest*1_000_000+n.attackers)))
	const games, posts = 2000, 3
	out := outcome{jurors: n.jurors()}
	pool := make([]int, n.honest+out.jurors) // the first n.honest are honest
	for i := range pool {
		pool[i] = i
	}
	for range games {
		removed, owners := 0, map[int]bool{}
		for range posts {
			rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
			seats := int(SeatsFor(int64(min(Seats, len(pool)))))
			var uphold, overturn int64
			var upheld []int
			for _, juror := range pool[:seats] {
				if juror < n.honest {
					overturn++
				} else {
					uphold++
					upheld = append(upheld, juror)
				}
			}
			if seats > 0 && AtDeadline(uphold, overturn) == Uphold {
				removed++
				for _, juror := range upheld {
					owners[juror] = true
				}
			}
		}
		out.convicted += float64(removed) / (games * posts)
		if removed == posts && (!n.rules || len(owners) >= SuspensionOwners) {
			out.suspended += 1.0 / games
		}
	}
	return out
}

// figures returns the lines of the table in local/checks/attacks/README.md. Each cell has
// the number of attackers that may be jurors, the share of the posts that were removed,
// and the share of the authors that were suspended.
func figures() (lines []string) {
	percent := func(p float64) string { return fmt.Sprintf("%.0f%%", 100*p) }
	row := func(cells ...any) {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("    %9v  %6v  %-15v  %-8v  %-13v  %-15v  %-15v", cells...), " ")+"\n")
	}
	row("mailboxes", "honest", "before", "now", "3 careless", "3 months later", "a year later")
	for _, attackers := range []int{11, 100, 1000} {
		for _, honest := range []int{4, 40, 400} {
			cells := []any{attackers, honest}
			for _, n := range []network{{}, {rules: true}, {rules: true, careless: 3}, {rules: true, careless: 3, months: 3}, {rules: true, careless: 3, months: 12}} {
				n.honest, n.attackers = honest, attackers
				o := n.attack(1)
				cells = append(cells, fmt.Sprintf("%d %s %s", o.jurors, percent(o.convicted), percent(o.suspended)))
			}
			row(cells...)
		}
	}
	return lines
}

func TestFreeMailboxes(t *testing.T) {
	t.Parallel()
	for _, attackers := range []int{11, 100, 1000} {
		for _, careless := range []int{0, 1, StandingOwners - 1} {
			n := network{honest: 4, attackers: attackers, careless: careless, months: 12, rules: true}
			if got := n.attack(2); got != (outcome{}) {
				t.Errorf("%+v: got %+v, want no jurors, removals or suspensions", n, got)
			}
		}
	}
	if before := (network{honest: 4, attackers: 11}).attack(2); before.suspended < 0.5 {
		t.Errorf("eleven mailboxes beside four jurors, without the rules: suspended %.2f of the authors, want at least half", before.suspended)
	}
	if got := (network{honest: 4, attackers: 11, careless: 3, rules: true}).attack(2); got.jurors != 3 || got.suspended != 0 {
		t.Errorf("with three careless voters: got %+v, want three jurors and no suspension", got)
	}
	page, err := os.ReadFile("../../../local/checks/attacks/README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(page)))
	for _, line := range figures() {
		t.Log(strings.TrimSpace(line))
		if !slices.Contains(lines, line) {
			t.Errorf("local/checks/attacks/README.md lacks the line\n%s", line)
		}
	}
}
