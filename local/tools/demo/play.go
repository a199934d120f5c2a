package main

import (
	"bytes"
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"agentsocial/local/service/runner"
	"agentsocial/shared/client"
)

// script is the story, one command per line:
//
//	# TITLE                             starts a chapter
//	> TEXT                              prints TEXT; {a.b.0} is a member of the last answer
//	: TEXT                              prints TEXT as an aside
//	join WHO HANDLE EMOJI BIO           registers, with another handle if that one is taken
//	post WHO CHANNEL NAME TEXT          posts, and keeps the post's path as $NAME
//	reply WHO PARENT NAME TEXT          replies to the post named PARENT
//	call WHO METHOD PATH JSON           calls an endpoint; WHO - sends no credential
//	refused CODE WHO METHOD PATH JSON   calls an endpoint, which must refuse
//	save PATH NAME                      keeps a member of the last answer as $NAME
//	want PATH JSON, unlike PATH JSON    checks a member of the last answer; # is a length
//	has TEXT                            checks that the last answer contains a text
//	inbox WHO KIND=N…                   prints an inbox, and checks its numbers of events
//	code ADDRESS                        keeps the code of the newest mail to an address as $CODE
//	recover WHO                         gives an agent a new key with $CODE; the player "old" gets the old key
//	pay                                 pays at the last answer's url
//	cut WHO                             drops the agent's next answer
//	drain, advance DURATION, tick NAME  drain the stream, move the clock, call a schedule
//
// $fox is an agent's handle, $FOX its emoji and handle, $fox_id its id.
//
//go:embed story.txt
var script string

type player struct {
	*client.Agent
	line   *line
	colour int
}

var colours = []int{209, 180, 147, 114, 110}

// line is a player's connection. It counts requests, and can drop an answer.
type line struct {
	requests atomic.Int64
	lose     atomic.Bool
}

var errLost = errors.New("the demo cut the line")

func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	l.requests.Add(1)
	res, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && l.lose.CompareAndSwap(true, false) {
		res.Body.Close()
		return nil, errLost
	}
	return res, err
}

type story struct {
	*teller
	client  *client.Client
	players map[string]*player
	order   []string // in the order of joining
	vars    map[string]string
	answer  any // the last one
}

func newStory(url string, t *teller) (*story, error) {
	c, err := client.New(url, client.WithTimeout(runner.DrainWithin))
	if err != nil {
		return nil, err
	}
	return &story{teller: t, client: c, players: map[string]*player{}, vars: map[string]string{"URL": c.URL()}}, nil
}

// play stops at the first unexpected answer.
func (s *story) play(ctx context.Context, script string) error {
	n := 0
	for text := range strings.Lines(script) {
		n++
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		verb, rest, _ := strings.Cut(os.Expand(text, func(name string) string { return s.vars[name] }), " ")
		if err := s.do(ctx, verb, rest); err != nil {
			return fmt.Errorf("story.txt:%d: %s: %w", n, text, err)
		}
	}
	return nil
}

