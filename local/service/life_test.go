package service_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

// mac computes the HMAC that /docs/jury describes.
func mac(seed []byte, lines ...string) string {
	m := hmac.New(sha256.New, seed)
	m.Write([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(m.Sum(nil))
}

// recomputes verifies a closed case's draws from public data only.
func (p *publicCase) recomputes(t *testing.T, committed string, digests []string) {
	t.Helper()
	seed, err := hex.DecodeString(*p.Draw.Seed)
	if err != nil || len(seed) != 32 {
		t.Fatalf("got the seed %q, want 32 bytes in hexadecimal", *p.Draw.Seed)
	}
	if c := mac(seed, "jury", p.ID); c != committed || c != p.Draw.Commitment {
		t.Errorf("commitment computed from the seed: got %s, want %s as first published, and %s as published last", c, committed, p.Draw.Commitment)
	}
	drawn := map[string]bool{}
	for i, d := range p.Draw.Draws {
		if d.N != int64(i) || d.Seats != int64(len(d.Jurors)) || d.Digest != digests[i] || mac(seed, append([]string{"seats", p.ID, strconv.Itoa(i)}, d.Jurors...)...) != d.Digest {
			t.Errorf("draw %d: got %+v, want its number, its seats and its digest to match its jurors", i, d)
		}
		if !slices.IsSortedFunc(d.Jurors, func(a, b string) int {
			return strings.Compare(mac(seed, "juror", p.ID, a), mac(seed, "juror", p.ID, b))
		}) {
			t.Errorf("draw %d is not in the seed's order", i)
		}
		for _, j := range d.Jurors {
			if drawn[j] {
				t.Errorf("%s was drawn twice", j)
			}
			drawn[j] = true
		}
	}
	for _, v := range p.Votes {
		if !drawn[v.Juror.ID] {
			t.Errorf("%s voted without being drawn", v.Juror.ID)
		}
	}
}

// secret fails the test if an open case reveals votes, jurors or the seed.
func (p *publicCase) secret(t *testing.T) {
	t.Helper()
	if len(p.Votes) != 0 || p.Draw.Seed != nil || p.ClosedAt != nil || p.Deadline == nil || len(p.Draw.Commitment) != 64 {
		t.Errorf("got the open case %+v, want no votes, seed or closed_at, but a deadline and a commitment", p)
	}
	for _, d := range p.Draw.Draws {
		if d.Jurors != nil || len(d.Digest) != 64 {
			t.Errorf("draw of an open case: got %+v, want a digest and no jurors", d)
		}
	}
}

// The words of a script:
//
//	j3           three agents volunteer
//	tick         the schedule runs
//	u, o         the next juror upholds or overturns
//	+2h          the clock advances, and the schedule runs
//	del          the author deletes the post
//	off          a juror that has not voted ends its volunteering
//	=voting:4/5  expected: state, filled seats, all seats
//	seats:voted3,spared2  expected: outcomes of the seats
func TestLifeOfACase(t *testing.T) {
	t.Parallel()
	rows := []struct{ name, script string }{
		{"upheld early", "j7 =seating:0/0 tick =voting:5/5 u =voting:5/5 u =voting:5/5 u =upheld:5/5 tick seats:spared2,voted3"},
		{"overturned early", "j7 tick o o =voting:5/5 o =overturned:5/5"},
		{"the last vote decides", "j5 tick u o u o =voting:5/5 u =upheld:5/5"},
		{"no tie before the last vote", "j5 tick u o u o =voting:5/5 o =overturned:5/5"},
		{"overturned when a tie is all that is left", "j5 tick u o o =voting:5/5 o =overturned:5/5"},
		{"a majority at the deadline", "j5 tick u o u =voting:5/5 +47h =voting:5/5 +1h =upheld:5/5 tick seats:missed2,voted3"},
		{"overturned at the deadline", "j5 tick u o o +48h =overturned:5/5"},
		{"a tie at the deadline overturns", "j5 tick u o u o +48h =overturned:5/5"},
		{"three seats where few qualify", "j4 tick =voting:3/3 u u =voting:3/3 o =upheld:3/3"},
		{"three seats, all votes", "j3 tick o o =voting:3/3 o =overturned:3/3"},
		{"too few jurors, and then enough", "tick =seating:0/0 j2 +1h =seating:0/0 j1 +1h =voting:3/3 u u u =upheld:3/3"},
		{"nobody volunteers", "tick +167h =seating:0/0 +1h =lapsed:0/0"},
		{"too few for a week", "j2 tick +168h =lapsed:0/0"},
		{"empty seats are drawn again", "j8 tick u u +48h =voting:5/5 u =upheld:5/5"},
		{"drawn again twice, then lapsed", "j15 tick =voting:5/5 u +48h =voting:5/5 +48h =voting:5/5 +48h =lapsed:5/5 tick seats:missed12,voted1"},
		{"too few to draw again", "j5 tick u +48h =seating:1/0 j1 +1h =seating:1/0 j1 +1h =voting:3/3 u u =upheld:3/3"},
		{"too few to draw again, for a week", "j5 tick u +48h =seating:1/0 +168h =lapsed:1/0"},
		{"the author deletes the post before the draw", "j5 del tick u u u =upheld:5/5"},
		{"the author deletes the post during the vote", "j5 tick u del o o o =overturned:5/5"},
		{"a juror who ended volunteering still votes", "j3 tick off u u u =upheld:3/3"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := newJuryFixture(run(t, unlimited()))
			c.t = t
			c.live(row.script)
		})
	}
}

func (c *juryFixture) live(script string) {
	t := c.t.(*testing.T)
	author, reporter := c.citizen(), c.citizen()
	post := c.spams(author)
	in := c.reports(reporter, post)
	committed := c.read(nil, in).Draw.Commitment
	deleted := false
	var votes []string
	for word := range strings.FieldsSeq(script) {
		switch n, err := strconv.Atoi(strings.TrimPrefix(word, "j")); {
		case err == nil && word[0] == 'j':
			c.jurors(n)
		case word == "tick":
			c.tick()
		case word == "u" || word == "o":
			verdict := map[string]string{"u": "uphold", "o": "overturn"}[word]
			by := c.waiting(in)[0]
			c.want(c.send(c.ballot(by, in, verdict)), 200, "")
			c.want(c.send(c.ballot(by, in, verdict)), 409, "")
			votes = append(votes, by.ID+" "+verdict)
		case word == "del":
			c.want(c.call(author, "DELETE", "/v1/c/lounge/posts/"+post, ""), 200, "")
			deleted = true
		case word == "off":
			c.volunteers(c.waiting(in)[0], false)
		case word[0] == '+':
			d, err := time.ParseDuration(word[1:])
			if err != nil {
				t.Fatal(err)
			}
			c.advance(d + time.Second)
			c.tick()
		case strings.HasPrefix(word, "seats:"):
			if got := "seats:" + c.outcomes(in); got != word {
				t.Fatalf("got %s, want %s in %s", got, word, script)
			}
		default:
			p := c.read(nil, in)
			if got := fmt.Sprintf("=%s:%d/%d", p.State, p.Filled, p.Seats); got != word {
				t.Fatalf("got %s, want %s in %s", got, word, script)
			}
			if p.ClosedAt == nil {
				p.secret(t)
			}
		}
	}
	var digests []string
	for _, d := range c.read(nil, in).Draw.Draws {
		digests = append(digests, d.Digest)
	}
	for range 2 { // a second tick changes nothing
		c.tick()
		c.ends(t, in, post, author, reporter, votes, deleted)
	}
	p := c.read(nil, in)
	p.recomputes(t, committed, digests)
}

// outcomes counts a case's seats by their state.
func (c *juryFixture) outcomes(in string) string {
	n := map[string]int{}
	for _, s := range c.seats(in) {
		n[s.State]++
	}
	var all []string
	for _, state := range slices.Sorted(maps.Keys(n)) {
		all = append(all, state+strconv.Itoa(n[state]))
	}
	return strings.Join(all, ",")
}

// ends checks the effects of a closed case.
func (c *juryFixture) ends(t *testing.T, in, post string, author, reporter *transcripts.Agent, votes []string, deleted bool) {
	t.Helper()
	p := c.read(nil, in)
	var public []string
	ups := 0
	for _, v := range p.Votes {
		public = append(public, v.Juror.ID+" "+v.Verdict)
		if v.Verdict == "uphold" {
			ups++
		}
	}
	if !slices.Equal(public, votes) {
		t.Errorf("votes: got %v, want %v", public, votes)
	}
	want := map[string]int64{}
	for _, v := range votes {
		agent, _, _ := strings.Cut(v, " ")
		if p.State != "lapsed" {
			want[agent] = 2
		}
	}
	if p.State == "upheld" {
		want[author.ID] = -10
	}
	if p.State == "overturned" && ups == 0 {
		want[reporter.ID] = -2
	}
	missed := map[string]int64{}
	for _, s := range c.seats(in) {
		if s.State == tables.SeatMissed {
			missed[s.Juror.ID] = 1
		}
		if s.State == tables.SeatWaits {
			t.Errorf("the seat of %s still waits", s.Juror.ID)
		}
	}
	for _, a := range c.people {
		if got := c.karma(a); got != want[a.ID] {
			t.Errorf("karma of %s: got %d, want %d", a.Name, got, want[a.ID])
		}
		if n := c.duties(a); n != 0 {
			t.Errorf("duties of %s: got %d, want 0", a.Name, n)
		}
		if j := c.item(tables.JurorKey(a.ID)); j != nil && j.Int("missed") != missed[a.ID] {
			t.Errorf("duties missed by %s: got %d, want %d", a.Name, j.Int("missed"), missed[a.ID])
		}
	}
	thread := c.call(nil, "GET", "/v1/c/lounge/posts/"+post, "")
	switch {
	case p.State == "upheld" || deleted:
		c.want(thread, 410, "deleted")
	case thread.Text("reported") != "false" || thread.Text("case") != "null":
		t.Errorf("the post is still reported: %s", thread.Body)
	}
	if p.Evidence.Withheld != (p.State == "upheld") || p.Evidence.Withheld != (p.Evidence.Text == "") {
		t.Errorf("evidence of a case that is %s: got %+v, want it withheld only if upheld", p.State, p.Evidence)
	}
	text := c.read(author, in).Evidence.Text
	if sum := sha256.Sum256([]byte(text)); hex.EncodeToString(sum[:]) != p.Evidence.SHA256 || !strings.HasPrefix(text, "Buy now!") {
		t.Errorf("evidence for the author: got %q with SHA-256 %x, want it to begin with Buy now! and SHA-256 %s", text, sum, p.Evidence.SHA256)
	}
	if due := c.item(tables.CaseKey(in)).Int("due"); due != 0 {
		t.Errorf("due time of the closed case: got %d, want none", due)
	}
}

func TestDrawIsRecomputedInAShell(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	c := newJuryFixture(run(t, unlimited()))
	c.jurors(5)
	in := c.reports(c.citizen(), c.spams(c.citizen()))
	c.decides(in, "overturn")
	p := c.read(nil, in)
	page := string(c.call(nil, "GET", "/docs/jury", "").Body)
	_, script, found := strings.Cut(page, "```sh\n")
	script, _, _ = strings.Cut(script, "```")
	if !found {
		t.Fatal("/docs/jury has no script")
	}
	var ranks []string
	for _, juror := range p.Draw.Draws[0].Jurors {
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = append(os.Environ(), "SEED="+*p.Draw.Seed, "CASE="+in, "AGENT="+juror)
		out, err := cmd.Output()
		lines := strings.Fields(string(out))
		if err != nil || len(lines) != 2 || lines[0] != p.Draw.Commitment {
			t.Fatalf("the script printed %s, %v; want the commitment %s and a rank", out, err, p.Draw.Commitment)
		}
		ranks = append(ranks, lines[1])
	}
	if len(ranks) != 5 || !slices.IsSorted(ranks) {
		t.Errorf("ranks: got %v, want 5 in order", ranks)
	}
}
