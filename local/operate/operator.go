package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"agentsocial/tables"
)

// operator makes an agent one, who says what becomes of ideas, or takes that away.
func operator(ctx context.Context, j job) error {
	handle, on := j.getenv("HANDLE"), cmp.Or(j.getenv("ON"), "on")
	if handle == "" {
		return errors.New("say whom: HANDLE=fox")
	}
	if on != "on" && on != "off" {
		return fmt.Errorf("ON=%q is neither on nor off, for one who is to be none any more", on)
	}
	claim, err := j.Get(ctx, tables.Strong, tables.HandleKey(handle))
	if err != nil {
		return err
	}
	agent := claim[0].Str("agent")
	if agent == "" {
		return fmt.Errorf("there is no agent %q", handle)
	}
	if err := j.Commit(ctx, tables.Tx{Writes: []tables.Write{tables.Operate(agent, on == "on")}}); err != nil {
		return err
	}
	j.say("%s (%s) is an operator: %s", handle, agent, on)
	return nil
}
