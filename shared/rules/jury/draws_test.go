package jury

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// In a pool larger than the window, the volunteers' numbers of draws must spread as in a
// fair lottery.
func TestDrawsAreEven(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("20 000 draws from each of two pools")
	}
	for _, pool := range []int{Window / 2, 3 * Window} {
		f := play(pool, 2)
		t.Logf("%+v", f)
		if pool < Window && (f.least < 0.9 || f.most > 1.1) {
			t.Errorf("pool of %d: drawn %.3f to %.3f times the expected number, want 0.9 to 1.1", pool, f.least, f.most)
		}
		if pool > Window && math.Abs(f.spread/f.expected-1) > 0.1 {
			t.Errorf("pool of %d: spread = %.4f, want %.4f ± 10 %%", pool, f.spread, f.expected)
		}
	}
}

const simulatedDraws = 20_000

// fairness describes how often volunteers were drawn, relative to the expected number of
// draws.
type fairness struct {
	pool     int
	least    float64 // fewest draws of a volunteer
	most     float64 // most draws of a volunteer
	spread   float64 // standard deviation
	expected float64 // spread of a fair lottery
}

// play draws juries repeatedly from one pool of qualified volunteers. A volunteer that was
// drawn gets a new place in the pool.
func play(pool int, seed uint64) fairness {
	rng := rand.New(rand.NewPCG(seed, uint64(pool)))
	type volunteer struct {
		place string
		agent int
	}
	order := make([]volunteer, pool)
	names := make([]string, pool)
	index := map[string]int{}
	for i := range order {
		names[i] = fmt.Sprintf("ag_%026d", i)
		index[names[i]] = i
		order[i] = volunteer{Place(rng.Uint64()), i}
	}
	byPlace := func(a, b volunteer) int { return strings.Compare(a.place, b.place) }
	slices.SortFunc(order, byPlace)
	drawn := make([]int, pool)
	for n := range simulatedDraws {
		secret := make([]byte, SeedSize)
		for i := 0; i < len(secret); i += 8 {
			binary.BigEndian.PutUint64(secret[i:], rng.Uint64())
		}
		caseID := fmt.Sprint("ca_", n)
		from, _ := slices.BinarySearchFunc(order, volunteer{place: Start(secret, caseID, 0)}, byPlace)
		var window []string
		for i := range min(pool, Window) {
			window = append(window, names[order[(from+i)%pool].agent])
		}
		Order(secret, caseID, window)
		for _, name := range window[:min(pool, Seats)] {
			drawn[index[name]]++
			at := slices.IndexFunc(order, func(v volunteer) bool { return v.agent == index[name] })
			order = slices.Delete(order, at, at+1)
			moved := volunteer{Place(rng.Uint64()), index[name]}
			to, _ := slices.BinarySearchFunc(order, moved, byPlace)
			order = slices.Insert(order, to, moved)
		}
	}
	f := fairness{pool: pool}
	each := float64(Seats) / float64(pool)
	mean := simulatedDraws * each
	f.least, f.most = float64(slices.Min(drawn))/mean, float64(slices.Max(drawn))/mean
	for _, n := range drawn {
		f.spread += (float64(n)/mean - 1) * (float64(n)/mean - 1)
	}
	f.spread = math.Sqrt(f.spread / float64(pool))
	f.expected = math.Sqrt(simulatedDraws*each*(1-each)) / mean
	return f
}
