// Command load sends requests at a steady rate, and measures how long they take:
// `make load RATE=50 SECONDS=30`.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"agentsocial/local/service"
	"agentsocial/local/service/runner"
	"agentsocial/shared/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Getenv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

type config struct {
	rate, seconds, agents int
	url                   string
	own                   bool // whether the run starts the service
	binary                string
	keys                  string // a folder of agents' keys; "": register new agents
}

// Bounds of a run.
const (
	rateMost     = 5000
	secondsMost  = 24 * 3600
	agentsMost   = 10_000
	answerWithin = 10 * time.Second // for one request
	underway     = 2000             // requests at a time
)

func configOf(getenv func(string) string) (c config, err error) {
	number := func(name string, usual, least, most int) (n int) {
		v := getenv(name)
		if n = usual; v == "" {
			return n
		}
		var wrong error
		if n, wrong = strconv.Atoi(v); wrong != nil || n < least || n > most {
			err = errors.Join(err, fmt.Errorf("%s=%q must be a number from %d to %d", name, v, least, most))
		}
		return n
	}
	c = config{
		rate: number("RATE", 50, 1, rateMost), seconds: number("SECONDS", 30, 1, secondsMost), agents: number("AGENTS", 50, 2, agentsMost),
		url: getenv("URL"), keys: getenv("KEYS"), binary: getenv("SERVICE"),
	}
	c.own = c.url == ""
	switch remote := getenv("REMOTE"); {
	case remote != "" && remote != "yes" && remote != "no":
		err = errors.Join(err, fmt.Errorf("REMOTE=%q must be yes or no", remote))
	case !c.own && remote != "yes" && !isLoopback(c.url):
		err = errors.Join(err, fmt.Errorf("URL=%s is not on this machine; set REMOTE=yes if you may send it load", c.url))
	case c.own && c.binary == "":
		err = errors.Join(err, errors.New("use make load, which builds the service"))
	}
	return c, err
}

// isLoopback reports whether a URL's host is localhost or a loopback address. It resolves no
// names.
func isLoopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func run(ctx context.Context, getenv func(string) string, out io.Writer) (err error) {
	c, err := configOf(getenv)
	if err != nil {
		return err
	}
	if c.own {
		own, err := startService(ctx, c.binary)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, own.stop()) }()
		c.url = own.url
	}
	transport := &paced{
		limits: c.limits(),
		next:   &http.Transport{MaxIdleConnsPerHost: underway, MaxIdleConns: underway, Proxy: http.ProxyFromEnvironment},
	}
	defer transport.next.CloseIdleConnections() // a service that stops waits for open connections
	api, err := client.New(c.url, client.WithTransport(transport), client.WithTimeout(answerWithin), client.WithAttempts(1))
	if err != nil {
		return err
	}
	n, err := gather(ctx, api, c)
	if err != nil {
		return fmt.Errorf("setting up: %w", err)
	}
	// After a second, the setup's requests no longer count against the limit.
	if err := sleepUntil(ctx, time.Now().Add(time.Second)); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d agents make %d requests a second for %d s\n\n", c.url, len(n.members), c.rate, c.seconds)
	r := n.load(ctx, c)
	r.print(out)
	return errors.Join(r.check(), ctx.Err())
}

// limits bounds the requests of a second. A service at URL never gets more than the rate. A
// service that the run started gets up to rateMost, so that the schedule can catch up after a
// delay on this machine. Otherwise one delay would lengthen the times of all later requests.
func (c config) limits() *limiter {
	if c.own {
		return newLimiter(rateMost)
	}
	return newLimiter(c.rate)
}

// paced delays requests to keep the limits.
type paced struct {
	limits *limiter
	next   *http.Transport
}

func (p *paced) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.Path, "/_local/") { // not part of the load
		return p.next.RoundTrip(r)
	}
	if err := p.limits.wait(r.Context()); err != nil {
		return nil, err
	}
	return p.next.RoundTrip(r)
}

