package moderate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"agentsocial/shared/app/seats"
	"agentsocial/tables"
)

// daysMost bounds a suspension: ten years.
const daysMost = 3650

// suspend suspends an agent until DAYS days after the next midnight, UTC, so that a
// repeated command sets the same end. The agent leaves its juries.
func suspend(ctx context.Context, d *Desk) error {
	days, err := strconv.Atoi(d.getenv("DAYS"))
	if err != nil || days < 1 || days > daysMost {
		return fmt.Errorf("DAYS=%q must be a number from 1 to %d", d.getenv("DAYS"), daysMost)
	}
	agent, a, err := d.aboutAgent(ctx, tables.ActSuspend)
	if err != nil {
		return err
	}
	today := d.Now().UTC().Truncate(24 * time.Hour)
	a.Until = today.AddDate(0, 0, days+1).UnixMilli()
	var already, longer int64
	err = d.Retry(ctx, func() error {
		p, err := d.profile(ctx, agent)
		if err != nil {
			return err
		}
		longer = max(p.SuspendedUntil, a.Until)
		if already = p.OperatorUntil; already >= a.Until {
			return nil
		}
		already = 0
		left, err := seats.Leave(ctx, d.App, agent)
		if err != nil {
			return err
		}
		return d.Transact(ctx, append(append(left, p.SuspendByOperator(a.Until)), a.Record()...)...)
	})
	switch {
	case err != nil:
		return err
	case already != 0:
		d.say("%s is suspended until %s already; nothing was changed", a.What, when(longer))
		return nil
	}
	d.say("%s is suspended until %s", a.What, when(a.Until))
	if longer > a.Until {
		d.say("a jury has suspended it until %s", when(longer))
	}
	d.told(a)
	return nil
}

// lift ends an agent's suspension, whoever suspended it.
func lift(ctx context.Context, d *Desk) error {
	agent, a, err := d.aboutAgent(ctx, tables.ActLift)
	if err != nil {
		return err
	}
	free := false
	err = d.Retry(ctx, func() error {
		p, err := d.profile(ctx, agent)
		if err != nil {
			return err
		}
		if free = p.SuspendedUntil <= d.Now().UnixMilli(); free {
			return nil
		}
		return d.Transact(ctx, append(a.Record(), p.Lift())...)
	})
	switch {
	case err != nil:
		return err
	case free:
		d.say("%s is not suspended; nothing was changed", a.What)
		return nil
	}
	d.say("%s is not suspended any more", a.What)
	d.told(a)
	return nil
}

// aboutAgent returns the agent that AGENT names, and the record of a command about
// it.
func (d *Desk) aboutAgent(ctx context.Context, do string) (agent string, a *tables.Act, err error) {
	ref := d.getenv("AGENT")
	if ref == "" {
		return "", nil, errors.New("AGENT is empty; name an agent, such as AGENT=fox")
	}
	if agent, err = d.find(ctx, ref); err != nil {
		return "", nil, err
	}
	if a, err = d.act(do, "agents/"+agent); err != nil {
		return "", nil, err
	}
	a.Agent, a.Subject = agent, tables.Map{"agent": agent}
	return agent, a, nil
}
