package transcripts

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"agentsocial/local/contract"
	"agentsocial/local/faults"
	"agentsocial/local/invariants"
	"agentsocial/local/service"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/auth"
	"agentsocial/shared/id"
	"agentsocial/shared/payments"
	"agentsocial/tables"
)

// The language of the scripts. Words are as testscript reads them: '…' keeps
// spaces; $NAME is put in everywhere, inside '…' too, and for ${N} N letters. Every service runs in
// this process, on a port and a table of its own: the embedded one, or with
// TRANSCRIPTS_TABLE=dynamodb-local DynamoDB Local (Java 17, Maven). When a script is
// over its service is brought to rest, and its table held to [invariants.Check].
// A line behind [lambdas] is for the built functions (make lambdas-test) alone, one
// behind [!lambdas] for all others.
//
//	service [pow=N] [address-limits=on] [payments=none] [data=FOLDER] [writes=N] [posts=N]
//	        [posts-hour=N] [posts-hour-new=N] [messages=N] [registrations=N] [reads=N]
//	        [follows=N] [pushes=N] [reports=N] [views=N: one in N is counted]
//	                         starts one; after halt, starts it again
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

// params are those with which scripts are played, over a table that breaks a
// commit if it is given; what they show is noted if anybody wants to know.
func params(p testscript.Params, broken *faults.Table, all *seen) testscript.Params {
	p.Cmds = commands()
	p.Condition = func(name string) (bool, error) {
		if name != "lambdas" {
			return false, fmt.Errorf("there is no condition %q", name)
		}
		return lambdas(), nil
	}
	p.Setup = func(e *testscript.Env) error {
		s := &script{agents: map[string]*Agent{}, challenges: map[string]*Challenge{}, broken: broken, seen: all}
		e.Values[scriptKey{}] = s
		e.Defer(func() { s.end(e.T()) })
		return nil
	}
	return p
}

// lambdas reports whether the built functions play, in processes of their own.
func lambdas() bool { return os.Getenv("TRANSCRIPTS_LAMBDAS") != "" }

type scriptKey struct{}

// script is one script as it is played.
type script struct {
	ts         *testscript.TestScript
	svc        *service.Service
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
	c := service.Config{Data: service.Memory, Table: cmp.Or(os.Getenv("TRANSCRIPTS_TABLE"), "embedded"), Settings: app.DefaultSettings()}
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
	s.svc, err = service.Start(context.Background(), c)
	if err == nil {
		s.ts.Setenv("URL", s.svc.URL)
	}
	return err
}

func (s *script) halt([]string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client.CloseIdleConnections()
	err := s.svc.Stop(ctx)
	s.svc = nil
	return err
}

func (s *script) agent(args []string) error {
	for _, name := range args {
		s.agents[name] = NewAgent(name)
		s.ts.Setenv(strings.ToUpper(name)+"_PUB", s.agents[name].Pub())
	}
	return nil
}

func (s *script) key(args []string) error {
	owner, err := s.who(args[1])
	if err != nil {
		return err
	}
	if err := s.agent(args[:1]); err != nil {
		return err
	}
	a := s.agents[args[0]]
	a.ID, a.Added = owner.ID, true
	return nil
}

func (s *script) sign(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	s.ts.Setenv(args[2], a.Sign(args[1]))
	return nil
}

func (s *script) who(name string) (*Agent, error) {
	a := s.agents[name]
	if a == nil {
		return nil, fmt.Errorf("there is no agent %q", name)
	}
	return a, nil
}

func (s *script) register(args []string) error {
	if err := s.agent(args[:1]); err != nil {
		return err
	}
	a := s.agents[args[0]]
	if err := s.challenge(args[:1]); err != nil {
		return err
	}
	if err := s.join([]string{a.Name, "emoji=" + args[1]}); err != nil {
		return err
	}
	return s.status([]string{"201"})
}

