package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"agentsocial/infra/awscli"
)

// mapping is Lambda's description of a reader's event source mapping.
type mapping struct{ State, StateTransitionReason string }

func stopReader(ctx context.Context, j job) error { return switchReader(ctx, j, "--no-enabled") }

// startReader lets a reader continue where it stopped.
func startReader(ctx context.Context, j job) error { return switchReader(ctx, j, "--enabled") }

func switchReader(ctx context.Context, j job, option string) error {
	name := j.getenv("NAME")
	r, err := j.stack.Mapping(name)
	if err != nil {
		return err
	}
	var now mapping
	if err := j.Do(ctx, &now, "lambda", "update-event-source-mapping", "--uuid", r.PhysicalResourceId, option); err != nil {
		return err
	}
	j.say("the reader %s of %s is %s", name, j.stack.Name, now.State)
	if option == "--no-enabled" {
		j.say("nothing is lost if you run make start-reader NAME=%s within 24 hours; after more than 12, run make redrive, too", name)
	}
	return nil
}

// stopFunction reserves zero executions for a function, so Lambda refuses its calls.
func stopFunction(ctx context.Context, j job) error {
	name := j.getenv("NAME")
	f, err := j.stack.Function(name)
	if err != nil {
		return err
	}
	if _, err := j.stack.Mapping(name); err == nil {
		return fmt.Errorf("%s is a reader of the stream, and Lambda would try its batches until it gives them up; run make stop-reader NAME=%s", name, name)
	}
	var now struct{ ReservedConcurrentExecutions *int }
	if err := j.Do(ctx, &now, "lambda", "put-function-concurrency", "--function-name", f.PhysicalResourceId, "--reserved-concurrent-executions", "0"); err != nil {
		return err
	}
	if now.ReservedConcurrentExecutions == nil || *now.ReservedConcurrentExecutions != 0 {
		return fmt.Errorf("the stop of %s was not confirmed by Lambda; run make levers", f.PhysicalResourceId)
	}
	j.say("%s of %s no longer runs. make start-function NAME=%s ends this", name, j.stack.Name, name)
	return nil
}

// startFunction restores the reservation of the deployed template.
func startFunction(ctx context.Context, j job) error {
	name := j.getenv("NAME")
	f, err := j.stack.Function(name)
	if err != nil {
		return err
	}
	reserved, err := j.reserved(ctx, f)
	if err != nil {
		return err
	}
	if reserved == nil {
		if err := j.Do(ctx, nil, "lambda", "delete-function-concurrency", "--function-name", f.PhysicalResourceId); err != nil {
			return err
		}
		j.say("%s of %s runs again, without a reservation, as deployed", name, j.stack.Name)
		return nil
	}
	if err := j.Do(ctx, nil, "lambda", "put-function-concurrency", "--function-name", f.PhysicalResourceId, "--reserved-concurrent-executions", fmt.Sprint(*reserved)); err != nil {
		return err
	}
	j.say("%s of %s runs again, with %d executions reserved, as deployed", name, j.stack.Name, *reserved)
	return nil
}

// reserved returns the number of executions that the deployed template reserves; nil if it
// reserves none.
func (j job) reserved(ctx context.Context, f awscli.Resource) (*int, error) {
	var p struct{ ReservedConcurrentExecutions *int }
	err := j.Properties(ctx, j.stack, f, &p)
	return p.ReservedConcurrentExecutions, err
}

// list prints each pulled lever with the command that releases it.
func list(ctx context.Context, j job) error {
	pulled := 0
	say := func(format string, args ...any) { pulled++; j.say(format, args...) }
	g, err := j.gateway(ctx)
	if err != nil {
		return err
	}
	if now, want := g.now.Whole, g.template.Whole; now.Rate != want.Rate || now.Burst != want.Burst {
		say("throttled: %s; as deployed: %s (make unthrottle)", now, want)
	}
	if stopped := g.stopped(); len(stopped) > 0 {
		say("writes are stopped on %d routes (make start-writes)", len(stopped))
	}
	for _, r := range j.stack.All(awscli.TypeMapping) {
		var now mapping
		if err := j.Do(ctx, &now, "lambda", "get-event-source-mapping", "--uuid", r.PhysicalResourceId); err != nil {
			return err
		}
		if name, _, _ := strings.Cut(r.LogicalResourceId, "FunctionMapping"); now.State != "Enabled" {
			say("the reader %s is %s: %s (make start-reader NAME=%s)", name, now.State, cmp.Or(now.StateTransitionReason, "no reason given"), name)
		}
	}
	for _, f := range j.stack.All(awscli.TypeFunction) {
		name := strings.TrimSuffix(f.LogicalResourceId[:max(0, len(f.LogicalResourceId)-8)], "Function")
		var now struct{ ReservedConcurrentExecutions *int }
		if err := j.Do(ctx, &now, "lambda", "get-function-concurrency", "--function-name", f.PhysicalResourceId); err != nil {
			return err
		}
		if now.ReservedConcurrentExecutions != nil && *now.ReservedConcurrentExecutions == 0 {
			say("the function %s is stopped (make start-function NAME=%s)", name, name)
		}
	}
	described, err := j.Describe(ctx, j.stage)
	if err != nil {
		return err
	}
	if set := described.Outputs["MailConfiguration"]; set != "" {
		var now struct{ SendingOptions struct{ SendingEnabled bool } }
		if err := j.Do(ctx, &now, "sesv2", "get-configuration-set", "--configuration-set-name", set); err != nil {
			return err
		}
		if !now.SendingOptions.SendingEnabled {
			say("mail is stopped (make start-mail)")
		}
	}
	if pulled == 0 {
		j.say("no lever of %s is pulled", j.stack.Name)
	}
	return nil
}
