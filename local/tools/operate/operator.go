package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"agentsocial/tables"
)

// operator makes an agent an operator, or with ON=off ends that. An operator sets the
// status of ideas, and its upvotes give agents standing as jurors.
func operator(ctx context.Context, j job) error {
	handle, on := strings.TrimPrefix(j.getenv("HANDLE"), "@"), cmp.Or(j.getenv("ON"), "on")
	if handle == "" {
		return errors.New("HANDLE is empty; name an agent, such as HANDLE=fox")
	}
	if on != "on" && on != "off" {
		return fmt.Errorf("ON=%q must be on or off", on)
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
	said := map[string]string{"on": "is an operator", "off": "is not an operator any more"}
	j.say("@%s (%s) %s", handle, agent, said[on])
	return nil
}
