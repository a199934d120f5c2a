package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"agentsocial/local/engines/ports"
	"agentsocial/local/service/runner"
	"agentsocial/shared/client"
)

type agent struct {
	ID    string
	Token string             `json:",omitempty"` // of PocketBase
	key   ed25519.PrivateKey // of the product and the control
}

func handle(i int) string { return fmt.Sprintf("agent%04d", i) }

type call struct {
	by           *agent
	method, path string
	body         any
}

// contestant is an implementation of the network.
type contestant struct {
	name    string
	url     string
	folder  string // its data
	http    *http.Client
	servers []*server
	ahead   time.Duration // how far its clock is ahead
	agents  []*agent
	settle  func(context.Context) error // waits for work that calls left behind
	filled  func(context.Context) error // unless nil, called after the last write of fill

	me      func(*agent) call
	channel func(by *agent, name string) call
	follow  func(by *agent, kind, target string) call
	post    func(by *agent, channel, parent, body string) call
	page    func(by *agent, channel string) call
	thread  func(by *agent, channel, id string) call
	vote    func(by *agent, channel, id string) call
	search  func(by *agent, channel, word string) call
	catchup func(by *agent, since time.Time) call
}

func (c *contestant) pids() (pids []int) {
	for _, s := range c.servers {
		pids = append(pids, s.cmd.Process.Pid)
	}
	return pids
}

func (c *contestant) stop() {
	for _, s := range c.servers {
		s.stop()
	}
}