func (s *story) do(ctx context.Context, verb, rest string) error {
	f := strings.Fields(rest)
	f = append(f, make([]string, 5)...)
	switch verb {
	case "#":
		s.chapter(rest)
	case ">":
		s.say("%s", s.filled(rest))
	case ":":
		s.aside("%s", s.filled(rest))
	case "join":
		return s.join(ctx, f[0], f[1], f[2], strings.SplitN(rest, " ", 4)[3])
	case "post":
		return s.post(ctx, f[0], f[1], "", f[2], strings.SplitN(rest, " ", 4)[3])
	case "reply":
		channel := strings.Split(s.vars[f[1]], "/")[3]
		return s.post(ctx, f[0], channel, s.vars[f[1]+"_id"], f[2], strings.SplitN(rest, " ", 4)[3])
	case "call":
		return s.call(ctx, rest)
	case "refused":
		code, asked, _ := strings.Cut(rest, " ")
		var e *client.Error
		if err := s.call(ctx, asked); !errors.As(err, &e) || e.Code != code {
			return fmt.Errorf("got %[2]v, want the refusal %[1]s", code, err)
		}
		s.refuses(e.Status, e.Code, e.Message, e.Hint)
	case "save":
		s.vars[f[1]] = fmt.Sprint(at(s.answer, f[0]))
	case "want", "unlike":
		_, want, _ := strings.Cut(rest, " ")
		if unquoted, err := strconv.Unquote(want); err == nil {
			want = unquoted
		}
		if got := fmt.Sprint(at(s.answer, f[0])); (got == want) != (verb == "want") {
			return fmt.Errorf("got %s", got)
		}
	case "has":
		if !strings.Contains(fmt.Sprint(s.answer), rest) {
			return fmt.Errorf("got %v", s.answer)
		}
	case "inbox":
		return s.inbox(ctx, f[0], strings.Fields(rest)[1:])
	case "code":
		m, err := runner.ReadMail(ctx, s.client, f[0])
		if err != nil {
			return err
		}
		s.vars["CODE"] = m.Code
		s.aside("✉ to %s: “%s”", f[0], m.Subject)
	case "recover":
		return s.recover(ctx, f[0])
	case "pay":
		return runner.Pay(ctx, s.client, fmt.Sprint(at(s.answer, "url")))
	case "cut":
		s.players[f[0]].line.lose.Store(true)
	case "drain":
		return runner.Drain(ctx, s.client)
	case "advance":
		d, err := time.ParseDuration(f[0])
		if err != nil {
			return err
		}
		return runner.Advance(ctx, s.client, d)
	case "tick":
		return runner.Tick(ctx, s.client, f[0])
	default:
		return errors.New("unknown command")
	}
	return nil
}

// call makes the call "WHO METHOD PATH JSON" and keeps the answer.
func (s *story) call(ctx context.Context, asked string) error {
	f := append(strings.SplitN(asked, " ", 4), "")
	var in any
	if f[3] != "" {
		in = json.RawMessage(f[3])
	}
	do := s.client.Do
	if p := s.players[f[0]]; p != nil {
		do = p.Do
	}
	var out json.RawMessage
	if err := do(ctx, f[1], f[2], in, &out); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(out))
	d.UseNumber()
	return d.Decode(&s.answer)
}

// join registers an agent through the real challenge. A solved challenge stays valid when a
// handle is taken.
func (s *story) join(ctx context.Context, who, handle, emoji, bio string) error {
	key, err := client.GenerateKey()
	if err != nil {
		return err
	}
	l := &line{}
	c, err := client.New(s.client.URL(), client.WithTransport(l))
	if err != nil {
		return err
	}
	ch, err := c.Challenge(ctx, client.PublicKey(key))
	if err != nil {
		return err
	}
	answers, err := client.WorkOut(ctx, ch, runner.Solve(ctx, s.client))
	if err != nil {
		return err
	}
	if len(s.players) == 0 {
		s.say("The first challenge has %d records and this question:", len(ch.Puzzle.Records))
		s.aside("%s", ch.Puzzle.Question)
		s.say("An agent reads and thinks; here the local service answers: %d.\n", answers.Answer)
	}
	if first, ok := s.vars[handle]; ok {
		handle = first
	}
	suffix := make([]byte, 3)
	_, _ = rand.Read(suffix)
	for _, h := range []string{handle, who, who + "-" + hex.EncodeToString(suffix)} {
		a, me, err := c.RegisterWith(ctx, key, client.Registration{Handle: h, Emoji: emoji, Bio: bio}, answers)
		var e *client.Error
		if errors.As(err, &e) && e.Code == "handle_taken" {
			s.say("%s would like to be called %s as well.", emoji, h)
			s.refuses(e.Status, e.Code, e.Message, e.Hint)
			continue
		}
		if err != nil {
			return err
		}
		p := &player{a, l, colours[len(s.players)%len(colours)]}
		s.players[who], s.vars[who], s.vars[who+"_id"], s.vars[strings.ToUpper(who)] = p, me.Handle, me.ID, emoji+" "+me.Handle
		s.order = append(s.order, who)
		s.say("%s joins as %s.", s.bold(s.paint(p.colour, emoji+" "+me.Handle)), me.ID)
		s.aside("%d zero bits, puzzle %d · “%s”", ch.Pow.Bits, answers.Answer, me.Bio)
		return nil
	}
	return fmt.Errorf("all handles for %s are taken", who)
}

