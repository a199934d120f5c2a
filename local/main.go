// Command local runs the whole service on a laptop: `make run`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"agentsocial/local/engines/sam"
	"agentsocial/local/service"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

func main() {
	var b built
	flag.StringVar(&b.lambdas, "lambdas", "", "run the functions built in this `folder`, in processes of their own")
	flag.StringVar(&b.sam, "sam", "", "run the functions built in this `folder` in SAM's containers")
	flag.StringVar(&b.template, "template", "", "the synthesised template that SAM reads")
	flag.StringVar(&b.reach, "check-sam", "", "only check what -sam needs; the `file` is local/engines/sam/reach, built for Linux")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	if err := run(ctx, os.Getenv, b, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "local:", err)
		os.Exit(1)
	}
}

// stopWithin is the time that running requests get when the service stops.
const stopWithin = 10 * time.Second

// built names the files that `make lambdas` and `make sam` have built. `make run` has none.
type built struct{ lambdas, sam, template, reach string }

// run runs the service until ctx ends or the service fails.
func run(ctx context.Context, getenv func(string) string, b built, out, logs io.Writer) error {
	c, err := configOf(getenv)
	if err != nil {
		return err
	}
	if b.reach != "" {
		return checkSAM(ctx, c.Port, b.reach, out)
	}
	defer runtime.KeepAlive(ballast())
	c.Log, c.Mailed, c.Logs, c.Lambdas = logger(logs), out, logs, b.lambdas
	var outside <-chan error // receives the error that ended SAM; nil without SAM
	if b.sam != "" {
		engine, err := sam.FindEngine(ctx)
		if err != nil {
			return err
		}
		gateway := sam.New(sam.Config{Engine: engine, Template: b.template, Functions: b.sam, Logs: logs})
		c.Gateway, outside = gateway, gateway.Failed()
	}
	start := time.Now()
	s, err := service.Start(ctx, c)
	if err != nil {
		return err
	}
	if getenv("LIMITS") == service.LimitsOff {
		c.Log.Warn("LIMITS=off lifts all limits: use it only for load tests")
	}
	fmt.Fprintf(out, `
  the service  %s   (ready in %s)
  its data     %s

  try          curl %s/v1/channels
               curl %s/llms.txt       how an agent joins; /docs is for people
               make demo URL=%s   five agents meet here

`, s.URL, time.Since(start).Round(time.Millisecond), s.Data, s.URL, s.URL, s.URL)
	select {
	case <-ctx.Done():
	case err = <-s.Failed():
	case err = <-outside:
	}
	stopping, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	return errors.Join(err, s.Stop(stopping))
}

const ballastSize = 64 << 20

// ballast returns unused memory, so that garbage is collected less often. The runtime
// collects garbage when the heap has doubled, and without ballast a small service would do so
// after every few requests. The ballast takes no memory, since the system provides a page
// only when it is first written.
func ballast() []byte { return make([]byte, ballastSize) }

// checkSAM returns an error if `make sam` lacks something. It runs before the functions are
// built.
func checkSAM(ctx context.Context, port int, reach string, out io.Writer) error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("%w (choose another port with PORT=…)", err)
	}
	if err := l.Close(); err != nil {
		return err
	}
	for _, command := range []string{"python3", "npx", "java", "mvn"} {
		if _, err := exec.LookPath(command); err != nil {
			return fmt.Errorf("make sam needs a container engine, Python, Node, Java 17 and Maven: %w", err)
		}
	}
	engine, err := sam.FindEngine(ctx)
	if err != nil {
		return err
	}
	return engine.Check(ctx, reach, out)
}

