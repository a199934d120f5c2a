// Command infra is the CDK app: it turns the declarations of functions and
// events into a CloudFormation template. cdk.json runs it, after the functions
// have been built. It needs Node, and neither a network nor an account.
//
// Plain data first: [ReadSettings] and newPlan check everything that can be
// checked without the CDK, and say what is wrong in a sentence; what remains is
// one loop over each kind of function, in stack.go. Its argument is the folder
// of the functions, "build" if there is none. With the word explain it reads
// what was synthesised instead, and says what each resource is for.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/events"
	"agentsocial/functions"
	"agentsocial/shared/app"
)

// built is where `make build` leaves <name>/bootstrap, seen from the root of the
// project, where the CDK runs the app.
const built = "build"

// cloudAssembly is where the CDK leaves the template, as cdk.json says.
const cloudAssembly = "cdk.out"

func main() {
	var err error
	switch {
	case len(os.Args) < 2:
		err = synth(built)
	case os.Args[1] == "explain":
		err = explain(os.Stdout, cloudAssembly)
	default:
		err = synth(os.Args[1])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "infra: %v\n", err)
	}
	jsii.Close() // after our words: it may have some of its own
	if err != nil {
		os.Exit(1)
	}
}

func synth(assets string) error {
	a := awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false)})
	context, ok := a.Node().GetAllContext(nil).(map[string]any)
	if !ok {
		return errors.New("the CDK has no context")
	}
	settings, err := ReadSettings(context)
	if err != nil {
		return err
	}
	p, err := newPlan(all(), assets)
	if err != nil {
		return err
	}
	newStack(a, settings, p)
	a.Synth(nil)
	return nil
}

// all functions, as they are declared.
func all() declared {
	a := &app.App{}
	d := declared{groups: functions.Groups(a)}
	for _, n := range events.All() {
		d.readers = append(d.readers, n(a))
	}
	for _, n := range events.Schedules() {
		d.schedules = append(d.schedules, n(a))
	}
	return d
}
