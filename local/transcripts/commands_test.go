package transcripts

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"agentsocial/local/checks/faults"
	"agentsocial/local/checks/invariants"
	"agentsocial/local/engines/dynamodb/dynamodbtest"
	"agentsocial/local/engines/sam"
	"agentsocial/local/service"
	"agentsocial/shared/app"
	"agentsocial/shared/outside/payments"
	"agentsocial/tables"
)

// The language of the scripts. Words are as testscript reads them: '…' keeps
// spaces; $NAME is put in everywhere, inside '…' too, and for ${N} N letters. Every service runs in
// this process, on a port and a table of its own: the embedded one, or with
// TRANSCRIPTS_TABLE=dynamodb-local DynamoDB Local (Java 17, Maven). When a script is
// over its service is brought to rest, and its table held to [invariants.Check].
// A line behind [lambdas] is for the built functions alone (make lambdas-test, make
// sam-test), one behind [!lambdas] for all others; [sam] is for those behind SAM.
//
//	service [pow=N] [address-limits=on] [payments=none] [data=FOLDER] [writes=N] [posts=N]
//	        [posts-hour=N] [posts-hour-new=N] [messages=N] [registrations=N] [reads=N]
//	        [follows=N] [pushes=N] [reports=N] [views=N: one in N is counted]
//	                         starts one, at noon by its clock; after halt, starts it again
//	halt                     ends it (testscript's own `stop` ends the script)
//	agent NAME…              makes keys
//	key NAME OWNER           makes a key that is to act for OWNER, and signs with x-agent-id
//	sign WHO TEXT AS         WHO's signature of TEXT, $AS
//	register NAME EMOJI      makes a key and joins, through the real challenge
//	challenge NAME [for=NAME|nobody]
//	                         gets a challenge for NAME to answer; for its own key if nothing is said
//	join NAME [FIELD=VALUE…] answers it: what is right, except for the fields that are named.
//	                         VALUE is JSON or a plain string; "wrong" is what is not the answer,
//	                         not the proof of work, not the signature; "none" leaves the field out.
//	                         challenge=OTHER answers another agent's challenge; signer=OTHER has it sign
//	call WHO METHOD PATH [BODY] [-ts DURATION] [-h 'Name: value']…
//	                         sends a request. WHO is an agent, who signs it (DURATION beside the
//	                         clock); bearer:TOKEN; or - for nobody. BODY @N is N letters
//	resend [-method M] [-path P] [-body B] [-drop HEADER] [-h 'Name: value']…
//	                         sends the last request's very bytes again, but for what is named
//	repeat N STATUS WHO METHOD PATH BODY [-every DURATION]
//	                         calls N times, #I in BODY counting from 1; each must answer STATUS.
//	                         The clock is moved by DURATION before each
//	status N [CODE]          of the last answer. Every answer is held to the OpenAPI document as it
//	                         comes; those of 400 and more also to the envelope: code, message, hint, docs
//	json PATH [!]OP VALUE    PATH leads into the answer's body: items.0.kind, items.-1, items.len.
//	                         OP is ==, < or > (numbers), has (a part of it), ~ (an expression)
//	json PATH exists|absent
//	body [!]OP VALUE          of a body that is not JSON
//	header NAME [!]OP VALUE, header NAME exists|absent
//	save PATH NAME           keeps a value as $NAME; save header:NAME does so with a header
//	advance DURATION         moves the service's clock
//	advance to-minute|to-hour|to-day|to-week
//	                         to just behind the beginning of the next one
//	drain                    waits until the stream is worked off
//	code ADDRESS AS          the code in the newest mail to ADDRESS, $AS
//	mails ADDRESS N          exactly N mails went to ADDRESS
//	mail fail|works          sending mail fails from now on, or works again
//	mint NAME AS [scopes=A,B] [for=DURATION]
//	                         makes a bearer token in the table, $AS
//	connected NAME AS        makes an agent in the table as a connection by OAuth does: without a
//	                         handle and without a key, its bearer token $AS
//	karma NAME N             sets an agent's karma in the table
//	credit NAME N            gives an agent N micro-USD in the table, as a payment does; takes
//	                         them back, as a dispute does, if N is below 0
//	operator NAME            makes an agent an operator in the table
//	suspend NAME DURATION    suspends an agent in the table
//	citizens NAME…           registers agents, and makes them a month old in the table, with an origin each
//	jurors NAME…             citizens, who volunteer
//	seated CASE AS           names of the agents whose votes CASE waits for: $AS1, $AS2, …
//	mcp TOKEN METHOD [PARAMS]
//	                         sends a message of the Model Context Protocol
//	tool TOKEN NAME [ARGUMENTS] [refused=CODE]
//	                         calls a tool, which answers, or refuses with CODE; what it says is the
//	                         last answer then
//	damaged TOKEN            calls with TOKEN, each of some characters changed: always bad_token
//	forged NAME AS           a well-formed token, $AS, that nobody minted
//	documented               the last answer, HTML, has a place for every error code
//	ask NAME=VALUE…          asks for the consent page, with a verifier of its own, $VERIFIER;
//	                         NAMEs are parameters, those that are not named are right; "none" leaves one out
//	answer BUTTON [NAME=VALUE…]
//	                         presses a button of that page: connect, refuse, mail. NAMEs are fields;
//	                         "wrong" is no proof of work, scope=A,B ticks these
//	ticks A,B                are the scopes that are ticked on it
//	back NAME [!]OP VALUE, back NAME exists|absent, back NAME as AS
//	                         a member of the query with which the last answer sends the browser back;
//	                         "to" is the address before it
//	form PATH NAME=VALUE…    sends a form
//	assertion NAME AS [CLAIM=VALUE…]
//	                         a JWT that NAME signs, $AS; CLAIMs take the place of what would be right
//	styled                   the last answer's policy lets its own style pass
//	shows NAME…              what was held of the last answers is what spec.txt says under NAME
//	[!] logged EXPR          what the service wrote to its log
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	plain := func(f func(*script, []string) error) func(*testscript.TestScript, bool, []string) {
		return func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("unsupported: !")
			}
			s := ts.Value(scriptKey{}).(*script)
			s.ts = ts
			for i, a := range args {
				args[i] = os.Expand(a, s.value)
			}
			if err := f(s, args); err != nil {
				s.failed = true
				if s.last != nil {
					ts.Logf("the last answer: %d %.1500s", s.last.Status, s.last.Body)
				}
				ts.Logf("the log ends: %s", s.log.end(5))
				ts.Fatalf("%v", err)
			}
		}
	}
	return map[string]func(*testscript.TestScript, bool, []string){
		"service": plain((*script).service), "halt": plain((*script).halt),
		"agent": plain((*script).agent), "key": plain((*script).key), "sign": plain((*script).sign), "register": plain((*script).register),
		"challenge": plain((*script).challenge), "join": plain((*script).join),
		"call": plain((*script).call), "resend": plain((*script).resend), "repeat": plain((*script).repeat),
		"status": plain((*script).status), "json": plain((*script).json), "body": plain((*script).body),
		"header": plain((*script).header), "save": plain((*script).save),
		"advance": plain((*script).advance), "drain": plain((*script).drain),
		"code": plain((*script).code), "mails": plain((*script).mails), "mail": plain((*script).mail),
		"mint": plain((*script).mint), "connected": plain((*script).connected), "karma": plain((*script).karma), "credit": plain((*script).credit), "operator": plain((*script).operator), "suspend": plain((*script).suspend), "citizens": plain((*script).citizens), "jurors": plain((*script).jurors), "seated": plain((*script).seated), "damaged": plain((*script).damaged),
		"mcp": plain((*script).mcp), "tool": plain((*script).tool),
		"forged": plain((*script).forged), "documented": plain((*script).documented),
		"styled": plain((*script).styled), "shows": plain((*script).shows),
		"ask": plain((*script).ask), "answer": plain((*script).answer), "ticks": plain((*script).ticks), "back": plain((*script).back),
		"form": plain((*script).form), "assertion": plain((*script).assertion),
		"logged": func(ts *testscript.TestScript, neg bool, args []string) {
			s := ts.Value(scriptKey{}).(*script)
			found, err := regexp.MatchString(os.Expand(args[0], ts.Getenv), s.log.String())
			if err != nil {
				ts.Fatalf("%v", err)
			}
			s.held++
			if found == neg {
				ts.Fatalf("logged: %v\n%s", found, s.log.String())
			}
		},
	}
}