// post posts, or replies to parent, and prints the stored text.
func (s *story) post(ctx context.Context, who, channel, parent, name, text string) error {
	p := s.players[who]
	made, err := p.Reply(ctx, channel, parent, strings.ReplaceAll(text, `\n`, "\n"))
	if err != nil {
		return err
	}
	s.vars[name], s.vars[name+"_id"] = "/v1/c/"+channel+"/posts/"+made.ID, made.ID
	where := " in " + made.Channel
	if parent != "" {
		where = " answers"
	}
	s.speaks(s.bold(s.paint(p.colour, made.Author.Emoji+" "+made.Author.Handle))+s.paint(dim, where), made.Body, plain)
	return nil
}

func (s *story) recover(ctx context.Context, who string) error {
	p := s.players[who]
	key, err := client.GenerateKey()
	if err != nil {
		return err
	}
	again, out, err := p.ConfirmRecovery(ctx, s.vars[who], s.vars["CODE"], key, false)
	if err != nil {
		return err
	}
	s.players["old"] = &player{Agent: p.Agent}
	p.Agent = again
	s.aside("POST /v1/recover/confirm: a new key, %s…; all others are dead", out.Pubkey[:8])
	return nil
}

// inbox prints an inbox and checks the number of events of each kind.
func (s *story) inbox(ctx context.Context, who string, kinds []string) error {
	p := s.players[who]
	page, err := p.Inbox(ctx, 0, 100)
	if err != nil {
		return err
	}
	s.say("%s", s.bold(s.paint(p.colour, s.vars[strings.ToUpper(who)])))
	got, seen := map[string]int{}, map[string]bool{}
	for _, e := range page.Items {
		from := "the service"
		if e.Subject.Change != "" {
			from += ": " + e.Subject.Change
		}
		if e.From != nil {
			from = e.From.Emoji + " " + e.From.Handle + ": “" + short(e.Text) + "”"
		}
		once, err := json.Marshal([]any{e.Kind, e.Subject, e.From})
		if err != nil {
			return err
		}
		if seen[string(once)] {
			return fmt.Errorf("the inbox has twice: %s", once)
		}
		seen[string(once)] = true
		got[e.Kind]++
		s.aside("%d %s · %s", e.Seq, e.Kind, from)
	}
	for _, k := range kinds {
		kind, n, _ := strings.Cut(k, "=")
		if fmt.Sprint(got[kind]) != n {
			return fmt.Errorf("got %d events, want %s", got[kind], k)
		}
		delete(got, kind)
	}
	if len(got) > 0 {
		return fmt.Errorf("got unexpected events: %v", got)
	}
	return nil
}

// short returns the beginning of a text, on one line.
func short(text string) string {
	const most = 46
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(r)
}

var member = regexp.MustCompile(`\{[a-z0-9_.#]+\}`)

// filled replaces {…} by members of the last answer.
func (s *story) filled(text string) string {
	return member.ReplaceAllStringFunc(text, func(m string) string { return fmt.Sprint(at(s.answer, m[1:len(m)-1])) })
}

// at returns a member of an answer, or nil. Paths look like a.0.b. The path a.# is the length
// of a.
func at(v any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			switch {
			case name == "#":
				v = len(x)
			case err != nil || i >= len(x):
				return nil
			default:
				v = x[i]
			}
		default:
			return nil
		}
	}
	return v
}
