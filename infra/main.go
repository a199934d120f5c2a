// Command infra is the CDK app. It turns the declarations of functions and events into a
// CloudFormation template. cdk.json runs it, after the functions have been built. The app
// needs Node, but neither a network nor an account.
//
// The argument is the folder of the functions, by default "build". Three other arguments do
// something else:
//
//   - explain reads the template, and prints what each resource is for;
//   - policies writes the template's policies to build/policies, for `make lint-template`;
//   - preflight asks AWS, and checks what a deployment needs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/events"
	"agentsocial/functions"
	"agentsocial/shared/app"
)

// built is the folder where `make build` writes <name>/bootstrap, relative to the root of
// the project.
const built = "build"

// cloudAssembly is the folder of the template, set in cdk.json.
const cloudAssembly = "cdk.out"

func main() {
	var err error
	switch {
	case len(os.Args) < 2:
		err = synth(built)
	case os.Args[1] == "preflight":
		err = preflight(context.Background(), os.Args[2:], time.Now(), os.Stdout)
	case os.Args[1] == "explain":
		err = explain(os.Stdout, cloudAssembly)
	case os.Args[1] == "policies":
		err = writePolicies(cloudAssembly, filepath.Join(built, "policies"))
	default:
		err = synth(os.Args[1])
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "infra: %v\n", err)
	}
	jsii.Close() // last, since it may print, too
	if err != nil {
		os.Exit(1)
	}
}

func synth(assets string) error {
	a := awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false)})
	context, ok := a.Node().GetAllContext(nil).(map[string]any)
	if !ok {
		return errors.New("the CDK passed no context; run `make synth`")
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

// all returns the declarations of all functions.
func all() declared {
	a := &app.App{}
	d := declared{groups: functions.Groups(a)}
	for _, n := range events.All() {
		d.readers = append(d.readers, n(a))
	}
	for _, n := range slices.Concat(events.Schedules(), events.Outside()) {
		d.schedules = append(d.schedules, n(a))
	}
	for _, n := range events.Mail() {
		d.mail = append(d.mail, n(a))
	}
	return d
}