// TestCommandsAreOurs: testscript's own commands win over ours of the same name.
func TestCommandsAreOurs(t *testing.T) {
	theirs := strings.Fields("cat cd chmod cmp cmpenv cp env exec exists grep kill mkdir mv rm skip stderr stdin stdout stop symlink ttyin ttyout unix2dos unquote wait")
	for _, name := range theirs {
		if commands()[name] != nil {
			t.Errorf("%s is testscript's own", name)
		}
	}
}

// TestTranscripts plays the scripts.
func TestTranscripts(t *testing.T) {
	all := newSeen()
	t.Cleanup(func() { all.hold(t) })
	testscript.Run(t, params(testscript.Params{Dir: scripts}, nil, all))
}

const scripts = "../testdata"

func TestMain(m *testing.M) { os.Exit(dynamodbtest.Main(m)) }

// onTable is the kind of table that services of scripts have.
func onTable() string { return cmp.Or(os.Getenv("TRANSCRIPTS_TABLE"), "embedded") }

// params are those with which scripts are played, over a table that breaks a
// commit if it is given; what they show is noted if anybody wants to know.
func params(p testscript.Params, broken *faults.Table, all *seen) testscript.Params {
	p.Cmds = commands()
	p.Condition = func(name string) (bool, error) {
		switch name {
		case "lambdas":
			return lambdas() || sammed(), nil
		case "sam":
			return sammed(), nil
		}
		return false, fmt.Errorf("there is no condition %q", name)
	}
	p.Setup = func(e *testscript.Env) error {
		s := &script{agents: map[string]*Agent{}, challenges: map[string]*Challenge{}, broken: broken, seen: all}
		e.Values[scriptKey{}] = s
		if onTable() == "dynamodb-local" {
			endpoint, release, err := dynamodbtest.Alone(context.Background())
			if err != nil {
				return err
			}
			s.endpoint = endpoint
			e.Defer(release)
		}
		e.Defer(func() { s.end(e.T()) })
		return nil
	}
	return p
}

