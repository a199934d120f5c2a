package main

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// played runs a schedule, and returns when each request was due and sent.
func played(s schedule, send func(i int)) (due, sent map[int]time.Duration, left int) {
	var mu sync.Mutex
	due, sent = map[int]time.Duration{}, map[int]time.Duration{}
	begun := time.Now()
	left = s.run(context.Background(), func(i int, at time.Time) {
		mu.Lock()
		due[i], sent[i] = at.Sub(begun), time.Since(begun)
		mu.Unlock()
		send(i)
	})
	return due, sent, left
}

func TestScheduleOfAStalledServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedule{rate: 100, n: 500, underway: 1000}
		begun := time.Now()
		stall := begun.Add(time.Second)
		over := stall.Add(2 * time.Second)
		var mu sync.Mutex
		var took []time.Duration
		due, sent, left := played(s, func(i int) {
			at := time.Now()
			if at.Before(stall) || !at.Before(over) {
				time.Sleep(time.Millisecond)
			} else {
				time.Sleep(over.Sub(at))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, time.Since(begun.Add(s.due(i))))
		})
		if left != 0 || len(sent) != s.n {
			t.Fatalf("stalled server: got %d requests sent and %d left out, want all %d sent", len(sent), left, s.n)
		}
		for i := range s.n {
			if want := time.Duration(i) * 10 * time.Millisecond; due[i] != want || sent[i] != want {
				t.Fatalf("request %d: got due at %s and sent at %s, want both at %s", i, due[i], sent[i], want)
			}
		}
		slices.Sort(took)
		// 200 of 500 came during the stall and waited 2 s, 1.99 s, … 10 ms.
		if got := took[s.n-1]; got != 2*time.Second {
			t.Errorf("slowest request: got %s, want 2 s", got)
		}
		if got := took[s.n*4/5]; got != 1010*time.Millisecond {
			t.Errorf("80th percentile: got %s, want 1.01 s", got)
		}
		if got := took[s.n/2]; got != time.Millisecond {
			t.Errorf("median: got %s, want 1 ms", got)
		}
	})
}

func TestScheduleIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		due, sent, left := played(schedule{rate: 10, n: 100, underway: 20}, func(int) { time.Sleep(4050 * time.Millisecond) })
		if len(sent)+left != 100 || left != 42 { // 20 are sent, then 21 left out, and so on
			t.Errorf("slow server: got %d requests sent and %d left out, want 58 and 42", len(sent), left)
		}
		for i := range sent {
			if sent[i] != due[i] {
				t.Errorf("request %d: got sent at %s, want %s", i, sent[i], due[i])
			}
		}
	})
}

func TestScheduleEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 1050*time.Millisecond)
		defer cancel()
		sent := 0
		left := schedule{rate: 10, n: 100, underway: 1}.run(ctx, func(int, time.Time) { sent++ })
		if sent != 11 || left != 0 {
			t.Errorf("stopped schedule: got %d requests sent and %d left out, want 11 and 0", sent, left)
		}
	})
}

func TestLimitsOfAService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate = 50
		for own, want := range map[bool]time.Duration{true: 0, false: time.Second} {
			l, begun := config{rate: rate, own: own}.limits(), time.Now()
			for range 2 * rate {
				if err := l.wait(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if got := time.Since(begun); got != want {
				t.Errorf("own=%t: got %[3]s for %[2]d requests, want %[4]s", own, 2*rate, got, want)
			}
		}
	})
}

func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, n = 7, 100
		l := newLimiter(rate)
		var mu sync.Mutex
		var begun []time.Time
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				time.Sleep(time.Duration(i*i) * time.Millisecond)
				if err := l.wait(t.Context()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				begun = append(begun, time.Now())
			})
		}
		all.Wait()
		slices.SortFunc(begun, time.Time.Compare)
		for i := rate; i < n; i++ {
			if d := begun[i].Sub(begun[i-rate]); d < time.Second {
				t.Fatalf("limiter: got %d requests within %s, want at most %d in a second", rate+1, d, rate)
			}
		}
		if took := begun[n-1].Sub(begun[0]); took > 15*time.Second {
			t.Errorf("limiter: got %[2]s for %[1]d requests, want at most 15 s", n, took)
		}
	})
}
