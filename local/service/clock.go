package service

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// clock is the service's: the machine's, moved forward by /_local/clock. How
// far it was moved is kept with the data, whose times would lie in the future
// otherwise.
type clock struct {
	ahead atomic.Int64 // ns
	file  string       // "" in memory
}

func openClock(dir string) (*clock, error) {
	c := &clock{}
	if dir == "" {
		return c, nil
	}
	c.file = filepath.Join(dir, "clock")
	b, err := os.ReadFile(c.file)
	if os.IsNotExist(err) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	ms, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	c.ahead.Store(ms * int64(time.Millisecond))
	return c, err
}

// Now by the service's clock.
func (c *clock) Now() time.Time { return time.Now().Add(c.lead()) }

// lead is how far it is ahead of the machine's.
func (c *clock) lead() time.Duration { return time.Duration(c.ahead.Load()) }

// untilNoon is how long it is from t to the next noon, UTC.
func untilNoon(t time.Time) time.Duration {
	const day = 24 * time.Hour
	return t.Add(day / 2).Truncate(day).Add(day / 2).Sub(t)
}

// advance moves the clock.
func (c *clock) advance(d time.Duration) error {
	ahead := c.ahead.Add(int64(d))
	if ahead > int64(10*advanceMost) {
		c.ahead.Add(-int64(d))
		return errors.New("the clock is a hundred years ahead already")
	}
	if c.file == "" {
		return nil
	}
	return os.WriteFile(c.file, []byte(strconv.FormatInt(ahead/int64(time.Millisecond), 10)+"\n"), 0o600)
}

// advance moves the clock of the service and of its functions. Functions outside
// this process are started anew for it, whoever asked may be gone by then; if they
// do not start, the service has failed.
func (s *Service) advance(d time.Duration) error {
	s.moving.Lock()
	defer s.moving.Unlock()
	if err := s.clock.advance(d); err != nil {
		return err
	}
	if s.lambda != nil {
		s.lambda.Ahead(s.clock.lead())
	}
	if s.outside == nil {
		return nil
	}
	err := s.outside.Start(s.running, s.cloud.ahead(s.clock.lead()))
	if err != nil {
		s.fail(err)
	}
	return err
}
