package transcripts

import (
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
	"agentsocial/local/engines/logs"
	"agentsocial/local/engines/moto"
	"agentsocial/local/engines/sam"
	"agentsocial/local/service"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/outside/payments"
	"agentsocial/tables"
)

// commands returns the commands of the scripts' language. Testscript splits lines into
// words: '…' keeps spaces. $NAME is replaced by its value everywhere, also inside '…', and
// ${N} by N letters.
//
// A service has its own port and table: the embedded one or, with
// TRANSCRIPTS_TABLE=dynamodb-local, DynamoDB Local. When a script ends without a failure, its
// service processes its stream and runs the schedules deadlines and settle. Then
// [invariants.Check] checks its table.
//
// A line that begins with [lambdas] runs only with the built functions (make lambdas-test,
// make sam-test), one with [!lambdas] only without them, and one with [sam] only in SAM.
//
//	service [pow=N] [address-limits=on] [throttle=on] [payments=none] [data=FOLDER] [writes=N] [posts=N]
//	        [posts-hour=N] [posts-hour-new=N] [messages=N] [registrations=N] [reads=N]
//	        [contact=ADDRESS] [index=on] [edge=SECRET] [all-links=N] [all-recoveries=N]
//	        [bounces=N] [recoveries=N] [follows=N] [pushes=N] [reports=N] [suspension-owners=N]
//	        [views=N: one in N is counted]
//	                         starts a service, at noon by its clock; after halt, starts it again
//	halt                     ends the service (testscript's own `stop` ends the script)
//	agent NAME…              makes keys
//	key NAME OWNER           makes a key to be added to OWNER; its requests carry x-agent-id
//	sign WHO TEXT AS         signs TEXT as WHO, into $AS
//	register NAME EMOJI      makes a key and joins, through the real challenge
//	challenge NAME [for=OTHER|nobody]
//	                         gets a challenge for NAME's own key, for OTHER's, or for any key
//	join NAME [FIELD=VALUE…] answers NAME's challenge correctly, except for the named fields.
//	                         VALUE is JSON or a plain string; "wrong" makes the answer, pow or
//	                         sig wrong; "none" leaves the field out.
//	                         challenge=OTHER answers OTHER's challenge; signer=OTHER signs as OTHER
//	call WHO METHOD PATH [BODY] [-ts DURATION] [-h 'Name: value']…
//	                         sends a request. WHO is an agent, which signs the request; bearer:TOKEN;
//	                         or - for no credential. -ts adds DURATION to the signature's time.
//	                         BODY @N is N letters
//	resend [-method M] [-path P] [-body B] [-drop HEADER] [-h 'Name: value']…
//	                         sends the last request again, unchanged except for the flags
//	repeat N STATUS WHO METHOD PATH BODY [-every DURATION]
//	                         calls N times, with #I in BODY counting from 1; each must answer STATUS.
//	                         DURATION advances the clock before each
//	status N|M… [CODE]       checks the last answer, and the envelope of an error
//	json PATH [!]OP VALUE    PATH leads into the answer's body: items.0.kind, items.-1, items.len.
//	                         OP is ==, < or > (numbers), has (a substring), ~ (a regular expression)
//	json PATH exists|absent
//	body [!]OP VALUE         checks a body that is not JSON
//	header NAME [!]OP VALUE, header NAME exists|absent
//	save PATH NAME, save header:HEADER NAME
//	                         keeps a value as $NAME
//	advance DURATION         moves the service's clock
//	advance to-minute|to-hour|to-day|to-week|to-month
//	                         to just after the start of the next one
//	drain                    waits until the stream is drained
//	code ADDRESS AS          keeps the code of the newest mail to ADDRESS as $AS
//	mails ADDRESS N          checks that exactly N mails went to ADDRESS
//	mail fail|works          makes sending mail fail, or work again
//	mail bounce|complain ADDRESS
//	                         reports that the newest mail to ADDRESS bounced or got a complaint,
//	                         as SES does
//	mint NAME AS [scopes=A,B] [for=DURATION]
//	                         puts a bearer token into the table and into $AS
//	connected NAME AS        puts an agent into the table as an OAuth connection does: without a
//	                         handle or a key, with its bearer token in $AS
//	karma NAME N             sets an agent's karma in the table
//	credit NAME N            gives an agent N micro-USD in the table, as a payment does, or takes
//	                         them back, as a dispute does, if N is negative
//	operator NAME            makes an agent an operator in the table
//	operate VERB NAME=VALUE… runs `make VERB` on the service's table, as the operator ann; its
//	                         output becomes the last answer. With fails=TEXT it must fail with
//	                         TEXT in its error
//	suspend NAME DURATION    suspends an agent in the table
//	citizens NAME…           registers agents, and makes each a month old, with an origin of its
//	                         own and an operator's vouch
//	vouch NAME…              gives agents standing in the table, as an operator's upvote does
//	jurors NAME…             makes citizens who volunteer as jurors
//	seated CASE AS           puts the names of the agents whose votes CASE waits for into $AS1, $AS2, …
//	mcp TOKEN METHOD [PARAMS]
//	                         sends a message of the Model Context Protocol
//	tool TOKEN NAME [ARGUMENTS] [refused=CODE]
//	                         calls a tool, which must answer, or refuse with CODE; its structured
//	                         content becomes the last answer
//	damaged TOKEN            calls with one character of TOKEN changed, for several characters;
//	                         each call must get bad_token
//	forged NAME AS           puts a well-formed token that was never minted into $AS
//	documented               checks that the last answer, HTML, has an anchor for every error code
//	ask NAME=VALUE…          requests the consent page, with a new verifier, $VERIFIER;
//	                         NAMEs replace parameters of a valid request; "none" leaves one out
//	answer BUTTON [NAME=VALUE…]
//	                         presses connect, refuse or mail on the consent page. NAMEs are fields;
//	                         pow=wrong sends a wrong proof of work, scope=A,B ticks these
//	ticks A,B                checks which scopes are ticked on the consent page
//	back NAME [!]OP VALUE, back NAME exists|absent, back NAME as AS
//	                         checks a query parameter of the address that the last answer sends
//	                         the browser to, or keeps it as $AS; "to" is the address without its query
//	form PATH NAME=VALUE…    sends a form
//	assertion NAME AS [CLAIM=VALUE…]
//	                         puts a JWT that NAME signs into $AS; CLAIMs replace the valid ones
//	styled                   checks that the last answer's policy allows its own style
//	example TOPIC [HEADER…]  compares the last request and its answer, with these headers, with the
//	                         example functions/docs/examples/TOPIC.md; -update writes the file
//	shows NAME…              says that the checks since the last `shows` prove line NAME of spec.txt
//	[!] logged EXPR          checks the service's log
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	plain := func(f func(*script, []string) error) func(*testscript.TestScript, bool, []string) {
		return func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("this command cannot be negated with !")
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
				ts.Logf("the log ends: %s", lastLines(&s.log, 5))
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
		"mint": plain((*script).mint), "connected": plain((*script).connected), "karma": plain((*script).karma), "credit": plain((*script).credit), "operator": plain((*script).operator), "operate": plain((*script).operate), "suspend": plain((*script).suspend), "citizens": plain((*script).citizens), "vouch": plain((*script).vouch), "jurors": plain((*script).jurors), "seated": plain((*script).seated), "damaged": plain((*script).damaged),
		"mcp": plain((*script).mcp), "tool": plain((*script).tool),
		"forged": plain((*script).forged), "documented": plain((*script).documented),
		"styled": plain((*script).styled), "shows": plain((*script).shows), "example": plain((*script).example),
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

// testscript's own commands would take precedence.
func TestCommandsAreOurs(t *testing.T) {
	theirs := strings.Fields("cat cd chmod cmp cmpenv cp env exec exists grep kill mkdir mv rm skip stderr stdin stdout stop symlink ttyin ttyout unix2dos unquote wait")
	for _, name := range theirs {
		if commands()[name] != nil {
			t.Errorf("%s is also a command of testscript: rename ours", name)
		}
	}
}

func TestTranscripts(t *testing.T) {
	all := newSeen()
	t.Cleanup(func() { all.hold(t) })
	testscript.Run(t, params(testscript.Params{Dir: scripts}, nil, all))
}

const scripts = "../testdata"

func TestMain(m *testing.M) { os.Exit(dynamodbtest.Main(m)) }

func onTable() string { return cmp.Or(os.Getenv("TRANSCRIPTS_TABLE"), "embedded") }

// params completes p for playing scripts. Unless broken is nil, it wraps the services'
// table. Unless all is nil, it collects what the scripts show.
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
		if program := onMoto(e); program != "" {
			server, err := moto.Start(context.Background(), program)
			if err != nil {
				return err
			}
			s.endpoint = server.Endpoint
			e.Defer(server.Stop)
		} else if onTable() == "dynamodb-local" {
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

// sammed reports whether the built functions run in SAM's containers.
func sammed() bool { return os.Getenv("TRANSCRIPTS_SAM") != "" }

var samEngine = sync.OnceValues(func() (*sam.Engine, error) { return sam.FindEngine(context.Background()) })

// lambdas reports whether the built functions run in processes of their own.
func lambdas() bool { return os.Getenv("TRANSCRIPTS_LAMBDAS") != "" }

type scriptKey struct{}

// script is a script being played.
type script struct {
	ts         *testscript.TestScript
	svc        *service.Service
	sam        *sam.Gateway // nil unless the functions run in SAM's containers
	endpoint   string       // of its own DynamoDB Local or moto; "" if it has none
	log        logs.Buffer
	agents     map[string]*Agent
	challenges map[string]*Challenge // by the agent that will answer
	sent       *Request
	last       *Answer
	connection *Connection
	failed     bool
	noon       time.Time // when its service started, to the hour
	held       int       // checks since the last `shows`
	seen       *seen     // shared by all scripts; may be nil

	scanner tables.Scanner   // the service's table
	given   invariants.Given // what the script wrote to the table itself
	broken  *faults.Table    // wraps the table; may be nil
	ticked  bool             // a schedule was called again after a fault
}

func lastLines(log *logs.Buffer, n int) string {
	all := strings.Split(strings.TrimSpace(log.String()), "\n")
	return strings.Join(all[max(0, len(all)-n):], "\n")
}

func options(args []string, set func(name, value string) error) error {
	for _, a := range args {
		name, value, ok := strings.Cut(a, "=")
		if !ok {
			return fmt.Errorf("%q is not name=value", a)
		}
		if err := set(name, value); err != nil {
			return fmt.Errorf("%s: %w", a, err)
		}
	}
	return nil
}

func (s *script) service(args []string) error {
	c := service.Config{Data: service.Memory, Table: onTable(), Endpoint: s.endpoint, Settings: app.DefaultSettings(), Noon: true}
	c.Settings.PowBits, c.Settings.ByAddr, c.Settings.PromoWait, c.Settings.Remember = 4, false, 0, 0
	l := &c.Settings.Limits
	number := map[string]*int64{
		"writes": &l.WritesPerMinute, "posts": &l.PostsPerMinute, "posts-hour": &l.PostsPerHour,
		"posts-hour-new": &l.PostsPerHourNew, "messages": &l.MessagesPerMinute, "registrations": &l.RegistrationsHour, "reads": &c.Settings.MaxReads,
		"all-links": &l.AllLinksDay, "all-recoveries": &l.AllRecoveriesDay, "bounces": &l.BouncesDay, "recoveries": &l.RecoveriesHour,
		"follows": &l.FollowsPerHour, "pushes": &l.PushesDay, "reports": &l.ReportsDay, "views": &c.Settings.ViewSample,
		"suspension-owners": &l.SuspensionOwners,
	}
	err := options(args, func(name, value string) (err error) {
		switch {
		case name == "pow":
			c.Settings.PowBits, err = strconv.Atoi(value)
		case name == "address-limits":
			c.Settings.ByAddr = value == "on"
		case name == "throttle" && value == "on":
			c.Throttle = api.DefaultThrottle
		case name == "payments" && value == "none":
			c.Payments = payments.None{}
		case name == "edge":
			c.Edge = value
		case name == "contact":
			c.Settings.Contact = value
		case name == "index":
			c.Settings.Index = value == "on"
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
		s.noon = s.svc.App.Now().Truncate(time.Hour)
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
	now := s.svc.App.Now().UTC()
	switch {
	case args[0] == "to-month":
		d = time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC).Sub(now) + 100*time.Millisecond
	case ok:
		d = now.Truncate(d).Add(d).Sub(now) + 100*time.Millisecond
	default:
		var err error
		if d, err = time.ParseDuration(args[0]); err != nil {
			return err
		}
	}
	return s.post("/_local/clock", fmt.Sprintf(`{"advance_ms":%d}`, d.Milliseconds()))
}

func (s *script) drain([]string) error { return s.post("/_local/drain", "") }

// post calls one of the local service's own pages. It does not change the last answer.
func (s *script) post(path, body string) error {
	a, err := (&Request{Method: http.MethodPost, Target: path, Body: []byte(body)}).Send(s.svc.URL)
	if err == nil && a.Status != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, a.Body)
	}
	return err
}
