package bench

import (
	"testing"
	"time"
)

// fewest is how many calls tell something of a time.
const fewest = 100

// BenchmarkScenario times each scenario's call and the same number of calls of the
// bare handler: `make bench`. The metric x-bare is the ratio of the two. It fails if a
// ratio is over its budget.
func BenchmarkScenario(b *testing.B) {
	w, list, err := staged(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer w.close()
	took := map[string]float64{} // by route and variant
	for i := range list {
		s := &list[i]
		if s.costOnly {
			continue
		}
		b.Run(s.name(), func(b *testing.B) {
			calls := make([]call, b.N)
			for j := range calls {
				if calls[j], err = s.prepare(); err != nil {
					b.Fatal(err)
				}
			}
			size := 0
			b.ReportAllocs()
			b.ResetTimer()
			for _, c := range calls {
				res, err := w.send(c, s.expected())
				if err != nil {
					b.Fatal(err)
				}
				size = len(res.Body)
			}
			b.StopTimer()
			for _, c := range calls {
				if err := w.tidy(c); err != nil {
					b.Fatal(err)
				}
			}
			bare, err := newBare(calls[0], w.ada.key, size)
			if err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			for range b.N {
				if _, err := bare.serve(); err != nil {
					b.Fatal(err)
				}
			}
			name := s.route + " " + s.variant
			ratio := float64(b.Elapsed()) / float64(time.Since(began))
			took[name] = float64(b.Elapsed()) / float64(b.N)
			b.ReportMetric(ratio, "x-bare")
			if b.N < fewest {
				return
			}
			verdicts := []Verdict{verdict(ratio*bareMS, 2*cpuMS(s.route, s.variant), "ms, by what "+costPage+" has")}
			if s.signed {
				verdicts = append(verdicts, verdict(ratio, max(cpuMost, cpuMore[name]), "times the bare handler's"))
			}
			if plain := took[s.like]; plain > 0 {
				verdicts = append(verdicts, verdict(took[name]/plain, toolMost, "times that of %s", s.like))
			}
			for _, v := range verdicts {
				if v.Got > v.Most {
					b.Errorf("it takes %.3g %s, at most %.3g", v.Got, v.What, v.Most)
				}
			}
		})
	}
}
