package search

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// noise returns posts of random ideographs, the most expensive posts to index.
func noise(posts, characters int) (docs []Doc) {
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range posts {
		text := make([]rune, characters)
		for j := range text {
			text[j] = rune(0x4e00 + rng.IntN(20_000))
		}
		docs = append(docs, Doc{idAt(start.Add(time.Duration(i)*time.Second), 1), string(text)})
	}
	return docs
}

func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// The test collects garbage very often, so that it measures only the memory that is needed.
func TestSealingIsBounded(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	docs := noise(SealMost.Size(), 4000)
	runtime.GC()
	before, most := heap(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				most = max(most, heap())
			}
		}
	}()
	s, err := Build(t.Context(), SealMost, ID{}, Newest, docs)
	close(stop)
	<-stopped
	must(t, err)
	used := (most - before) >> 20
	t.Logf("building took %d MB, of which %d MB are shards, for %d parts", used, s.Head.Size>>20, len(s.Parts))
	if used > 100 {
		t.Errorf("building took %d MB, want at most 100", used)
	}
	if s.Head.bytes() <= form.merged/form.fanout {
		t.Errorf("16 segments of %d bytes would be merged, want them too large to merge", s.Head.bytes())
	}
}

func TestBuildingEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Build(ctx, 0, ID{}, Newest, noise(1, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("Build with a canceled context = %v, want context.Canceled", err)
	}
}