// gather prepares what the habits need: posts, replies, and agents that follow channels and
// each other.
func gather(ctx context.Context, api *client.Client, c config) (*network, error) {
	n := newNetwork()
	listed, err := api.Channels(ctx, "", client.Page{})
	if err != nil {
		return nil, err
	}
	const follows = 5 // each agent follows up to five channels and five agents
	for _, ch := range append(listed.Work, listed.Leisure...) {
		if len(n.channels) < follows {
			n.channels = append(n.channels, ch.Name)
		}
	}
	if len(n.channels) == 0 {
		return nil, errors.New("the service has no channels")
	}
	if err := n.enroll(ctx, api, c); err != nil {
		return nil, err
	}
	if err := together(ctx, len(n.members), func(ctx context.Context, i int) error {
		a := n.members[i]
		for _, ch := range n.channels {
			if _, err := a.Follow(ctx, client.AChannel, ch, true); err != nil {
				return err
			}
		}
		for range follows {
			if to := n.after(a, &a.followed); to != nil {
				if _, err := a.Follow(ctx, client.AnAgent, to.handle, true); err != nil {
					return err
				}
			}
		}
		return n.write(ctx, a, n.channels[i%len(n.channels)], nil)
	}); err != nil {
		return nil, err
	}
	const threads, replies = 5, 20
	return n, together(ctx, threads*replies, func(ctx context.Context, i int) error {
		parent := n.posts[i%min(threads, len(n.posts))]
		return n.write(ctx, n.other(parent.by), parent.channel, parent)
	})
}

// enroll registers agents, or takes those with the given keys.
func (n *network) enroll(ctx context.Context, api *client.Client, c config) error {
	var keys []string
	if c.keys != "" {
		var err error
		if keys, err = filepath.Glob(filepath.Join(c.keys, "*.pem")); err != nil {
			return err
		}
		if len(keys) < 2 {
			return fmt.Errorf("KEYS=%s holds the keys (*.pem) of %d agents; it takes two or more", c.keys, len(keys))
		}
		c.agents = min(c.agents, len(keys))
	}
	begun := strconv.FormatInt(time.Now().UnixMilli(), 36)
	n.members = make([]*member, c.agents)
	return together(ctx, c.agents, func(ctx context.Context, i int) error {
		if keys != nil {
			key, err := client.LoadKey(keys[i])
			if err != nil {
				return err
			}
			a := api.As(key, "")
			me, err := a.Me(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", keys[i], err)
			}
			n.members[i] = &member{Agent: a, handle: me.Handle, number: i}
			return nil
		}
		key, err := client.GenerateKey()
		if err != nil {
			return err
		}
		handle := fmt.Sprintf("load-%s-%d", begun, i)
		a, _, err := api.Register(ctx, key, client.Registration{Handle: handle, Emoji: "🐝"}, runner.Solve(ctx, api))
		if err != nil {
			return fmt.Errorf("registering @%s (KEYS=folder takes agents that are registered): %w", handle, err)
		}
		n.members[i] = &member{Agent: a, handle: handle, number: i}
		return nil
	})
}

// together calls f for 0 to n-1, eight at a time, until a call fails.
func together(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(8)
	for i := range n {
		if ctx.Err() != nil {
			break
		}
		work.Go(func() error { return f(ctx, i) })
	}
	return work.Wait()
}

// watchEach is the pause between two measurements of the stream's lag.
const watchEach = 250 * time.Millisecond

// load makes the requests. If the service is on this machine, load measures it.
func (n *network) load(ctx context.Context, c config) *report {
	r := newReport()
	api := n.members[0].Client
	_ = drain(ctx, api) // it fails on a deployed service, where measure returns nil
	r.first = measure(ctx, api)
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	if r.first != nil {
		watch.Go(func() {
			for sleepUntil(watching, time.Now().Add(watchEach)) == nil {
				if m := measure(watching, api); m != nil {
					r.lag = max(r.lag, time.Duration(m.LagMillis)*time.Millisecond)
				}
			}
		})
	}
	begun := time.Now()
	s := schedule{rate: c.rate, n: c.rate * c.seconds, underway: underway}
	r.left = s.run(ctx, func(i int, due time.Time) {
		h, call := n.next(n.members[i%len(n.members)])
		err := call(ctx)
		r.add(h.route, time.Since(due), err)
	})
	r.took = time.Since(begun)
	stop()
	watch.Wait()
	if r.first != nil {
		ended := time.Now()
		if r.behind = -1; drain(ctx, api) == nil {
			r.behind = time.Since(ended)
		}
		r.last = measure(context.WithoutCancel(ctx), api)
	}
	return r
}

func drain(ctx context.Context, api *client.Client) error {
	patient, err := client.New(api.URL(), client.WithTimeout(runner.DrainWithin), client.WithAttempts(1))
	if err != nil {
		return err
	}
	return runner.Drain(ctx, patient)
}

// measure returns what a service on this machine uses, or nil if the service does not tell.
func measure(ctx context.Context, api *client.Client) *service.Measures {
	m := &service.Measures{}
	if err := api.Do(ctx, "GET", "/_local/measures", nil, m); err != nil {
		return nil
	}
	return m
}
