// Command weigh holds every function against a Lambda function that does nothing
// but read an item (hello, which is written as AWS's documentation does): how large its zip is, and how long it takes from its
// start to its first poll for work. What is more than twice hello, or larger than
// 15 MB, fails. `make weigh` builds them all, and calls it.
//
// Zips are those that are deployed, for arm64. Start-ups are of the same programs
// built for this machine, all by turns, and of each the least of many: what else
// the machine does only ever adds to it. So their ratios can be compared, and
// nothing else: Lambda's 512 MB have 29 % of a processor, and a new environment has
// more to do than to start a program.
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

// zipMost is how large a zip may be, whatever hello's is.
const zipMost = 15_000_000

// most is how many times hello's a function's zip and its start may be.
const most = 2.0

const (
	hello  = "hello"
	rounds = 15 // starts of each, before anything is judged
	tries  = 4  // times as many, while a function is beyond its bound
)

func main() {
	deployed := flag.String("deployed", "build", "folder of the functions as they are deployed")
	here := flag.String("here", "build/lambdas", "folder of the functions as they run here")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *deployed, *here); err != nil {
		fmt.Fprintln(os.Stderr, "weigh:", err)
		os.Exit(1)
	}
}

// function is one that is weighed.
type function struct {
	name, bootstrap string // which runs here
	zip             int    // bytes
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

// names of all functions of the service.
func names() (names []string) {
	a := &app.App{}
	for _, g := range functions.Groups(a) {
		names = append(names, g.Name)
	}
	for _, reader := range events.All() {
		names = append(names, reader(a).Name)
	}
	for _, schedule := range events.Schedules() {
		names = append(names, schedule(a).Name)
	}
	return names
}

// zipped is how many bytes a program has as the CDK packs it.
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

// environment of all functions: each takes what it needs, and calls nobody before
// it is called.
var environment = map[string]string{
	"AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none",
	"TABLE": "none", "BASE_URL": "https://service.example", "STAGE": "weigh",
	"SECRET_ARN": "none", "PEPPER_ARN": "none", "PAYMENTS_ARN": "none",
	"MAIL_FROM": "no-reply@service.example", "MAIL_CONFIGURATION_SET": "none",
}

// start starts the function once and notes how long it took to ask for work.
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

// slower are those that take longer to start than they may.
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
	fmt.Fprintf(out, "\nzip: as it is deployed, for arm64. start: from exec to the first poll, here (%s/%s), the least of %d.\n", runtime.GOOS, runtime.GOARCH, len(hello.took))
}

func ms(d time.Duration) float64 { return math.Round(float64(d.Microseconds())) / 1000 }

// verdict is an error that names all that is beyond its bounds.
func verdict(all []*function) error {
	var problems []string
	hello := all[0]
	for _, f := range all {
		if r := ratio(f.zip, hello.zip); r > most {
			problems = append(problems, fmt.Sprintf("%s: its zip is %.2f times hello's; %g is the most", f.name, r, most))
		}
		if f.zip > zipMost {
			problems = append(problems, fmt.Sprintf("%s: its zip has %d bytes; %d are the most", f.name, f.zip, zipMost))
		}
	}
	for _, f := range slower(all) {
		problems = append(problems, fmt.Sprintf("%s: it takes %.2f times as long to start as hello; %g is the most", f.name, ratio(f.least, hello.least), most))
	}
	if problems != nil {
		return fmt.Errorf("too heavy:\n  %s", strings.Join(problems, "\n  "))
	}
	return nil
}
