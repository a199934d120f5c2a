package search

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestNext(t *testing.T) {
	id := func(n int) ID { return idAt(start.Add(time.Duration(n)*time.Second), 0) }
	seg := func(level Level, after, to int, live bool, at int) Listed {
		h := &Head{Name: Name{Level: level}, To: id(to)}
		if after > 0 {
			h.After = id(after)
		}
		return Listed{h, live, start.Add(time.Duration(at) * time.Second)}
	}
	ids := func(from, to int) (all []ID) {
		for n := from; n <= to; n++ {
			all = append(all, id(n))
		}
		return all
	}
	row := func(level Level, n, size, from int) (all []Listed) {
		for i := range n {
			all = append(all, seg(level, from+i*size, from+(i+1)*size, true, 0))
		}
		return all
	}
	heavy := func(size int, all []Listed) []Listed {
		for _, h := range all {
			h.Size = size
		}
		return all
	}
	merged := form.merged / form.fanout
	for _, test := range []struct {
		name string
		State
		now  int // seconds after start
		want string
		due  int
	}{
		{"nothing", State{}, 1000, "", 0},
		{"15 posts", State{Oldest: ids(1, 15)}, 1000, "", 0},
		{"16 young posts", State{Oldest: ids(1, 16)}, 25, "", 26},
		{"16 posts", State{Oldest: ids(1, 16)}, 26, "build 0 from 0 to 16", 0},
		{"255 posts", State{Oldest: ids(1, 255)}, 265, "build 0 from 0 to 16", 0},
		{"256 posts, one too young", State{Oldest: ids(1, 256)}, 265, "", 266},
		{"256 posts", State{Oldest: ids(1, 256)}, 266, "build 1 from 0 to 256", 0},
		{"256 posts, one too young, behind a small segment", State{Heads: row(0, 1, 16, 0), Oldest: ids(17, 272)}, 281, "build 0 from 16 to 32", 0},
		{"many posts", State{Oldest: ids(1, 4096)}, 5000, "build 1 from 0 to 256", 0},
		{"many posts behind the last level", State{Heads: row(2, 1, 4096, 0), Oldest: ids(4097, 9000)}, 9999, "build 1 from 4096 to 4352", 0},
		{"many posts behind a small segment", State{Heads: row(0, 1, 16, 0), Oldest: ids(17, 5000)}, 9000, "build 0 from 16 to 32", 0},
		{"many posts behind a larger segment", State{Heads: row(1, 1, 256, 0), Oldest: ids(257, 600)}, 9000, "build 1 from 256 to 512", 0},
		{"15 segments", State{Heads: row(0, 15, 16, 0)}, 9000, "", 0},
		{"16 segments", State{Heads: row(0, 16, 16, 0)}, 9000, "build 1 from 0 to 256", 0},
		{"17 segments behind larger ones", State{Heads: append(row(1, 2, 256, 0), row(0, 17, 16, 512)...)}, 9000, "build 1 from 512 to 768", 0},
		{"16 larger segments", State{Heads: heavy(merged, row(1, 16, 256, 0))}, 9000, "build 2 from 0 to 4096", 0},
		{"16 heavy segments", State{Heads: heavy(merged+1, row(1, 16, 256, 0))}, 9000, "", 0},
		{"16 segments behind a heavy one", State{Heads: append(heavy(form.merged+1, row(1, 1, 256, 0)), row(1, 16, 256, 256)...)}, 9000, "build 2 from 256 to 4352", 0},
		{"16 small segments, however heavy", State{Heads: heavy(form.merged, row(0, 16, 16, 0))}, 9000, "build 1 from 0 to 256", 0},
		{"16 larger segments, left to other calls", State{Heads: row(1, 16, 256, 0), Most: SealMost}, 9000, "", 9000},
		{"16 segments of the last level", State{Heads: row(2, 16, 4096, 0)}, 9000, "", 0},
		{"replaced a moment ago", State{Heads: append(row(0, 2, 16, 0), seg(1, 0, 256, true, 9000))}, 9001, "", 9015},
		{"replaced", State{Heads: append(row(0, 2, 16, 0), seg(1, 0, 256, true, 9000))}, 9015, "remove 2", 0},
		{"being written", State{Heads: append(row(0, 2, 16, 0), seg(1, 0, 256, false, 9000))}, 9999, "", 12600},
		{"abandoned", State{Heads: append(row(0, 2, 16, 0), seg(1, 0, 256, false, 9000))}, 12600, "remove 1", 0},
		{"late, too early to tell whether it was missed", State{Heads: row(0, 2, 16, 0), Late: ids(5, 5)}, 14, "", 15},
		{"late, and missed", State{Heads: row(0, 2, 16, 0), Missed: ids(1, 15)}, 9000, "", 0},
		{"too many missed", State{Heads: append(row(0, 2, 16, 0), seg(0, 32, 90, true, 0)), Missed: ids(40, 55)}, 9000, "build 0 from 32 to 90", 0},
		{"too many missed in a segment of the last level", State{Heads: row(2, 1, 4096, 0), Missed: ids(40, 55)}, 9000, "build 2 from 0 to 4096", 0},
		{"too many missed in a segment of the last level, left to other calls", State{Heads: row(2, 1, 4096, 0), Missed: ids(40, 55), Most: SealMost}, 9000, "", 9000},
		{"a segment below a gap in the list", State{Heads: []Listed{seg(0, 64, 80, true, 0), seg(0, 16, 32, true, 0)}}, 9000, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.Most == 0 {
				test.Most = Top
			}
			test.Now = start.Add(time.Duration(test.now) * time.Second)
			step, due, ok := test.Next()
			var got string
			number := func(id ID) int { return max(0, int(id.Time().Sub(start)/time.Second)) }
			switch {
			case ok && step.Build:
				got = strings.TrimSpace(fmt.Sprintln("build", int(step.Level), "from", number(step.After), "to", number(step.To)))
			case ok:
				got = strings.TrimSpace(fmt.Sprintln("remove", len(step.Remove)))
			}
			if got != test.want {
				t.Errorf("Next: got step %q, want %q", got, test.want)
			}
			var want time.Time
			if test.due > 0 {
				want = start.Add(time.Duration(test.due) * time.Second)
			}
			if !due.Equal(want) {
				t.Errorf("Next: got due %s, want %s", due, want)
			}
		})
	}
}

func TestIsLate(t *testing.T) {
	for seconds, want := range map[int]bool{-100: false, 0: false, 4: false, 5: true, 600: true} {
		if got := IsLate(idAt(start, 7), start.Add(time.Duration(seconds)*time.Second)); got != want {
			t.Errorf("IsLate after %d s = %v, want %v", seconds, got, want)
		}
	}
	turns := 0
	for n := range 8000 {
		if IsTurn(idAt(start, uint64(n)*0x9e3779b97f4a7c15)) {
			turns++
		}
	}
	if turns < 900 || turns > 1100 {
		t.Errorf("IsTurn = true for %d of 8000 posts, want 900 to 1100", turns)
	}
}
