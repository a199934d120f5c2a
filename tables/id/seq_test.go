package id

import (
	"bytes"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var century = time.Date(2125, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()

func TestSeq(t *testing.T) {
	entropy := []byte{0xff, 0xff, 1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range []struct {
		ms   int64
		want int64
	}{
		{epoch - 1, 0},
		{epoch, 2047},
		{epoch + 1, 2048 + 2047},
		{century, (century-epoch)<<11 + 2047},
		{1 << 47, maxSeq},
	} {
		if got := Seq(Event.New(time.UnixMilli(c.ms), bytes.NewReader(entropy))); got != c.want {
			t.Errorf("seq at %d: got %d, want %d", c.ms, got, c.want)
		}
	}
	if !time.UnixMilli(epoch).Equal(time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("the epoch is %s, want the start of 2025", time.UnixMilli(epoch).UTC())
	}
}

func TestSeq_RisesWithID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Int64Range(epoch, century).Draw(t, "from")
		to := min(century, from+rapid.SampledFrom([]int64{0, 1, 1000, century}).Draw(t, "span"))
		a, b := drawID(t, "a", from, to), drawID(t, "b", from, to)
		ka, _ := Of(a)
		kb, _ := Of(b)
		if a[len(ka):] > b[len(kb):] {
			a, b = b, a
		}
		if Seq(a) > Seq(b) {
			t.Fatalf("Seq(%s) = %d, want at most Seq(%s) = %d", a, Seq(a), b, Seq(b))
		}
		if Seq(a) < 0 || Seq(b) >= 1<<53 || int64(float64(Seq(b))) != Seq(b) {
			t.Fatalf("Seq of %s and %s: got %d and %d, want integers from 0 to below 2^53", a, b, Seq(a), Seq(b))
		}
	})
}

func TestFrom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawID(t, "id", epoch, century)
		k, _ := Of(s)
		seq := rapid.OneOf(
			rapid.Int64Range(max(0, Seq(s)-2), Seq(s)+2),
			rapid.Int64Range(0, maxSeq),
		).Draw(t, "seq")
		if (Seq(s) < seq) != (s < k.From(seq)) {
			t.Fatalf("Seq(%[1]s) = %[2]d, From(%[3]d) = %[4]s; want %[2]d < %[3]d exactly if %[1]s < %[4]s", s, Seq(s), seq, k.From(seq))
		}
		if got := Seq(k.From(seq)); got != seq {
			t.Fatalf("Seq(From(%d)) = %d, want %d", seq, got, seq)
		}
	})
}

func TestFrom_OutOfRange(t *testing.T) {
	if Event.From(-1) != Event.From(0) || Event.From(1<<62) != Event.From(maxSeq) {
		t.Errorf("From(-1) = %s, From(1<<62) = %s, want %s and %s", Event.From(-1), Event.From(1<<62), Event.From(0), Event.From(maxSeq))
	}
}