// do makes a call. Unless out is nil, out receives the answer, and a refusal is an error.
func (c *contestant) do(ctx context.Context, in call, out any) (status int, err error) {
	var body []byte
	if in.body != nil {
		if body, err = json.Marshal(in.body); err != nil {
			return 0, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, in.method, c.url+in.path, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	if in.by.Token != "" {
		r.Header.Set("Authorization", in.by.Token)
		r.Header.Set("Content-Type", "application/json")
	} else {
		sign(r, in.by.key, body, time.Now().Add(c.ahead))
	}
	res, err := c.http.Do(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	if res.StatusCode/100 != 2 && out != nil {
		return res.StatusCode, fmt.Errorf("%s: %s %s: %d %s", c.name, in.method, in.path, res.StatusCode, answer)
	}
	if out != nil {
		return res.StatusCode, json.Unmarshal(answer, out)
	}
	return res.StatusCode, nil
}

type fields = map[string]any

// spoken sets the calls that the product and the control have in common.
func (c *contestant) spoken() {
	posts := func(channel string) string { return "/v1/c/" + channel + "/posts" }
	c.me = func(a *agent) call { return call{a, "GET", "/v1/me", nil} }
	c.channel = func(a *agent, name string) call {
		return call{a, "POST", "/v1/channels", fields{"name": name, "kind": "work"}}
	}
	c.follow = func(a *agent, kind, target string) call {
		return call{a, "POST", "/v1/me/follow", fields{"kind": kind, "target": target}}
	}
	c.post = func(a *agent, channel, parent, body string) call {
		in := fields{"body": body}
		if parent != "" {
			in["parent"] = parent
		}
		return call{a, "POST", posts(channel), in}
	}
	c.page = func(a *agent, channel string) call { return call{a, "GET", "/v1/c/" + channel + "?limit=100", nil} }
	c.thread = func(a *agent, channel, id string) call {
		return call{a, "GET", posts(channel) + "/" + id + "?limit=20", nil}
	}
	c.vote = func(a *agent, channel, id string) call {
		return call{a, "POST", posts(channel) + "/" + id + "/vote", fields{"v": 1}}
	}
	c.search = func(a *agent, channel, word string) call {
		return call{a, "GET", "/v1/c/" + channel + "/search?q=" + word, nil}
	}
	c.catchup = func(a *agent, since time.Time) call {
		return call{a, "GET", "/v1/me/catchup?since=" + strconv.FormatInt(since.Add(c.ahead).UnixMilli(), 10), nil}
	}
}

// newContestant makes a contestant with a folder and a free port, p.
func newContestant(name, folder string) (c *contestant, p string, err error) {
	port, release, err := ports.Free()
	if err != nil {
		return nil, "", err
	}
	if err := release(); err != nil { // no other process on this machine looks for ports
		return nil, "", err
	}
	p = strconv.Itoa(port)
	c = &contestant{
		name: name, url: "http://127.0.0.1:" + p, folder: filepath.Join(folder, name),
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce, MaxConnsPerHost: atOnce}},
		settle: func(context.Context) error {
			time.Sleep(500 * time.Millisecond)
			return nil
		},
	}
	return c, p, os.Mkdir(c.folder, 0o755)
}

// product starts the local service with its data in a file, and registers the agents.
func product(ctx context.Context, binary, folder string, agents int) (*contestant, error) {
	c, p, err := newContestant("product", folder)
	if err != nil {
		return nil, err
	}
	c.spoken()
	cmd := exec.Command(binary)
	cmd.Env = append(os.Environ(), "PORT="+p, "DATA="+c.folder, "TABLE=embedded", "POW_BITS=0", "LIMITS=off")
	s, err := start(folder, c.name, cmd)
	if err != nil {
		return nil, err
	}
	c.servers = append(c.servers, s)
	if err := answers(ctx, c.url+"/v1/channels"); err != nil {
		return nil, err
	}
	api, err := client.New(c.url)
	if err != nil {
		return nil, err
	}
	for i := range agents {
		key, err := client.GenerateKey()
		if err != nil {
			return nil, err
		}
		_, me, err := api.Register(ctx, key, client.Registration{Handle: handle(i), Emoji: "🦊"}, runner.Solve(ctx, api))
		if err != nil {
			return nil, err
		}
		c.agents = append(c.agents, &agent{ID: me.ID, key: key})
	}
	c.ahead = 25 * time.Hour // so that nobody is new
	if err := runner.Advance(ctx, api, c.ahead); err != nil {
		return nil, err
	}
	patient, err := client.New(c.url, client.WithTimeout(10*time.Minute))
	if err != nil {
		return nil, err
	}
	c.settle = func(ctx context.Context) error {
		for {
			if err := runner.Drain(ctx, patient); err == nil || ctx.Err() != nil {
				return err
			}
		}
	}
	return c, nil
}

func findPostgres() (string, error) {
	if p, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(p), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return "", fmt.Errorf("PostgreSQL is not installed; name the folder of its programs with -postgres")
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// onPostgres starts the control and its database, and registers the agents.
func onPostgres(ctx context.Context, programs, folder string, agents int) (*contestant, error) {
	c, p, err := newContestant("control", folder)
	if err != nil {
		return nil, err
	}
	c.spoken()
	as := &syscall.SysProcAttr{}
	if os.Getuid() == 0 { // PostgreSQL refuses to run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(u.Uid) // numbers on Linux
		gid, _ := strconv.Atoi(u.Gid)
		as.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(c.folder, uid, gid); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(c.folder, "pg")
	init := exec.CommandContext(ctx, filepath.Join(programs, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale")
	init.SysProcAttr, init.Dir = as, c.folder
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	serve := exec.Command(filepath.Join(programs, "postgres"), "-D", data, "-c", "listen_addresses=", "-c", "unix_socket_directories="+c.folder)
	serve.SysProcAttr, serve.Dir = as, c.folder
	s, err := start(folder, "postgres", serve)
	if err != nil {
		return nil, err
	}
	c.servers = append(c.servers, s)
	dsn := "host=" + c.folder + " user=postgres database=postgres pool_max_conns=" + strconv.Itoa(atOnce)
	ready := filepath.Join(c.folder, ".s.PGSQL.5432")
	for range 200 {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if s, err = start(folder, c.name, exec.Command(os.Args[0], "control", p, dsn)); err != nil {
		return nil, err
	}
	c.servers = append([]*server{s}, c.servers...) // the database stops last
	if err := answers(ctx, c.url+"/"); err != nil {
		return nil, err
	}
	for i := range agents {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		a := &agent{ID: fmt.Sprintf("ag_%026d", i), key: key}
		in := fields{"id": a.ID, "key": client.PublicKey(key), "handle": handle(i)}
		if status, err := c.do(ctx, call{a, "POST", "/agents", in}, nil); err != nil || status != 200 {
			return nil, fmt.Errorf("registering %s: got status %d and error %v, want 200", a.ID, status, err)
		}
		c.agents = append(c.agents, a)
	}
	c.filled = func(ctx context.Context) error {
		status, err := c.do(ctx, call{c.agents[0], "POST", "/analyze", nil}, nil)
		if err == nil && status != 200 {
			err = fmt.Errorf("analyzing: got status %d, want 200", status)
		}
		return err
	}
	return c, nil
}

func onPocketBase(ctx context.Context, folder string, agents int) (*contestant, error) {
	c, p, err := newContestant("pocketbase", folder)
	if err != nil {
		return nil, err
	}
	s, err := start(folder, c.name, exec.Command(os.Args[0], "pocketbase", p, c.folder, strconv.Itoa(agents)))
	if err != nil {
		return nil, err
	}
	c.servers = append(c.servers, s)
	if err := answers(ctx, c.url+"/api/health"); err != nil {
		return nil, err
	}
	b, err := os.ReadFile(filepath.Join(c.folder, "agents.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &c.agents); err != nil {
		return nil, err
	}
	const records = "/api/collections/posts/records"
	list := func(a *agent, filter string, n int) call {
		q := url.Values{"filter": {filter}, "sort": {"-created"}, "perPage": {strconv.Itoa(n)}, "skipTotal": {"1"}, "expand": {"author"}}
		return call{a, "GET", records + "?" + q.Encode(), nil}
	}
	c.me = func(a *agent) call { return call{a, "GET", "/api/collections/users/records/" + a.ID, nil} }
	c.channel = func(*agent, string) call { return call{} } // posts name their channel
	var mu sync.Mutex
	follows := map[string][]string{} // the conditions of each agent's catchup
	c.follow = func(a *agent, kind, target string) call {
		field := map[string]string{"channel": "channel", "agent": "author"}[kind]
		if kind == "agent" {
			var i int
			fmt.Sscanf(target, "agent%d", &i)
			target = c.agents[i].ID
		}
		mu.Lock()
		defer mu.Unlock()
		follows[a.ID] = append(follows[a.ID], field+"='"+target+"'")
		return call{}
	}
	c.post = func(a *agent, channel, parent, body string) call {
		return call{a, "POST", records, fields{"channel": channel, "author": a.ID, "body": body, "parent": parent}}
	}
	c.page = func(a *agent, channel string) call { return list(a, "channel='"+channel+"'", 100) }
	c.thread = func(a *agent, _, id string) call { return list(a, "id='"+id+"' || parent='"+id+"'", 21) }
	c.vote = func(a *agent, _, id string) call {
		return call{a, "POST", "/api/collections/votes/records", fields{"post": id, "author": a.ID, "v": 1}}
	}
	c.search = func(a *agent, channel, word string) call {
		return list(a, "channel='"+channel+"' && body~'"+word+"'", 20)
	}
	c.catchup = func(a *agent, since time.Time) call {
		return list(a, "created>'"+since.UTC().Format("2006-01-02 15:04:05.000Z")+"' && ("+strings.Join(follows[a.ID], " || ")+")", 500)
	}
	return c, nil
}
