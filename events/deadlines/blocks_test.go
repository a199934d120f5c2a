package deadlines

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

func (b *fixture) block(by, other string, before time.Duration) {
	b.t.Helper()
	b.do((&tables.Block{Agent: by, Other: other, At: noon.Add(-before).UnixMilli()}).Begin(nil, nil)...)
}

// A volunteer that is put last sits only if the others do not fill the jury.
func TestBlocksPutLast(t *testing.T) {
	for name, test := range map[string]struct {
		block func(b *fixture, all []string)
		fit   []int // the volunteers, of seven, that may sit
	}{
		"none": {func(*fixture, []string) {}, []int{0, 1, 2, 3, 4, 5, 6}},
		"both ways": {func(b *fixture, all []string) {
			b.block(all[1], "ag_author", time.Minute)
			b.block("ag_author", all[3], 3*time.Hour)
		}, []int{0, 2, 4, 5, 6}},
		"after the author wrote": {func(b *fixture, all []string) {
			b.block("ag_author", all[1], 2*time.Hour)
			b.block("ag_author", all[3], time.Minute)
		}, []int{0, 1, 2, 3, 4, 5, 6}},
		"of a reporter": {func(b *fixture, all []string) {
			b.block("ag_reporter", all[1], 30*24*time.Hour)
			b.block(all[3], "ag_reporter", 30*24*time.Hour)
		}, []int{0, 1, 2, 3, 4, 5, 6}},
		"too many": {func(b *fixture, all []string) {
			for i, before := range []time.Duration{5, 7, 4, 6} { // older than the block below; only three count
				b.block("ag_author", fmt.Sprint("ag_else", i), before*time.Hour)
			}
			b.block("ag_author", all[1], 3*time.Hour)
		}, []int{0, 1, 2, 3, 4, 5, 6}},
	} {
		seated := map[string]bool{}
		var all []string
		for range 16 {
			b, _ := newFixture(t)
			all = b.volunteers(7)
			// These three make ten volunteers, so that two may be put last.
			for range 3 {
				twin := b.volunteer(nil)
				b.do(tables.Change(tables.OriginKey(twin.Agent), tables.SetAttr("person", "person 1")))
			}
			test.block(b, all)
			b.opens(nil)
			c, _ := b.sweeps()
			if len(c.Jurors) != jury.Seats {
				t.Fatalf("%s: got %d jurors, want %d", name, len(c.Jurors), jury.Seats)
			}
			for _, a := range c.Jurors {
				seated[a] = true
			}
		}
		for i, a := range all {
			if i == 0 { // one of its twins may sit instead
				continue
			}
			if fits := slices.Contains(test.fit, i); !fits && seated[a] || len(test.fit) == 7 && !seated[a] {
				t.Errorf("%s: volunteer %d in any of 16 juries: got %t, want %t", name, i, seated[a], fits)
			}
		}
	}
}

// A draw lists its jurors in the seed's order, so that it does not show who was put last.
func TestBlocksAreNoVeto(t *testing.T) {
	for range 10 {
		b, _ := newFixture(t)
		all := b.volunteers(5)
		for _, a := range all[:3] {
			b.block("ag_author", a, 24*time.Hour)
		}
		b.block(all[3], "ag_author", 24*time.Hour)
		b.block(all[4], "ag_reporter", 24*time.Hour)
		b.opens(nil)
		c, draws := b.sweeps()
		if !slices.Equal(sorted(c.Jurors...), all) || len(draws) != 1 || draws[0].Digest != jury.Digest(c.Seed, c.ID, 0, draws[0].Jurors) {
			t.Fatalf("got jurors %v by draws %+v, want %v by one draw with its digest", c.Jurors, draws, all)
		}
		order := slices.Clone(all)
		if jury.Order(c.Seed, c.ID, order); !slices.Equal(draws[0].Jurors, order) {
			t.Errorf("order of the draw: got %v, want %v", draws[0].Jurors, order)
		}
	}
}

// Volunteers put last come after all others of both windows.
func TestLastAfterTheSecondWindow(t *testing.T) {
	for second, want := range [][]int{{5, 0}, {4, 1}} { // jurors from each window, by how many are eligible in the second
		b, _ := newFixture(t)
		for range 300 {
			b.volunteer(func(_ *tables.Profile, k *tables.Counters, _ *tables.Juror) { k.Duties = jury.DutiesMost })
		}
		c := &tables.Case{ID: "ca_1"}
		var one, two []string // the first window; the second without the first
		for try := 0; len(two) < 5; try++ {
			if try == 100 {
				t.Fatal("no seed gives two different windows")
			}
			c.Seed = []byte(b.Random(20))
			var windows [2][]string
			for i := range windows {
				var err error
				if windows[i], err = b.window(t.Context(), &tables.Case{ID: c.ID, Seed: c.Seed, Windows: int64(i)}); err != nil {
					t.Fatal(err)
				}
			}
			one, two = windows[0], slices.DeleteFunc(windows[1], func(a string) bool { return slices.Contains(windows[0], a) })
		}
		jury.Order(c.Seed, c.ID, one)
		for _, a := range slices.Concat(one[:5], two[:second]) {
			b.do(tables.Change(tables.CountersKey(a), tables.SetAttr("duties", int64(0))))
		}
		b.block(one[0], "ag_author", time.Hour)
		b.opens(func(is *tables.Case) { is.Seed = c.Seed })
		c, draws := b.sweeps()
		var sit []int
		for _, d := range draws {
			sit = append(sit, len(d.Jurors))
		}
		if !slices.Equal(sit, slices.DeleteFunc(want, func(n int) bool { return n == 0 })) || c.Jurors.Has(one[0]) != (second == 0) || second == 0 && draws[0].Jurors[0] != one[0] {
			t.Errorf("%d eligible in the second window: got draws %+v, want %v jurors by window, and %s %s", second, draws, want, one[0], []string{"first", "not seated"}[second])
		}
	}
}

func TestHatedAuthors(t *testing.T) {
	b, _ := newFixture(t)
	h, err := b.hear(t.Context(), b.opens(nil))
	if err != nil {
		t.Fatal(err)
	}
	all := b.volunteers(lookAt)
	for _, a := range all[2:] {
		b.block(a, "ag_author", 24*time.Hour)
	}
	for n, want := range map[int]int{0: 0, 3: 0, 4: 0, 5: 1, 9: 1, 10: 2} {
		list, err := b.candidates(t.Context(), h, all[:n])
		if err != nil {
			t.Fatal(err)
		}
		first, last, err := b.recuse(t.Context(), h, list)
		if err != nil || len(last) != want || len(first) != n-want {
			t.Errorf("%d volunteers: got %d put last and %d others, want %d and %d; error %v", n, len(last), len(first), want, n-want, err)
		}
	}
}

func TestHonouredBlocks(t *testing.T) {
	for _, test := range []struct {
		at   []int64 // when agents 0, 1 and so on were blocked
		want []string
	}{
		{nil, nil}, {[]int64{99, 100, 101}, []string{"0"}}, {[]int64{5, 7, 4, 6}, []string{"2", "0", "3"}}, {[]int64{100, 3}, []string{"1"}},
	} {
		var blocks []tables.Item
		for i, at := range test.at {
			blocks = append(blocks, tables.Item{"other": fmt.Sprint(i), "at": at})
		}
		if got := honoured(blocks, 100); !slices.Equal(got, test.want) {
			t.Errorf("honoured(%v): got %v, want %v", test.at, got, test.want)
		}
	}
}
