package bench

import (
	"runtime"
	"testing"
	"time"

	"agentsocial/local/service/self"
)

// fewest is the smallest number of calls from which a time means something.
const fewest = 100

// BenchmarkScenario (`make bench`) times the scenarios without costOnly, and as many calls
// of the bare handler. The metric x-bare is the ratio of their CPU times, which a busy
// machine changes little.
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
			own := cpuOf(b, func(i int) error {
				res, err := w.send(calls[i], s.expected())
				size = len(res.Body)
				return err
			})
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
			name := s.route + " " + s.variant
			ratio := float64(own) / float64(cpuOf(b, func(int) error { _, err := bare.serve(); return err }))
			took[name] = float64(own) / float64(b.N)
			b.ReportMetric(ratio, "x-bare")
			if b.N < fewest {
				return
			}
			verdicts := []Verdict{verdict(ratio*bareMS, 2*cpuMS(s.route, s.variant), "ms on Lambda ("+costPage+" assumes half of the bound)")}
			if s.signed {
				verdicts = append(verdicts, verdict(ratio, max(cpuMost, cpuMore[name]), "times the bare handler's"))
			}
			if plain := took[s.like]; plain > 0 {
				verdicts = append(verdicts, verdict(took[name]/plain, toolMost, "times that of %s", s.like))
			}
			for _, v := range verdicts {
				if v.Got > v.Most {
					b.Logf("OVER BUDGET: it takes %.3g %s, want at most %.3g", v.Got, v.What, v.Most)
				}
			}
		})
	}
}

// cpuOf returns the CPU time of b.N steps, garbage collection included.
func cpuOf(b *testing.B, step func(i int) error) time.Duration {
	runtime.GC() // so that earlier garbage is not counted
	began := self.CPU()
	for i := range b.N {
		if err := step(i); err != nil {
			b.Fatal(err)
		}
	}
	return max(self.CPU()-began, time.Microsecond)
}
