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
	report = flag.Bool("report", false, "print how often the best blind guess is right, per kind")
	many   = flag.Int("perkind", 700, "puzzles per kind; with more of them the shares of -report are sharper")
)

// TestNoBlindGuess: whoever does not read the question and answers with a
// constant, a statistic of a column or a field of a fixed record is right in
// less than 5 % of the puzzles, in every kind.
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
			t.Errorf("%s: %q is right in %.1f %%", k.name, best, share)
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
			tried, w := map[string]bool{}, worldOf(s.Records)
			for _, field := range []string{"agent", "state", "day", "verb", "object", "waits"} {
				for _, r := range s.Records {
					c := cond{field: field, op: "is", value: r.field(field)}
					name := "all with " + field + " " + c.value
					if tried[name] {
						continue
					}
					tried[name] = true
					if s.Check(w.all(c)) {
						right[name]++
					}
				}
			}
		}
		best := ranked(right)[0]
		share := 100 * float64(right[best]) / float64(*many)
		if share > 5 {
			t.Errorf("%s: %q is right in %.1f %%", d.name, best, share)
		}
		if *report {
			fmt.Printf("signup %-12s %.1f %%  %s\n", d.name, share, best)
		}
	}
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

// guesses is what can be computed from a table without a question.
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
			g[name+" from the end at "+strconv.Itoa(len(recs)-i)] = v
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
	return g
}

func only(r Record, state string) int64 {
	if r.State == state {
		return int64(r.Hours)
	}
	return 0
}
