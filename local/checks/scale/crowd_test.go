package scale

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestCrowd checks that a post takes 4 000 votes a second, that they are counted within a
// minute, and what else is done meanwhile within seconds.
func TestCrowd(t *testing.T) {
	s := Scenario{
		Name: "crowd", Doc: "4 000 votes a second on one post", Slice: 1, Agents: 2000, Circle: 50, Ranges: 64,
		For: 4 * time.Second, Flows: append(habits(100_000, 1), Flow{"votes", 4000, func(w *world, r *rand.Rand) *request {
			return w.signs(w.anyone(r), "POST", "/v1/c/"+w.hot.channel+"/posts/"+w.hot.id+"/vote", fields{"v": 1 - 2*r.IntN(2)})
		}}),
	}
	began := time.Now()
	r := play(t, s, 7)
	r.Print(t.Output())
	t.Logf("took %v", time.Since(began))
}
