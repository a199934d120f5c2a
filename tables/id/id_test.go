package id

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"
)

func TestNew(t *testing.T) {
	at := time.Date(2025, 6, 1, 12, 0, 0, 999_999, time.FixedZone("", 7200))
	got := Post.New(at, bytes.NewReader([]byte{0xff, 0, 1, 2, 3, 4, 5, 6, 7, 8}))
	if want := "po_01jwney480zw0020g30g2gc1r8"; got != want {
		t.Errorf("New: got %q, want %q", got, want)
	}
	if ms, ok := Post.Time(got); !ok || ms != at.UnixMilli() {
		t.Errorf("Time(%q) = %d, %v, want %d", got, ms, ok, at.UnixMilli())
	}
}

func TestKinds_Distinct(t *testing.T) {
	seen := map[Kind]bool{}
	for _, k := range Kinds {
		if seen[k] {
			t.Errorf("%q occurs twice", k)
		}
		seen[k] = true
		s := k.New(time.Unix(1750000000, 0), rand.Reader)
		if got, ok := Of(s); !ok || got != k || !IsID(s) {
			t.Errorf("Of(%q) = %q, %v, IsID = %t; want %q, true, true", s, got, ok, IsID(s), k)
		}
		for _, other := range Kinds {
			if other.Valid(s) != (other == k) {
				t.Errorf("%q.Valid(%q) = %v, want %v", other, s, other.Valid(s), other == k)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	const body = "01j9z3k4m5n6p7q8r9s0t1v2w3"
	if !Post.Valid("po_"+body) || !Post.Valid("po_7"+strings.Repeat("z", 25)) || !Post.Valid("po_"+strings.Repeat("0", 26)) {
		t.Fatal("a valid id is refused")
	}
	for _, s := range []string{
		"", "po", "po_", body, "_" + body, "po" + body, "po-" + body, "po__" + body, " po_" + body, "po_" + body + " ", "po_" + body + "\n",
		"PO_" + body, "po_" + strings.ToUpper(body), "po_01J" + body[3:],
		"po_" + body[1:], "po_" + body + "0",
		"po_8" + body[1:], "po_z" + body[1:], // more than 128 bits
		"po_" + body[:25] + "i", "po_" + body[:25] + "l", "po_" + body[:25] + "o", "po_" + body[:25] + "u", "po_" + body[:25] + "-",
		"po_" + body[:24] + "é", "po_" + body[:25] + "\x00",
		"xx_" + body, "p_" + body, "foo", "me", "ag_fox", "fox_the_second.of-her-name",
	} {
		if Post.Valid(s) || IsID(s) || Seq(s) != 0 {
			t.Errorf("%q was accepted", s)
		}
		if ms, ok := Post.Time(s); ok || ms != 0 {
			t.Errorf("Time(%q) = %d, %v, want 0, false", s, ms, ok)
		}
	}
}

func TestNew_PanicsWithoutRandomness(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("New did not panic without randomness")
		}
	}()
	Post.New(time.Unix(1750000000, 0), bytes.NewReader(nil))
}

func drawID(t *rapid.T, label string, from, to int64) string {
	ms := rapid.Int64Range(from, to).Draw(t, label+" ms")
	entropy := rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(t, label+" entropy")
	return rapid.SampledFrom(Kinds).Draw(t, label+" kind").New(time.UnixMilli(ms), bytes.NewReader(entropy))
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawID(t, "id", 0, int64(ulid.MaxTime()))
		k, ok := Of(s)
		if !ok || len(s) != len(k)+27 || s != strings.ToLower(s) {
			t.Fatalf("Of(%q) = %q, %v, want the kind of a lower-case identifier", s, k, ok)
		}
		if upper := string(k) + "_" + strings.ToUpper(s[len(k)+1:]); upper != s && IsID(upper) {
			t.Fatalf("%q is accepted", upper)
		}
	})
}

func FuzzOf(f *testing.F) {
	f.Add("po_01j9z3k4m5n6p7q8r9s0t1v2w3")
	f.Add("msg_")
	f.Fuzz(func(t *testing.T, s string) {
		if k, ok := Of(s); ok && (len(s) != len(k)+27 || strings.Trim(s[len(k)+1:], "0123456789abcdefghjkmnpqrstvwxyz") != "") {
			t.Errorf("Of(%q) = %q, want none", s, k)
		}
	})
}

func TestLeast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Int64Range(0, 1<<48-1).Draw(t, "at")
		made := rapid.Int64Range(max(0, at-3), min(at+3, 1<<48-1)).Draw(t, "made")
		least, one := Post.Least(at), Post.New(time.UnixMilli(made), rand.Reader)
		if !Post.Valid(least) || (one >= least) != (made >= at) {
			t.Fatalf("got %s made at %d, Least(%d) = %s; want a valid Least, and the order of the times", one, made, at, least)
		}
	})
	if Post.Least(-5) != Post.Least(0) {
		t.Errorf("Least(-5) = %s, want %s", Post.Least(-5), Post.Least(0))
	}
}
