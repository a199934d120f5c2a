package puzzle

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var (
	report = flag.Bool("report", false, "print how often the best blind guess is right for each kind")
	many   = flag.Int("perkind", 700, "puzzles per kind; more make the shares of -report more precise")
)

// TestNoBlindGuess bounds how often a program that cannot read the question guesses
// right.
func TestNoBlindGuess(t *testing.T) {
	t.Parallel()
	overall := map[string]int{}
	for _, k := range kinds {
		rng := stream(key, "guess:", []byte(k.name))
		right := map[string]int{}
		for range *many {
			p, _ := k.pose(rng)
			right[fmt.Sprint("always ", p.Answer)]++
			for name, guess := range guesses(p.Records) {
				if guess == p.Answer {
					right[name]++
				}
			}
		}
		best := ""
		for name, n := range right {
			overall[name] += n
			if n > right[best] || n == right[best] && name < best {
				best = name
			}
		}
		share := 100 * float64(right[best]) / float64(*many)
		if share > 5 {
			t.Errorf("%s: the guess %q is right in %.1f %%, want at most 5 %%", k.name, best, share)
		}
		if *report {
			fmt.Printf("%-12s %.1f %%  %s\n", k.name, share, best)
		}
	}
	if *report {
		for _, name := range ranked(overall)[:5] {
			fmt.Printf("all kinds    %.2f %%  %s\n", 100*float64(overall[name])/float64(*many*len(kinds)), name)
		}
	}
}

// Guesses are fixed places in the table, or all records that share, or do not share, a
// value of one column.
func TestNoBlindSignup(t *testing.T) {
	t.Parallel()
	for _, d := range descriptions {
		rng := stream(key, "guess:", []byte(d.name))
		right := map[string]int{}
		for range *many {
			s, _ := d.pose(rng)
			at := []int{}
			for i, r := range s.Records {
				if slices.Contains(s.Answer, r.ID) {
					at = append(at, i)
				}
			}
			right[fmt.Sprint("positions ", at)]++
			for _, field := range []string{"agent", "state", "day", "verb", "object", "waits"} {
				for _, op := range []string{"is", "not"} {
					fits := map[string]bool{} // by value: the guess is right
					for _, r := range s.Records {
						if _, tried := fits[r.field(field)]; !tried {
							fits[r.field(field)] = s.Check(having(s.Records, field, op, r.field(field)))
						}
					}
					for value, fit := range fits {
						if fit {
							right[fmt.Sprint("all whose ", field, " ", op, " ", value)]++
						}
					}
					if fits[commonest(s.Records, field)] {
						right[fmt.Sprint("all whose ", field, " ", op, " the commonest")]++
					}
					for i, r := range s.Records {
						if fits[r.field(field)] {
							right[fmt.Sprint("all whose ", field, " ", op, " that of record ", i)]++
						}
					}
				}
			}
		}
		best := ranked(right)[0]
		share := 100 * float64(right[best]) / float64(*many)
		if share > 5 {
			t.Errorf("%s: the guess %q is right in %.1f %%, want at most 5 %%", d.name, best, share)
		}
		if *report {
			fmt.Printf("signup %-12s %.1f %%  %s\n", d.name, share, best)
		}
	}
}

func commonest(recs []Record, field string) (most string) {
	best := 0
	for _, r := range recs {
		n := 0
		for _, other := range recs {
			if other.field(field) == r.field(field) {
				n++
			}
		}
		if n > best {
			best, most = n, r.field(field)
		}
	}
	return most
}

func having(recs []Record, field, op, value string) (ids []string) {
	for _, r := range recs {
		if (r.field(field) == value) == (op == "is") {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

func ranked(count map[string]int) []string {
	var names []string
	for name := range count {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	return names
}

// guesses returns numbers computed from a table without its question.
func guesses(recs []Record) map[string]int64 {
	g := map[string]int64{"count": int64(len(recs)), "pairs": int64(len(recs) * len(recs))}
	columns := map[string][]int64{}
	texts := map[string]bool{}
	for i, r := range recs {
		for name, v := range map[string]int64{
			"hours": int64(r.Hours), "number": r.number(), "waits_for": Record{ID: r.WaitsFor}.number(), "day": int64(weekday[r.Day]),
			"hours of done": only(r, "done"), "hours of failed": only(r, "failed"),
			"hours of running": only(r, "running"), "hours of queued": only(r, "queued"),
		} {
			columns[name] = append(columns[name], v)
			g[name+" at "+strconv.Itoa(i)] = v
			g[name+" at "+strconv.Itoa(len(recs)-i)+" from the end"] = v
		}
		for _, text := range []string{"agent " + r.Agent, "task " + r.Task, "state " + r.State, "day " + r.Day} {
			texts[text] = true
			g["times of "+text]++
			g["hours of "+text] += int64(r.Hours)
		}
	}
	for name, column := range columns {
		slices.Sort(column)
		n := len(column)
		total := int64(0)
		for _, v := range column {
			total += v
		}
		g["sum of "+name], g["60 sums of "+name] = total, 60*total
		g["min of "+name], g["max of "+name] = column[0], column[n-1]
		g["second of "+name], g["median of "+name] = column[n-2], column[n/2]
		g["mean of "+name], g["range of "+name] = total/int64(n), column[n-1]-column[0]
		g["two largest of "+name] = column[n-1] + column[n-2]
		g["ends of "+name] = column[0] + column[n-1]
		g["count by largest of "+name] = int64(n) * column[n-1]
	}
	g["distinct"] = int64(len(texts))
	for _, field := range []string{"agent", "state", "day", "verb", "object", "waits"} {
		common := commonest(recs, field)
		for _, r := range recs {
			if r.field(field) == common {
				g["hours of the commonest "+field] += int64(r.Hours)
			} else {
				g["hours without the commonest "+field] += int64(r.Hours)
			}
		}
	}
	return g
}

func only(r Record, state string) int64 {
	if r.State == state {
		return int64(r.Hours)
	}
	return 0
}
