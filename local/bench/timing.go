package main

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// Times of a scenario. None is a promise: they are of this machine and this
// run, in which every scenario and the bare handler took turns.
type Times struct {
	P50us    float64 `json:"p50_us"`    // median, microseconds
	P99us    float64 `json:"p99_us"`    // of as many calls as there were rounds
	Ratio    float64 `json:"ratio"`     // median of the rounds' ratios to the bare handler
	CPUus    float64 `json:"cpu_us"`    // the process's CPU time per call, median of blocks; 0: not measured
	CPURatio float64 `json:"cpu_ratio"` // the same of the bare handler's; 0: not measured
	OwnRatio float64 `json:"own_ratio"` // the same without what passed inside the table
}

// subject is a scenario that is timed, beside a bare handler of its own size.
type subject struct {
	Times
	*scenario
	bare *bare
}

// warmUp calls come before anything is measured.
const warmUp = 3

func newSubject(w *world, s *scenario) (*subject, error) {
	sub := &subject{scenario: s}
	for range warmUp {
		c, err := s.prepare()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name(), err)
		}
		res, err := w.send(c, s.expected())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name(), err)
		}
		if sub.bare, err = newBare(c, w.ada.key, len(res.Body)); err != nil {
			return nil, err
		}
		if err := w.tidy(c); err != nil {
			return nil, err
		}
	}
	return sub, nil
}

// measureTimes calls every subject once a round, for about as long as is said.
func measureTimes(w *world, subjects []*subject, e effort) (rounds int, err error) {
	took := make([][]float64, len(subjects)) // microseconds
	ratios := make([][]float64, len(subjects))
	for start := time.Now(); rounds < e.Rounds || time.Since(start) < e.Times; rounds++ {
		for i, s := range subjects {
			c, err := s.prepare()
			if err != nil {
				return rounds, fmt.Errorf("%s: %w", s.name(), err)
			}
			var own, bare time.Duration
			measureOwn := func() error {
				began := time.Now()
				_, err := w.send(c, s.expected())
				own = time.Since(began)
				return err
			}
			measureBare := func() error {
				began := time.Now()
				_, err := s.bare.serve()
				bare = time.Since(began)
				return err
			}
			turns := []func() error{measureOwn, measureBare}
			if rounds%2 == 1 {
				slices.Reverse(turns)
			}
			for _, turn := range turns {
				if err := turn(); err != nil {
					return rounds, err
				}
			}
			if err := w.tidy(c); err != nil {
				return rounds, err
			}
			took[i] = append(took[i], float64(own.Nanoseconds())/1000)
			ratios[i] = append(ratios[i], float64(own)/float64(bare))
		}
	}
	for i, s := range subjects {
		s.P50us, s.P99us, s.Ratio = quantile(took[i], 0.5), quantile(took[i], 0.99), quantile(ratios[i], 0.5)
	}
	return rounds, nil
}

// measureCPU takes the process's CPU time, garbage collection included, for
// blocks of prepared calls on one processor, each followed by a block of the
// bare handler's.
func measureCPU(w *world, subjects []*subject, e effort) (rounds int, err error) {
	if _, ok := cpuTime(); !ok {
		return 0, nil
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	took := make([][]float64, len(subjects))
	ratios, owns := make([][]float64, len(subjects)), make([][]float64, len(subjects))
	for start := time.Now(); rounds < e.Rounds || time.Since(start) < e.CPU; rounds++ {
		for i, s := range subjects {
			if s.alone {
				continue
			}
			calls := make([]call, e.Block)
			for j := range calls {
				if calls[j], err = s.prepare(); err != nil {
					return rounds, fmt.Errorf("%s: %w", s.name(), err)
				}
			}
			w.share.watch(true)
			own, err := e.cpuOf(func(j int) error { _, err := w.send(calls[j], s.expected()); return err })
			if err != nil {
				return rounds, err
			}
			table := w.share.watch(false)
			bare, err := e.cpuOf(func(int) error { _, err := s.bare.serve(); return err })
			if err != nil {
				return rounds, err
			}
			for _, c := range calls {
				if err := w.tidy(c); err != nil {
					return rounds, err
				}
			}
			took[i] = append(took[i], float64(own.Nanoseconds())/1000/float64(e.Block))
			ratios[i] = append(ratios[i], float64(own)/float64(bare))
			owns[i] = append(owns[i], float64(own-table)/float64(bare))
		}
	}
	for i, s := range subjects {
		if !s.alone {
			s.CPUus, s.CPURatio, s.OwnRatio = quantile(took[i], 0.5), quantile(ratios[i], 0.5), quantile(owns[i], 0.5)
		}
	}
	return rounds, nil
}

// cpuOf is the CPU time of a block of steps.
func (e effort) cpuOf(step func(int) error) (time.Duration, error) {
	if e.Clean {
		runtime.GC()
	}
	before, _ := cpuTime()
	for i := range e.Block {
		if err := step(i); err != nil {
			return 0, err
		}
	}
	after, _ := cpuTime()
	return max(after-before, time.Microsecond), nil
}

func quantile(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(q*float64(len(sorted)-1)+0.5)]
}
