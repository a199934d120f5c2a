package service

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"agentsocial/local/service/durable"
)

// clock is the machine's clock plus an offset. The offset is stored with the data. Without
// it, stored times would be in the future.
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
	if err != nil || ms < 0 || ms > clockMost.Milliseconds() {
		return nil, fmt.Errorf("%s is damaged: got %.40q, want the milliseconds by which the service's clock is ahead of this machine's; "+
			"replace it with an earlier copy, or remove it to go on with this machine's time", c.file, b)
	}
	c.ahead.Store(ms * int64(time.Millisecond))
	return c, nil
}

// Now returns the service's time.
func (c *clock) Now() time.Time { return time.Now().Add(c.lead()) }

// lead returns the offset from the machine's clock.
func (c *clock) lead() time.Duration { return time.Duration(c.ahead.Load()) }

// untilNoon returns the time from t to the next noon, UTC.
func untilNoon(t time.Time) time.Duration {
	const day = 24 * time.Hour
	return t.Add(day / 2).Truncate(day).Add(day / 2).Sub(t)
}

// clockMost bounds how far the clock is ahead.
const clockMost = 10 * advanceMost

// advance moves the clock, once its file has the new offset. Calls must not overlap.
func (c *clock) advance(d time.Duration) error {
	ahead := c.lead() + d
	if ahead > clockMost {
		return errors.New("the clock can be at most a hundred years ahead")
	}
	if c.file != "" {
		if err := durable.Write(c.file, []byte(strconv.FormatInt(ahead.Milliseconds(), 10)+"\n")); err != nil {
			return err
		}
	}
	c.ahead.Store(int64(ahead))
	return nil
}

// advance moves the clock of the service and of its functions. It restarts functions that
// run outside this process, even if the request to move the clock is cancelled meanwhile.
// If a restart fails, the service fails.
func (s *Service) advance(d time.Duration) error {
	s.moving.Lock()
	defer s.moving.Unlock()
	if err := s.clock.advance(d); err != nil {
		return err
	}
	if s.pump != nil {
		s.pump.moved()
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