// sammed reports whether the built functions play in SAM's containers.
func sammed() bool { return os.Getenv("TRANSCRIPTS_SAM") != "" }

// samEngine is the container engine, looked for once.
var samEngine = sync.OnceValues(func() (*sam.Engine, error) { return sam.FindEngine(context.Background()) })

// lambdas reports whether the built functions play, in processes of their own.
func lambdas() bool { return os.Getenv("TRANSCRIPTS_LAMBDAS") != "" }

type scriptKey struct{}

// script is one script as it is played.
type script struct {
	ts         *testscript.TestScript
	svc        *service.Service
	sam        *sam.Gateway // nil where the functions do not run in SAM's containers
	endpoint   string       // of the DynamoDB Local that it has to itself; "": none
	log        lines
	agents     map[string]*Agent
	challenges map[string]*Challenge // by who is to answer it
	sent       *Request
	last       *Answer
	connection *Connection // that was asked for last
	failed     bool
	held       int   // how often an answer was held to something since `shows`
	seen       *seen // of all scripts; may be nil

	scanner tables.Scanner   // the service's table
	given   invariants.Given // what was put there past the service
	broken  *faults.Table    // what is put around it; may be nil
	ticked  bool             // a schedule that met a fault was called again
}

// lines is a log that is read while it is written.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) { l.mu.Lock(); defer l.mu.Unlock(); return l.b.Write(p) }
func (l *lines) String() string              { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// end is its last lines.
func (l *lines) end(n int) string {
	all := strings.Split(strings.TrimSpace(l.String()), "\n")
	return strings.Join(all[max(0, len(all)-n):], "\n")
}

// options takes name=value arguments.
func options(args []string, set func(name, value string) error) error {
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			return fmt.Errorf("%q is no name=value", a)
		}
		if err := set(name, value); err != nil {
			return fmt.Errorf("%s: %w", a, err)
		}
	}
	return nil
}