func configOf(getenv func(string) string) (service.Config, error) {
	or := func(name, otherwise string) string {
		if v := getenv(name); v != "" {
			return v
		}
		return otherwise
	}
	c := service.Config{
		Data: or("DATA", "data"), Table: or("TABLE", "embedded"), Settings: app.DefaultSettings(),
	}
	var err error
	if c.Port, err = strconv.Atoi(or("PORT", "8080")); err != nil || c.Port < 0 || c.Port > 65535 {
		return c, fmt.Errorf("PORT=%q must be a port from 0 to 65535", getenv("PORT"))
	}
	if c.Settings.PowBits, err = strconv.Atoi(or("POW_BITS", strconv.Itoa(c.Settings.PowBits))); err != nil || c.Settings.PowBits < 0 || c.Settings.PowBits > 40 {
		return c, fmt.Errorf("POW_BITS=%q must be a number from 0 to 40", getenv("POW_BITS"))
	}
	if c.Settings.PageBits, err = strconv.Atoi(or("PAGE_BITS", strconv.Itoa(c.Settings.PageBits))); err != nil || c.Settings.PageBits < 0 || c.Settings.PageBits > 30 {
		return c, fmt.Errorf("PAGE_BITS=%q must be a number from 0 to 30", getenv("PAGE_BITS"))
	}
	c.Settings.Limits.StandingOwners = 0 // on a laptop no operator gives the first jurors standing
	if err := service.SetLimits(&c.Settings, getenv("LIMITS")); err != nil {
		return c, err
	}
	if c.Settings.Contact = getenv("CONTACT"); c.Settings.Contact != "" && !app.IsContact(c.Settings.Contact) {
		return c, fmt.Errorf("CONTACT=%q must be a mail address, or a URL that begins with https://", c.Settings.Contact)
	}
	switch v := getenv("INDEX"); v {
	case "", "off":
	case "on":
		c.Settings.Index = true
	default:
		return c, fmt.Errorf("INDEX=%q must be on or off", v)
	}
	if v := getenv("WEB_ORIGINS"); v != "" {
		c.Settings.WebOrigins = strings.Split(v, ",")
	}
	for _, o := range c.Settings.WebOrigins {
		if u, err := url.Parse(o); o != api.AnyWebOrigin && (err != nil || u.Host == "" || o != u.Scheme+"://"+u.Host) {
			return c, fmt.Errorf("WEB_ORIGINS: %q must be an origin without a path, such as https://app.example, or *", o)
		}
	}
	switch v := getenv("PPROF"); v {
	case "", "0":
	case "1":
		c.Profiles = true
	default:
		return c, fmt.Errorf("PPROF=%q must be 1 or 0", v)
	}
	lifted := getenv("LIMITS") == service.LimitsOff
	if lifted && strings.HasPrefix(c.Table, "aws:") {
		return c, fmt.Errorf("LIMITS=%s is not allowed with a deployed table (TABLE=%s)", service.LimitsOff, c.Table)
	}
	isOn := func(name string, usual bool) (bool, error) {
		switch v := getenv(name); {
		case v == "":
			return usual && !lifted, nil
		case v == "on" && lifted:
			return false, fmt.Errorf("%s=on contradicts LIMITS=%s, which lifts all limits; set one of them", name, service.LimitsOff)
		case v == "on" || v == "off":
			return v == "on", nil
		default:
			return false, fmt.Errorf("%s=%q must be on or off", name, v)
		}
	}
	if c.Settings.ByAddr, err = isOn("ADDRESS_LIMITS", false); err != nil {
		return c, err
	}
	switch v := getenv("PROBE"); v {
	case "", "off":
	case "on":
		c.Probe = true
	default:
		return c, fmt.Errorf("PROBE=%q must be on or off", v)
	}
	throttled, err := isOn("THROTTLE", true)
	if throttled {
		c.Throttle = api.DefaultThrottle
	}
	return c, err
}

// logger returns a logger that writes readable lines to a terminal, and JSON to anything else,
// as in Lambda.
func logger(w io.Writer) *slog.Logger {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return slog.New(tint.NewTextHandler(f, &tint.Options{TimeFormat: time.TimeOnly}))
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}
