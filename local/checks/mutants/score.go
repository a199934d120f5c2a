package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

// Percent of mutants that must be noticed.
const (
	leastOfRules  = 90
	leastOfMoney  = 95
	leastOfWrites = 100
)

// money lists what decides about money and juries: folders, and files of package tables.
var money = []string{
	"functions/credits", "functions/promos", "functions/jury", "events/settle", "events/audit", "events/deadlines",
	"shared/rules", "tables/ledger.go", "tables/checkout.go", "tables/promo.go", "tables/board.go", "tables/impression.go",
	"tables/case.go", "tables/seat.go", "tables/juror.go", "tables/duty.go", "tables/report.go", "tables/appeal.go",
	"tables/upheld.go",
}

// writes lists the kinds that are counted for all packages together.
var writes = []Kind{Condition, Item, Attribute}

// row returns the printed table's row that counts a mutant, and the percentage that the row
// must reach.
func (m Mutant) row() (name string, least float64) {
	folder := path.Dir(m.File)
	switch {
	case slices.Contains(writes, m.Kind):
		return "writes", leastOfWrites
	case slices.Contains(money, m.File):
		return folder + ", money and juries", leastOfMoney
	case slices.ContainsFunc(money, func(f string) bool { return folder == f || strings.HasPrefix(folder, f+"/") }):
		return folder, leastOfMoney
	}
	return folder, leastOfRules
}

type score struct{ noticed, all int }

func (s score) String() string {
	if s.all == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.noticed, s.all)
}

func (s score) percent() float64 {
	if s.all == 0 {
		return 100
	}
	return 100 * float64(s.noticed) / float64(s.all)
}

// tell prints what noticed each mutant, and the scores by package and kind. It fails if
// a score is too small.
func tell(out io.Writer, all []Mutant, noticed map[string]Notice, equivalent map[string]string) error {
	type cell struct {
		row  string
		kind Kind
	}
	scores, rows := map[cell]score{}, map[string]score{}
	leasts := map[string]float64{}
	var kinds []Kind
	fmt.Fprintf(out, "\n%-34s %-16s %-10s %-60s %s\n", "place", "function", "kind", "what", "noticed by")
	for _, m := range all {
		by := noticed[m.Name()].Test
		row, least := m.row()
		switch why := equivalent[m.Name()]; {
		case why != "":
			by = "left out: " + why
		default:
			c, r := scores[cell{row, m.Kind}], rows[row]
			c.all, r.all = c.all+1, r.all+1
			if by == "" {
				by = "NOT NOTICED"
			} else {
				c.noticed, r.noticed = c.noticed+1, r.noticed+1
			}
			scores[cell{row, m.Kind}], rows[row], leasts[row] = c, r, least
			if !slices.Contains(kinds, m.Kind) {
				kinds = append(kinds, m.Kind)
			}
		}
		fmt.Fprintf(out, "%-34s %-16s %-10s %-60s %s\n", fmt.Sprintf("%s:%d", m.File, m.Line), m.Func, m.Kind, m.Text, by)
	}
	slices.SortFunc(kinds, func(a, b Kind) int { return slices.Index(everyKind, a) - slices.Index(everyKind, b) })

	fmt.Fprintf(out, "\nnoticed / all\n%-28s", "")
	for _, k := range kinds {
		fmt.Fprintf(out, " %10s", k)
	}
	fmt.Fprintf(out, " %10s\n", "all")
	var failed []error
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		fmt.Fprintf(out, "%-28s", row)
		for _, k := range kinds {
			fmt.Fprintf(out, " %10s", scores[cell{row, k}])
		}
		fmt.Fprintf(out, " %10s %5.1f %%\n", rows[row], rows[row].percent())
		if got := rows[row].percent(); got < leasts[row] {
			failed = append(failed, fmt.Errorf("%s: %.1f %% of mutants are noticed, want at least %.0f", row, got, leasts[row]))
		}
	}
	return errors.Join(failed...)
}
