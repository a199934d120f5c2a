package simulate

import (
	"encoding/json"
	"math/rand/v2"
	"time"
)

// maker makes operations of one kind. make returns nil if the operation is not possible or
// not wanted now, or if make carried it out itself.
type maker struct {
	routes []string // the endpoints with effects that it uses
	weight float64
	likes  []character // characters that do it ten times as often as others
	make   func(w *world, r *rand.Rand, p *person) *op
}

// makers lists all operations. A test checks that each endpoint with an effect has a maker.
var makers = func() []maker {
	var all []maker
	for _, some := range [][]maker{joining, posting, marking, talking, paying, judging, wishing, securing, connecting, attacking, reading, erasing, operating} {
		all = append(all, some...)
	}
	return all
}()

func (w *world) draw(r *rand.Rand) *op {
	for range 20 {
		var p *person
		if len(w.people) > 0 {
			p = w.people[r.IntN(len(w.people))]
		}
		x := r.Float64() * w.weights(p)
		for _, m := range makers {
			if x -= m.of(p); x < 0 {
				if o := m.make(w, r, p); o != nil && (o.by == nil || o.by.endedAt.IsZero()) {
					return o
				}
				break
			}
		}
	}
	return nil
}

func (m *maker) of(p *person) float64 {
	if p != nil {
		for _, c := range m.likes {
			if c == p.as {
				return 10 * m.weight
			}
		}
	}
	return m.weight
}

func (w *world) weights(p *person) (sum float64) {
	for _, m := range makers {
		sum += m.of(p)
	}
	return sum
}

func object(v map[string]any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// somebody returns a random person other than p, or nil.
func (w *world) somebody(r *rand.Rand, p *person) *person {
	if len(w.people) < 2 {
		return nil
	}
	for {
		if q := w.people[r.IntN(len(w.people))]; q != p {
			return q
		}
	}
}

// recent returns a post that is not pending, mostly a new one, or nil.
func (w *world) recent(r *rand.Rand) *posted {
	n := len(w.posts)
	if n == 0 {
		return nil
	}
	if r.IntN(5) > 0 {
		n = min(n, 40)
	}
	for range 10 {
		if x := w.posts[len(w.posts)-1-r.IntN(n)]; !w.pending(x) {
			return x
		}
	}
	return nil
}

// mostPeople bounds the agents of a world. The bound rises for 20 days, so newcomers come
// for that long.
func (w *world) mostPeople() int { return min(20+int(3*time.Since(w.began)/day), 80) }
