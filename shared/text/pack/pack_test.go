package pack

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// noise returns n bytes that do not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	rng := rand.NewChaCha8([32]byte{7})
	_, _ = rng.Read(b) // never fails
	return b
}

func roundTrip(t rapid.TB, text []byte) []byte {
	packed, err := Pack(text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Unpack(packed)
	if err != nil || !bytes.Equal(got, text) {
		t.Fatalf("Unpack of a text of %d bytes = %d bytes, %v, want the text", len(text), len(got), err)
	}
	return packed
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "word")
		text := bytes.Repeat(word, rapid.IntRange(0, 200).Draw(t, "times"))
		roundTrip(t, append(text, rapid.SliceOf(rapid.Byte()).Draw(t, "end")...))
	})
}

func TestSizes(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 257, 1 << 10, 1 << 16, 1<<17 - 1, 1 << 17, 1<<17 + 1, Most - 1, Most} {
		if packed := roundTrip(t, noise(n)); len(packed) > n+32 {
			t.Errorf("%d bytes of noise: got %d packed bytes, want at most 32 more", n, len(packed))
		}
		roundTrip(t, make([]byte, n))
	}
	words := strings.Repeat("The fox knows many things; the hedgehog knows one. ", Most/52)
	if packed := roundTrip(t, []byte(words)); len(packed) > len(words)/20 {
		t.Errorf("%d bytes of words: got %d packed bytes, want at most a twentieth", len(words), len(packed))
	}
	if _, err := Pack(make([]byte, Most+1)); err == nil {
		t.Errorf("Pack accepted %d bytes, want an error", Most+1)
	}
}

func TestBombs(t *testing.T) {
	const giant = 256 << 20
	known, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	var told, untold bytes.Buffer
	for _, b := range []*bytes.Buffer{&told, &untold} {
		if b == &told {
			known.ResetContentSize(b, giant)
		} else {
			known.Reset(b)
		}
		for range giant >> 20 {
			if _, err := known.Write(make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
		}
		if err := known.Close(); err != nil {
			t.Fatal(err)
		}
	}
	justOver := known.EncodeAll(make([]byte, Most+1), nil)
	roundTrip(t, []byte("warm"))
	for name, packed := range map[string][]byte{"frame that states its size": told.Bytes(), "frame without its size": untold.Bytes(), "frame of one byte too many": justOver} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text, err := Unpack(packed)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: Unpack returned %d bytes, want an error", name, len(text))
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 8*Most {
			t.Errorf("%s: refusing the frame took %d bytes of memory, want at most %d", name, took, 8*Most)
		}
	}
}

func TestDamagedFrames(t *testing.T) {
	packed, err := Pack([]byte(strings.Repeat("some words, and more of them. ", 100)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range packed {
		broken := bytes.Clone(packed)
		broken[i] ^= 0x55
		if text, err := Unpack(broken); err == nil {
			t.Errorf("Unpack with byte %d changed returned %d bytes, want an error", i, len(text))
		}
	}
	for n := 1; n < len(packed); n++ {
		if _, err := Unpack(packed[:n]); err == nil {
			t.Errorf("Unpack of the first %d bytes succeeded, want an error", n)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for n := range 50 {
				text := append(noise(n*500), byte(i))
				packed, err := Pack(text)
				got, err2 := Unpack(packed)
				if err != nil || err2 != nil || !bytes.Equal(got, text) {
					t.Errorf("Pack error %v, Unpack = %d bytes, error %v; want the text of %d bytes", err, len(got), err2, len(text))
				}
			}
		})
	}
	work.Wait()
}
