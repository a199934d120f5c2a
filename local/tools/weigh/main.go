// Command weigh compares every function with hello, a Lambda function that only reads an
// item: the size of its zip, and the time from its start to its first poll. It fails if
// either is more than twice hello's, or a zip is above 15 MB. `make weigh` builds all
// functions, and calls it.
//
// The zips are for arm64. The start-ups are of the same programs, built for this machine.
// The fastest of many starts counts, since other load only adds to the time. Of the
// times, only the ratios mean anything.
//
// Also listed is bare: hello without the SDK's config. mcp's zip is 2.05 times bare's: it
// holds nine groups, the MCP SDK and the clients of Stripe and SES.
package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"agentsocial/events"
	"agentsocial/functions"
	lambda "agentsocial/local/engines/lambdas/runtime"
	"agentsocial/shared/app"
)

// zipMost bounds a zip, in bytes.
const zipMost = 15_000_000

// most bounds a function's zip and start-up, as multiples of hello's.
const most = 2.0

const (
	hello  = "hello"
	rounds = 15 // starts of each function before any is judged
	tries  = 4  // times to run the rounds, at most, while a start-up exceeds its bound
)

func main() {
	deployed := flag.String("deployed", "build", "folder of the deployed functions")
	here := flag.String("here", "build/lambdas", "folder of the functions built for this machine")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *deployed, *here); err != nil {
		fmt.Fprintln(os.Stderr, "weigh:", err)
		os.Exit(1)
	}
}

type function struct {
	name, bootstrap string // bootstrap is the program built for this machine
	zip             int    // bytes of the zip
	least, median   time.Duration
	took            []time.Duration
}

func run(ctx context.Context, out io.Writer, deployed, here string) error {
	all := []*function{{name: hello}}
	for _, name := range append([]string{"bare"}, names()...) {
		all = append(all, &function{name: name})
	}
	for _, f := range all {
		var err error
		if f.zip, err = zipped(filepath.Join(deployed, f.name, "bootstrap")); err != nil {
			return err
		}
		f.bootstrap = filepath.Join(here, f.name, "bootstrap")
	}
	for try := 0; try == 0 || try < tries && len(slower(all)) > 0; try++ {
		for range rounds {
			for _, f := range all {
				if err := f.start(ctx); err != nil {
					return err
				}
			}
		}
	}
	print(out, all)
	return verdict(all)
}

func names() (names []string) {
	a := &app.App{}
	for _, g := range functions.Groups(a) {
		names = append(names, g.Name)
	}
	for _, reader := range events.All() {
		names = append(names, reader(a).Name)
	}
	for _, schedule := range append(events.Schedules(), events.Outside()...) {
		names = append(names, schedule(a).Name)
	}
	for _, mail := range events.Mail() {
		names = append(names, mail(a).Name)
	}
	return names
}

// zipped returns the size of a program's zip, as the CDK makes it.
func zipped(bootstrap string) (int, error) {
	program, err := os.ReadFile(bootstrap)
	if err != nil {
		return 0, fmt.Errorf("%w; run `make weigh`", err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("bootstrap")
	if err == nil {
		_, err = w.Write(program)
	}
	err = cmp.Or(err, z.Close())
	return b.Len(), err
}

// environment is a valid environment for every function. What the values name need not
// exist, since no function uses it before its first invocation.
var environment = map[string]string{
	"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none",
	"TABLE": "none", "BASE_URL": "https://service.example", "STAGE": "weigh",
	"SECRET_ARN": "none", "PEPPER_ARN": "none", "PAYMENTS_ARN": "none",
	"MAIL_FROM": "no-reply@service.example", "MAIL_CONFIGURATION_SET": "none",
}

// start starts the function once and notes the time until it polls.
func (f *function) start(ctx context.Context) error {
	p, err := lambda.Start(ctx, lambda.Config{
		Name: f.name, Bootstrap: f.bootstrap, Env: environment, Memory: 512, Timeout: time.Second, Logs: io.Discard,
	})
	if err != nil {
		return err
	}
	p.Stop()
	f.took = append(f.took, p.Init)
	sorted := slices.Sorted(slices.Values(f.took))
	f.least, f.median = sorted[0], sorted[len(sorted)/2]
	return nil
}

// slower returns the functions whose start-up exceeds its bound.
func slower(all []*function) (beyond []*function) {
	for _, f := range all {
		if ratio(f.least, all[0].least) > most {
			beyond = append(beyond, f)
		}
	}
	return beyond
}

func ratio[N int | time.Duration](n, of N) float64 { return float64(n) / float64(of) }

func print(out io.Writer, all []*function) {
	hello := all[0]
	fmt.Fprintf(out, "%-12s %8s %7s %10s %7s %10s\n", "function", "zip MB", "× hello", "start ms", "× hello", "median ms")
	for _, f := range all {
		fmt.Fprintf(out, "%-12s %8.2f %7.2f %10.2f %7.2f %10.2f\n", f.name, float64(f.zip)/1e6, ratio(f.zip, hello.zip),
			ms(f.least), ratio(f.least, hello.least), ms(f.median))
	}
	fmt.Fprintf(out, "\nzip: as deployed, for arm64. start: from exec to the first poll on this machine (%s/%s), the fastest of %d.\n", runtime.GOOS, runtime.GOARCH, len(hello.took))
}

func ms(d time.Duration) float64 { return math.Round(float64(d.Microseconds())) / 1000 }

// verdict returns an error that names every exceeded bound.
func verdict(all []*function) error {
	var problems []string
	hello := all[0]
	for _, f := range all {
		if r := ratio(f.zip, hello.zip); r > most {
			problems = append(problems, fmt.Sprintf("%s: its zip is %.2f times hello's, want at most %g", f.name, r, most))
		}
		if f.zip > zipMost {
			problems = append(problems, fmt.Sprintf("%s: its zip has %d bytes, want at most %d", f.name, f.zip, zipMost))
		}
	}
	for _, f := range slower(all) {
		problems = append(problems, fmt.Sprintf("%s: it takes %.2f times as long to start as hello, want at most %g", f.name, ratio(f.least, hello.least), most))
	}
	if problems != nil {
		return fmt.Errorf("too heavy:\n  %s", strings.Join(problems, "\n  "))
	}
	return nil
}
