package jury

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	seed = bytes.Repeat([]byte{7}, SeedSize)
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// Callers compute these values, too (/docs/jury), so they must not change. The wanted
// values come from openssl dgst -sha256 -mac HMAC -macopt hexkey:0707….
func TestValues(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"commitment", Commitment(seed, "ca_1"), "b9c4f5d3a8163697a9bc32fb14d23ffa76d85c8ed5d9a51699a422056f64e432"},
		{"rank", Rank(seed, "ca_1", "ag_1"), "3d84385b32a75cd06c8d69264a351f84d74ae0d7fcfb0bf9049fa456788fbddd"},
		{"digest", Digest(seed, "ca_1", 12, []string{"ag_2", "ag_1"}), "838829a0134c42030bf29efca27103be5c0d4f885ec3e6066ebdd8e43bab0b81"},
		{"start", Start(seed, "ca_1", 0), "4b2be98b38525e65"},
	} {
		if c.got != c.want {
			t.Errorf("%s = %s, want %s", c.name, c.got, c.want)
		}
	}
}

func candidate(agent, person, domain string) *Candidate {
	return &Candidate{
		Agent: agent, Origin: Origin{person, domain},
		CreatedAt: noon.Add(-AgeLeast).UnixMilli(), ActiveAt: noon.Add(-ActiveIn).UnixMilli(),
	}
}

func TestEligible(t *testing.T) {
	for name, change := range map[string]func(*Candidate){
		"without an origin": func(c *Candidate) { c.Person = "" },
		"a party":           func(c *Candidate) { c.Party = true },
		"late":              func(c *Candidate) { c.Late = true },
		"too young":         func(c *Candidate) { c.CreatedAt++ },
		"idle":              func(c *Candidate) { c.ActiveAt-- },
		"suspended":         func(c *Candidate) { c.SuspendedUntil = noon.UnixMilli() + 1 },
		"throwaway":         func(c *Candidate) { c.Throwaway = true },
		"without standing":  func(c *Candidate) { c.Missing = 1 },
		"busy":              func(c *Candidate) { c.Duties = DutiesMost },
	} {
		c := candidate("ag_1", "fox", "")
		c.SuspendedUntil = noon.UnixMilli() // the suspension just ended
		if !c.Eligible(noon) {
			t.Fatal("the plain candidate is not eligible")
		}
		if change(c); c.Eligible(noon) {
			t.Errorf("Eligible of a candidate (%s) = true, want false", name)
		}
	}
}

func TestDiversity(t *testing.T) {
	b := NewBench(Origin{"author", "acme"}, Origin{"reporter", ""}, Origin{})
	for i, c := range []struct {
		Origin
		seated bool
	}{
		{Origin{"author", "other"}, false}, {Origin{"reporter", ""}, false}, {Origin{"fox", "acme"}, false},
		{Origin{"fox", "den"}, true}, {Origin{"owl", "den"}, false}, {Origin{"fox", ""}, false},
		{Origin{"owl", ""}, true}, {Origin{"elk", ""}, true},
	} {
		if got := b.Seat(candidate("ag", c.Person, c.Domain), noon); got != c.seated {
			t.Errorf("Seat of candidate %d, %v = %v, want %v", i, c.Origin, got, c.seated)
		}
	}
}

func TestBusy(t *testing.T) {
	b := NewBench(Origin{"author", "acme"})
	for i, c := range []struct {
		change func(*Candidate)
		want   bool
	}{
		{func(c *Candidate) { c.Duties = DutiesMost }, true},
		{func(*Candidate) {}, false},
		{func(c *Candidate) { c.Duties, c.Late = DutiesMost, true }, false},
		{func(c *Candidate) { c.Duties, c.Person = DutiesMost, "author" }, false},
		{func(c *Candidate) { c.Duties, c.Domain = DutiesMost, "acme" }, false},
	} {
		v := candidate("ag_1", "fox", "den")
		if c.change(v); b.Busy(v, noon) != c.want {
			t.Errorf("Busy of candidate %d = %v, want %v", i, !c.want, c.want)
		}
	}
}

func TestOrder(t *testing.T) {
	agents := []string{"ag_1", "ag_2", "ag_3", "ag_4", "ag_5", "ag_6", "ag_7", "ag_8"}
	one, two := slices.Clone(agents), slices.Clone(agents)
	slices.Reverse(two)
	Order(seed, "ca_1", one)
	Order(seed, "ca_1", two)
	if !slices.Equal(one, two) || !slices.IsSortedFunc(one, func(a, b string) int {
		return bytes.Compare([]byte(Rank(seed, "ca_1", a)), []byte(Rank(seed, "ca_1", b)))
	}) {
		t.Errorf("got orders %v and %v, want both sorted by rank", one, two)
	}
	if Order(seed, "ca_2", two); slices.Equal(one, two) {
		t.Errorf("got the same order %v for two cases, want different ones", two)
	}
}

func TestSeatsFor(t *testing.T) {
	for jurors, want := range []int64{0, 0, 0, 3, 3, 5, 5} {
		if got := SeatsFor(int64(jurors)); got != want {
			t.Errorf("SeatsFor(%d) = %d, want %d", jurors, got, want)
		}
	}
}

// The test tries every way in which the missing votes may or may not be cast.
func TestSettled(t *testing.T) {
	for _, seats := range []int64{SeatsFew, Seats} {
		for up := range seats + 1 {
			for over := range seats - up + 1 {
				same, first := true, AtDeadline(up, over)
				for moreUp := range seats - up - over + 1 {
					for moreOver := range seats - up - over - moreUp + 1 {
						same = same && AtDeadline(up+moreUp, over+moreOver) == first
					}
				}
				want := ""
				if same {
					want = first
				}
				if got := Settled(seats, up, over); got != want {
					t.Errorf("Settled(%d, %d, %d) = %q, want %q", seats, up, over, got, want)
				}
			}
		}
	}
}

func TestAtDeadline(t *testing.T) {
	for _, c := range []struct {
		up, over int64
		want     string
	}{{0, 0, ""}, {2, 0, ""}, {1, 1, ""}, {2, 1, Uphold}, {1, 2, Overturn}, {2, 2, Overturn}, {3, 1, Uphold}, {3, 2, Uphold}, {0, 3, Overturn}} {
		if got := AtDeadline(c.up, c.over); got != c.want {
			t.Errorf("AtDeadline(%d, %d) = %q, want %q", c.up, c.over, got, c.want)
		}
	}
}

func TestCommitmentsDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Byte(), SeedSize, SeedSize).Draw(t, "a")
		b := rapid.SliceOfN(rapid.Byte(), SeedSize, SeedSize).Draw(t, "b")
		if !bytes.Equal(a, b) && (Commitment(a, "ca_1") == Commitment(b, "ca_1") || Digest(a, "ca_1", 0, nil) == Digest(b, "ca_1", 0, nil)) {
			t.Fatal("two seeds have the same commitment or digest")
		}
	})
}