func (s *script) challenge(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	pub := a.Pub()
	err = options(args[1:], func(name, value string) error {
		switch {
		case name == "for" && value == "nobody":
			pub = ""
		case name == "for":
			pub = NewAgent(value).Pub()
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.challenges[a.Name], s.last, err = getChallenge(pub, s.persist)
	if err != nil {
		return err
	}
	return s.keeps(&Request{Method: http.MethodGet, Target: "/v1/challenge?pubkey=" + pub})
}

func (s *script) join(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	c, signer, handle := s.challenges[a.Name], a, a.Name
	var changed [][2]string
	err = options(args[1:], func(name, value string) (err error) {
		switch name {
		case "challenge":
			c = s.challenges[value]
		case "signer":
			signer, err = s.who(value)
		case "handle":
			handle = value
			fallthrough
		default:
			changed = append(changed, [2]string{name, value})
		}
		return err
	})
	if err != nil {
		return err
	}
	if c == nil {
		return fmt.Errorf("%s has no challenge", a.Name)
	}
	body, err := a.Join(s.svc.URL, c, handle, "🦊")
	if err != nil {
		return err
	}
	body["sig"] = signer.Sign("register:" + c.Nonce + ":" + handle)
	for _, ch := range changed {
		switch name, value := ch[0], ch[1]; {
		case value == "none":
			delete(body, name)
		case value == "wrong" && name == "answer":
			body[name] = body[name].(int64) + 1
		case value == "wrong" && name == "pow":
			body[name] = c.Pow(false)
		case value == "wrong" && name == "sig":
			body[name] = a.Sign("register:" + c.Nonce + ":" + handle + "x")
		default:
			var v any
			if name == "handle" || json.Unmarshal([]byte(value), &v) != nil {
				v = value
			}
			body[name] = v
		}
	}
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if err := s.send(&Request{Method: http.MethodPost, Target: "/v1/agents", Body: b, Header: http.Header{}}); err != nil {
		return err
	}
	if s.last.Status == http.StatusCreated {
		a.ID = s.last.Text("id")
		s.ts.Setenv(strings.ToUpper(a.Name), a.ID)
	}
	return nil
}

// send sends a request, each in a millisecond of its own: ids that are made in
// one are in no order.
func (s *script) send(r *Request) (err error) {
	for now := time.Now().UnixMilli(); time.Now().UnixMilli() == now; {
		time.Sleep(100 * time.Microsecond)
	}
	s.sent = r
	if s.last, err = s.persist(r); err != nil {
		return err
	}
	return s.keeps(r)
}

// keeps holds the last answer, to a request, to the OpenAPI document.
func (s *script) keeps(r *Request) error {
	c, err := contract.Load()
	if err != nil {
		return err
	}
	if s.seen != nil {
		s.seen.answer(s.name(), c.Route(r.Method, r.Target), r, s.last)
	}
	return c.Check(r.Method, r.Target, s.last.Status, s.last.Header, s.last.Body)
}

// flags takes -name value arguments out of args.
func flags(args []string, set func(name, value string) error) (rest []string, err error) {
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i], "-") || args[i] == "-" {
			rest = append(rest, args[i])
			continue
		}
		if i++; i == len(args) {
			return nil, fmt.Errorf("%s needs a value", args[i-1])
		}
		if err := set(args[i-1], args[i]); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

func addHeader(h http.Header, line string) error {
	name, value, ok := strings.Cut(line, ":")
	if !ok {
		return fmt.Errorf("%q is no header", line)
	}
	h.Set(name, strings.TrimSpace(value))
	return nil
}

func (s *script) call(args []string) error {
	header := http.Header{}
	var beside time.Duration
	args, err := flags(args, func(name, value string) (err error) {
		switch name {
		case "-ts":
			beside, err = time.ParseDuration(value)
		case "-h":
			err = addHeader(header, value)
		default:
			err = fmt.Errorf("call has no %s", name)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(args) < 3 || len(args) > 4 {
		return fmt.Errorf("call WHO METHOD PATH [BODY]")
	}
	var body []byte
	if len(args) == 4 {
		body = []byte(args[3])
		if n, err := strconv.Atoi(strings.TrimPrefix(args[3], "@")); err == nil && args[3][0] == '@' {
			body = bytes.Repeat([]byte("a"), n)
		}
	}
	if args[1] == http.MethodPost {
		time.Sleep(time.Millisecond) // posts of one millisecond are in no order
	}
	r := &Request{Method: args[1], Target: args[2], Body: body, Header: http.Header{}}
	token, bearer := strings.CutPrefix(args[0], "bearer:")
	switch {
	case bearer:
		r.Header.Set("Authorization", "Bearer "+token)
	case args[0] != "-":
		a, err := s.who(args[0])
		if err != nil {
			return err
		}
		r = a.Signed(args[1], args[2], body, s.svc.App.Now().Add(beside))
	}
	for name, values := range header {
		r.Header[name] = values
	}
	if bearer {
		s.named(r)
	}
	return s.send(r)
}

func (s *script) resend(args []string) error {
	r := s.sent.Clone()
	rest, err := flags(args, func(name, value string) error {
		switch name {
		case "-method":
			r.Method = value
		case "-path":
			r.Target = value
		case "-body":
			r.Body = []byte(value)
		case "-drop":
			r.Header.Del(value)
		case "-h":
			return addHeader(r.Header, value)
		default:
			return fmt.Errorf("resend has no %s", name)
		}
		return nil
	})
	if err != nil || len(rest) > 0 {
		return fmt.Errorf("resend: %v %v", rest, err)
	}
	sent := s.sent
	err = s.send(r)
	s.sent = sent // what is tampered with is always the request that was whole
	return err
}

func (s *script) repeat(args []string) error {
	every := ""
	args, err := flags(args, func(name, value string) error {
		if name != "-every" {
			return fmt.Errorf("repeat has no %s", name)
		}
		every = value
		return nil
	})
	if err != nil {
		return err
	}
	if len(args) != 6 {
		return fmt.Errorf("repeat N STATUS WHO METHOD PATH BODY")
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	for i := range n {
		if every != "" {
			if err := s.advance([]string{every}); err != nil {
				return err
			}
		}
		call := []string{args[2], args[3], args[4], strings.ReplaceAll(args[5], "#I", strconv.Itoa(i+1))}
		if err := s.call(call); err != nil {
			return err
		}
		if err := s.status(args[1:2]); err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
	}
	return nil
}

// value is what stands for $NAME in a script.
func (s *script) value(name string) string {
	if n, err := strconv.Atoi(name); err == nil {
		return strings.Repeat("a", n)
	}
	return s.ts.Getenv(name)
}

func (s *script) status(args []string) error {
	s.held++
	if got := strconv.Itoa(s.last.Status); !slices.Contains(strings.Split(args[0], "|"), got) {
		return fmt.Errorf("the status is %s, not %s", got, args[0])
	}
	if s.last.Status >= 400 && s.sent != nil && s.sent.Method != http.MethodHead {
		if wrong := s.last.Envelope(s.svc.URL); wrong != "" {
			return fmt.Errorf("the envelope is broken: %s", wrong)
		}
	}
	if len(args) > 1 && s.last.Code() != args[1] {
		return fmt.Errorf("the code is %s, not %s", s.last.Code(), args[1])
	}
	return nil
}

// compare holds what was found against an expectation: OP VALUE, or exists or absent.
func compare(got string, found bool, args []string) error {
	if len(args) == 1 {
		switch {
		case args[0] == "exists" && !found:
			return fmt.Errorf("it is absent")
		case args[0] == "absent" && found:
			return fmt.Errorf("it is there: %s", got)
		case args[0] != "exists" && args[0] != "absent":
			return fmt.Errorf("%q is neither exists nor absent", args[0])
		}
		return nil
	}
	if !found {
		return fmt.Errorf("it is absent")
	}
	op, not := strings.CutPrefix(args[0], "!")
	want := strings.Join(args[1:], " ")
	var holds bool
	switch op {
	case "==", "=":
		holds = got == want
	case "has":
		holds = strings.Contains(got, want)
	case "~":
		re, err := regexp.Compile(want)
		if err != nil {
			return err
		}
		holds = re.MatchString(got)
	case "<", ">":
		g, err1 := strconv.ParseFloat(got, 64)
		w, err2 := strconv.ParseFloat(want, 64)
		if err1 != nil || err2 != nil {
			return fmt.Errorf("%q or %q is no number", got, want)
		}
		holds = op == "<" && g < w || op == ">" && g > w
	default:
		return fmt.Errorf("there is no operator %q", args[0])
	}
	if holds == not {
		return fmt.Errorf("%q %s %q does not hold", got, args[0], want)
	}
	return nil
}

func (s *script) json(args []string) error {
	s.held++
	v, found := s.last.At(args[0])
	got := ""
	if found {
		got = text(v)
	}
	if err := compare(got, found, args[1:]); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

func (s *script) body(args []string) error {
	s.held++
	return compare(string(s.last.Body), true, args)
}

func (s *script) header(args []string) error {
	s.held++
	if err := compare(s.last.Header.Get(args[0]), s.last.Header.Values(args[0]) != nil, args[1:]); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

func (s *script) save(args []string) error {
	if name, ok := strings.CutPrefix(args[0], "header:"); ok {
		s.ts.Setenv(args[1], s.last.Header.Get(name))
		return nil
	}
	v, found := s.last.At(args[0])
	if !found {
		return fmt.Errorf("there is no %s", args[0])
	}
	s.ts.Setenv(args[1], text(v))
	return nil
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

func (s *script) mint(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	now := s.svc.App.Now()
	t := &tables.Token{
		ID: id.Token.New(now, rand.Reader), Label: args[1], Epoch: 1, CreatedAt: now.UnixMilli(),
		Scopes: tables.NewSet("read", "post"), ExpiresAt: now.Add(90 * 24 * time.Hour).UnixMilli(),
	}
	err = options(args[2:], func(name, value string) error {
		switch name {
		case "scopes":
			t.Scopes = tables.NewSet(strings.Split(value, ",")...)
		case "for":
			d, err := time.ParseDuration(value)
			t.ExpiresAt = now.Add(d).UnixMilli()
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	value, hash, err := auth.MintToken(a.ID, t.ID, rand.Reader)
	if err != nil {
		return err
	}
	t.Hash = hash
	s.ts.Setenv(args[1], value)
	listed, err := s.svc.App.Table.Get(context.Background(), tables.Strong, tables.TokensKey(a.ID))
	if err != nil {
		return err
	}
	live := tables.LiveTokens(a.ID, listed[0], t.Epoch, now.UnixMilli())
	return s.svc.App.Transact(context.Background(), tables.Put(t.Item(a.ID)), live.Add(t.ID, t.ExpiresAt))
}

func (s *script) connected(args []string) error {
	if err := s.agent(args[:1]); err != nil {
		return err
	}
	a, now := s.agents[args[0]], s.svc.App.Now()
	a.ID, a.Added = id.Agent.New(now, rand.Reader), true // what key it gets is no original one
	s.ts.Setenv(strings.ToUpper(a.Name), a.ID)
	p := &tables.Profile{ID: a.ID, State: tables.StateSignup, Epoch: 1, CreatedAt: now.UnixMilli()}
	if err := s.svc.App.Transact(context.Background(), tables.Put(p.Item(), tables.NoItem())); err != nil {
		return err
	}
	return s.mint(args)
}

func (s *script) karma(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	if s.given.Karma == nil {
		s.given.Karma = map[string]bool{}
	}
	s.given.Karma[a.ID] = true
	return s.svc.App.Transact(context.Background(),
		tables.Change(tables.CountersKey(a.ID), tables.SetAttr("karma", n)))
}

func (s *script) credit(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	app := s.svc.App
	return app.Transact(context.Background(), Credit(a.ID, n, app.Now(), app.Random(16))...)
}

func (s *script) operator(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	return s.svc.App.Transact(context.Background(), tables.Operate(a.ID, true))
}

func (s *script) suspend(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(args[1])
	if err != nil {
		return err
	}
	return s.svc.App.Transact(context.Background(),
		tables.Change(tables.ProfileKey(a.ID), tables.SetAttr("suspended_until", s.svc.App.Now().Add(d).UnixMilli())))
}

func (s *script) damaged(args []string) error {
	for i := 0; i < len(args[0]); i += 5 {
		b := []byte(args[0])
		if b[i]++; b[i] == 'z'+1 || b[i] == 'Z'+1 || b[i] == '9'+1 {
			b[i] = 'a'
		}
		if err := s.call([]string{"bearer:" + string(b), "GET", "/v1/me"}); err != nil {
			return err
		}
		if err := s.status([]string{"401", "bad_token"}); err != nil {
			return fmt.Errorf("character %d: %w", i, err)
		}
	}
	return nil
}

func (s *script) forged(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	value, _, err := auth.MintToken(a.ID, id.Token.New(s.svc.App.Now(), rand.Reader), rand.Reader)
	s.ts.Setenv(args[1], value)
	return err
}

func (s *script) documented([]string) error {
	for _, c := range api.Codes {
		if !bytes.Contains(s.last.Body, []byte(`id="`+string(c.Code)+`"`)) {
			return fmt.Errorf("there is no place called %s", c.Code)
		}
	}
	return nil
}

func (s *script) styled([]string) error {
	_, style, _ := strings.Cut(string(s.last.Body), "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	if want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(s.last.Header.Get("Content-Security-Policy"), want) {
		return fmt.Errorf("the policy does not name %s", want)
	}
	return nil
}