func (s *script) service(args []string) error {
	c := service.Config{Data: service.Memory, Table: onTable(), Endpoint: s.endpoint, Settings: app.DefaultSettings(), Noon: true}
	c.Settings.PowBits, c.Settings.ByAddr, c.Settings.PromoWait = 4, false, 0
	l := &c.Settings.Limits
	number := map[string]*int64{
		"writes": &l.WritesPerMinute, "posts": &l.PostsPerMinute, "posts-hour": &l.PostsPerHour,
		"posts-hour-new": &l.PostsPerHourNew, "messages": &l.MessagesPerMinute, "registrations": &l.RegistrationsHour, "reads": &c.Settings.MaxReads,
		"follows": &l.FollowsPerHour, "pushes": &l.PushesDay, "reports": &l.ReportsDay, "views": &c.Settings.ViewSample,
	}
	err := options(args, func(name, value string) (err error) {
		switch {
		case name == "pow":
			c.Settings.PowBits, err = strconv.Atoi(value)
		case name == "address-limits":
			c.Settings.ByAddr = value == "on"
		case name == "payments" && value == "none":
			c.Payments = payments.None{}
		case name == "data":
			c.Data = s.ts.MkAbs(value)
		case number[name] != nil:
			*number[name], err = strconv.ParseInt(value, 10, 64)
		default:
			err = fmt.Errorf("no such option")
		}
		return err
	})
	if err != nil {
		return err
	}
	c.Log = slog.New(slog.NewJSONHandler(&s.log, nil))
	c.Wrap = s.around
	c.Lambdas, c.Logs = os.Getenv("TRANSCRIPTS_LAMBDAS"), &s.log
	if sammed() {
		engine, err := samEngine()
		if err != nil {
			return err
		}
		s.sam = sam.New(sam.Config{Engine: engine, Template: os.Getenv("TRANSCRIPTS_SAM_TEMPLATE"), Functions: os.Getenv("TRANSCRIPTS_SAM"), Logs: &s.log})
		c.Gateway = s.sam
	}
	s.svc, err = service.Start(context.Background(), c)
	if err == nil {
		s.ts.Setenv("URL", s.svc.URL)
	}
	return err
}

func (s *script) halt([]string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client.CloseIdleConnections()
	err := s.svc.Stop(ctx)
	s.svc = nil
	return err
}

func (s *script) advance(args []string) error {
	windows := map[string]time.Duration{"to-minute": time.Minute, "to-hour": time.Hour, "to-day": 24 * time.Hour, "to-week": 7 * 24 * time.Hour}
	d, ok := windows[args[0]]
	if now := s.svc.App.Now(); ok {
		d = now.Truncate(d).Add(d).Sub(now) + 100*time.Millisecond
	} else {
		var err error
		if d, err = time.ParseDuration(args[0]); err != nil {
			return err
		}
	}
	return s.post("/_local/clock", fmt.Sprintf(`{"advance_ms":%d}`, d.Milliseconds()))
}

func (s *script) drain([]string) error { return s.post("/_local/drain", "") }

// post calls a page of the runner's own; the last answer stays what it was.
func (s *script) post(path, body string) error {
	a, err := (&Request{Method: http.MethodPost, Target: path, Body: []byte(body)}).Send(s.svc.URL)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, a.Body)
	}
	return err
}
