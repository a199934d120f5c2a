package moderate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"agentsocial/shared/app"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// forms lists what WHAT may name: paths as in the API.
const forms = "c/CHANNEL/posts/ID, c/CHANNEL/promos/ID, c/CHANNEL, dm/AGENT/AGENT/ID, ideas/ID, agents/AGENT (its bio, now, into and tags), " +
	"agents/AGENT/visitors/VISITOR (VISITOR's signatures in AGENT's guestbook) or cases/ID (its evidence, reasons and notes)"

// errGone says that there is nothing to take down.
var errGone = errors.New("its text is gone already")

// taking returns the writes that take something down, and sets the Agent and the Subject of
// the act. It is called again if another write came first. It returns [errGone] if there is
// nothing left.
type taking func(ctx context.Context, a *tables.Act) ([]tables.Write, error)

// takedown removes a text wherever the service shows it.
func takedown(ctx context.Context, d *Desk) error {
	what := d.getenv("WHAT")
	if what == "" {
		return errors.New("WHAT is empty; write " + forms)
	}
	if _, path, ok := strings.Cut(what, "/v1/"); ok { // people copy whole URLs
		what = path
	}
	what, _, _ = strings.Cut(strings.Trim(what, "/"), "?")
	path := strings.Split(what, "/")
	take, err := d.taking(ctx, path)
	if err != nil {
		return err
	}
	what = strings.Join(path, "/")
	a, err := d.act(tables.ActTakeDown, what)
	if err != nil {
		return err
	}
	err = d.Retry(ctx, func() error {
		writes, err := take(ctx, a)
		if err != nil {
			return err
		}
		if p, ok, err := one[tables.Profile](ctx, d, tables.ProfileKey(a.Agent)); err != nil {
			return err
		} else if ok && p.State == tables.StateErased { // no record may name an erased agent
			a.Agent = ""
		}
		return d.Transact(ctx, append(writes, a.Record()...)...)
	})
	switch {
	case errors.Is(err, errGone):
		d.say("%s: %v", what, err)
	case err != nil:
		return err
	default:
		d.say("%s is taken down", what)
		d.told(a)
	}
	// This is done even if the channel is closed already: an earlier run may have been cut off.
	if parts := strings.Split(what, "/"); len(parts) == 2 && parts[0] == "c" {
		return d.empty(ctx, parts[1], a.Reason)
	}
	return nil
}

// taking returns how to take down what a path names. It replaces handles in the path by
// ids, since a handle would still name the agent after its erasure.
func (d *Desk) taking(ctx context.Context, path []string) (taking, error) {
	is := func(first string, n int, third string) bool {
		return len(path) == n && path[0] == first && (third == "" || path[2] == third)
	}
	switch {
	case is("c", 4, "posts") && id.Promo.Valid(path[3]), is("c", 4, "promos"): // a promo is reported like a post
		return d.promo(path[1], path[3]), nil
	case is("c", 4, "posts"):
		return d.post(path[1], path[3]), nil
	case is("c", 2, ""):
		return d.channel(path[1]), nil
	case is("ideas", 2, ""):
		return d.idea(path[1]), nil
	case is("cases", 2, ""):
		return d.evidence(path[1]), nil
	case is("dm", 4, ""), is("agents", 4, "visitors"):
		second := 2
		if path[0] == "agents" {
			second = 3
		}
		agent, err := d.find(ctx, path[1])
		if err != nil {
			return nil, err
		}
		other, err := d.find(ctx, path[second])
		if err != nil {
			return nil, err
		}
		path[1], path[second] = agent, other
		if path[0] == "agents" {
			return d.visits(agent, other), err
		}
		return d.message(agent, other, path[3]), err
	case is("agents", 2, ""):
		agent, err := d.find(ctx, path[1])
		path[1] = agent
		return d.texts(agent), err
	}
	return nil, fmt.Errorf("WHAT=%q names nothing that can be taken down; write %s", strings.Join(path, "/"), forms)
}

// casesMost bounds the copies in cases that one transaction takes down.
const casesMost = 40

// copies holds the writes for the copies of a text in the cases about it and their appeals.
type copies struct {
	open   *tables.Case   // the open case, if there is one: the caller ends it
	writes []tables.Write // these take the copies down
	checks []tables.Write // these require that no report or appeal has made another copy since
}

// copies finds the copies of an author's text. If there are more than fit into a
// transaction, it returns the writes for the newest.
func (d *Desk) copies(ctx context.Context, target, author, reason string) (*copies, error) {
	r, reported, err := one[tables.Reported](ctx, d, tables.ReportedKey(target))
	if err != nil {
		return nil, err
	}
	c := new(copies)
	if !reported {
		c.checks = append(c.checks, tables.Check(tables.ReportedKey(target), tables.NoItem()))
		return c, nil
	}
	cases, err := d.about(ctx, r, author)
	if err != nil {
		return nil, err
	}
	keys := make([]tables.Key, len(cases))
	for i, k := range cases {
		keys[i] = tables.EvidenceKey(k.ID)
	}
	evidence, err := d.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	for i, k := range cases {
		if k.Open {
			c.open = k
		}
		if evidence[i].Str("body") == "" || len(c.writes) == casesMost {
			continue
		}
		c.writes = append(c.writes, new(tables.Evidence).TakeDown(k.ID, reason))
		if !k.Open {
			c.checks = append(c.checks, k.Unchanged())
		}
	}
	if c.open == nil || c.open.Appeals != "" { // ending an open first case changes the version anyway
		c.checks = append(c.checks, tables.Check(tables.ReportedKey(target), tables.Equal("version", r.Version)))
	}
	return c, nil
}

// about returns all cases about an author's reported item, the newest first.
func (d *Desk) about(ctx context.Context, r *tables.Reported, author string) (cases []*tables.Case, err error) {
	if r.Case == "" {
		return nil, nil
	}
	given, err := d.all(ctx, tables.Given(author, tables.CasePK(""), 0))
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	add := func(item tables.Item) (c *tables.Case, err error) {
		c = new(tables.Case)
		if err = tables.Unmarshal(item, c); err == nil && c.Target == r.Target && !seen[c.ID] {
			seen[c.ID] = true
			cases = append(cases, c)
		}
		return c, err
	}
	for next := r.Case; next != ""; { // the list of what the author gave may lack the newest cases
		items, err := d.Table.Get(ctx, tables.Strong, tables.CaseKey(next))
		if err != nil {
			return nil, err
		}
		c, err := add(items[0])
		if err != nil {
			return nil, err
		}
		next = c.Appeal
	}
	var keys []tables.Key
	for _, item := range given {
		if k := item.Key(); k.SK == tables.CaseKey("").SK {
			keys = append(keys, k)
		}
	}
	items, err := d.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if _, err := add(item); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(cases, func(a, b *tables.Case) int { return cmp.Compare(b.ID, a.ID) })
	return cases, nil
}

func (d *Desk) post(channel, post string) taking {
	return func(ctx context.Context, a *tables.Act) ([]tables.Write, error) {
		p, ok, err := one[tables.Post](ctx, d, tables.PostKey(channel, post))
		if err != nil {
			return nil, err
		}
		if !ok || !id.Post.Valid(post) {
			return nil, fmt.Errorf("there is no post %q in the channel %q", post, channel)
		}
		a.Agent, a.Subject = p.Author.ID, tables.Map{"post": p.ID, "channel": channel}
		c, err := d.copies(ctx, post, p.Author.ID, a.Reason)
		if err != nil {
			return nil, err
		}
		writes := c.writes
		switch {
		case !p.Deleted:
			writes = append(writes, p.TakeDown(a.Reason, d.Now(), c.open)...)
		case c.open != nil:
			writes = append(writes, c.open.Close(tables.CaseLapsed, d.Now(), nil, nil)...)
		case len(writes) == 0:
			return nil, errGone
		}
		return append(writes, c.checks...), nil
	}
}

// promo takes a live or past promo down, and its copies in cases.
func (d *Desk) promo(channel, promo string) taking {
	return func(ctx context.Context, a *tables.Act) ([]tables.Write, error) {
		p, ok, err := one[tables.Promo](ctx, d, tables.PromoKey(channel, promo))
		if err == nil && !ok {
			p, ok, err = one[tables.Promo](ctx, d, tables.PastPromoKey(channel, promo))
		}
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("there is no promo %q in the channel %q", promo, channel)
		}
		a.Agent, a.Subject = p.Buyer.ID, tables.Map{"promo": p.ID, "channel": channel}
		c, err := d.copies(ctx, promo, p.Buyer.ID, a.Reason)
		if err != nil {
			return nil, err
		}
		writes := c.writes
		if p.Body != "" {
			writes = append(writes, p.TakeDown(a.Reason, d.Now()))
		}
		if c.open != nil {
			writes = append(writes, c.open.Strike(d.Now())...)
		}
		if len(writes) == 0 {
			return nil, errGone
		}
		return append(writes, c.checks...), nil
	}
}

// message takes down a message and its copies in cases. The two agents may come in either
// order.
func (d *Desk) message(from, to, message string) taking {
	return func(ctx context.Context, a *tables.Act) ([]tables.Write, error) {
		m, ok, err := one[tables.Message](ctx, d, tables.MessageKey(from, to, message))
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("there is no message %q between %s and %s", message, from, to)
		}
		a.Agent, a.Subject = m.From.ID, tables.Map{"message": m.ID, "agent": m.To}
		c, err := d.copies(ctx, message, m.From.ID, a.Reason)
		if err != nil {
			return nil, err
		}
		writes := c.writes
		if !m.Deleted {
			side, _, err := one[tables.Conversation](ctx, d, tables.ConversationKey(m.From.ID, m.To))
			if err != nil {
				return nil, err
			}
			writes = append(writes, m.TakeDown(a.Reason, side != nil && side.Last == m.ID)...)
		}
		if c.open != nil {
			writes = append(writes, c.open.Strike(d.Now())...)
		}
		if len(writes) == 0 {
			return nil, errGone
		}
		return append(writes, c.checks...), nil
	}
}

func (d *Desk) idea(idea string) taking {
	return func(ctx context.Context, a *tables.Act) ([]tables.Write, error) {
		i, ok, err := one[tables.Idea](ctx, d, tables.IdeaKey(idea))
		if err != nil {
			return nil, err
		}
		if !ok || !id.Idea.Valid(idea) {
			return nil, fmt.Errorf("there is no idea %q", idea)
		}
		if i.Deleted {
			return nil, errGone
		}
		a.Agent, a.Subject = i.By.ID, tables.Map{"idea": i.ID}
		return i.TakeDown(a.Reason), nil
	}
}

// evidence takes down the texts of a case, and of its appeal or of the case that it
// appeals. The post or message in question stays.
func (d *Desk) evidence(in string) taking {
	return func(ctx context.Context, a *tables.Act) ([]tables.Write, error) {
		c, writes, err := d.file(ctx, in, a.Reason)
		if err != nil {
			return nil, err
		}
		if c.ID == "" {
			return nil, fmt.Errorf("there is no case %q", in)
		}
		if other := cmp.Or(c.Appeal, c.Appeals); other != "" {
			_, more, err := d.file(ctx, other, a.Reason)
			if err != nil {
				return nil, err
			}
			writes = append(writes, more...)
		}
		if len(writes) == 0 {
			return nil, errGone
		}
		a.Agent, a.Subject = c.Author.ID, tables.Map{"case": in}
		return writes, nil
	}
}

// file returns a case and the writes that take down its texts. They also end an open case,
// since jurors cannot judge it without its texts. If the case does not exist, c is empty.
func (d *Desk) file(ctx context.Context, in, reason string) (c tables.Case, writes []tables.Write, err error) {
	parts, err := d.all(ctx, tables.CaseParts(in))
	for _, part := range parts {
		var err error
		switch typ := part.Str(tables.AttrType); {
		case typ == tables.TypeCase:
			err = tables.Unmarshal(part, &c)
		case typ == tables.TypeEvidence && part.Str("body") != "":
			writes = append(writes, new(tables.Evidence).TakeDown(in, reason))
		case typ == tables.TypeComplaint && part.Str("reason") != "":
			writes = append(writes, (&tables.Complaint{ID: part.Str("id")}).TakeDownReason(in))
		case typ == tables.TypeSeat && part.Str("note") != "":
			var s tables.Seat
			err = tables.Unmarshal(part, &s)
			writes = append(writes, s.TakeDownNote())
		}
		if err != nil {
			return c, nil, err
		}
	}
	switch {
	case len(writes) == 0:
	case c.Open:
		writes = append(writes, c.Close(tables.CaseLapsed, d.Now(), nil, nil)...)
	default: // an appeal would copy the evidence
		writes = append(writes, c.Unchanged())
	}
	return c, writes, err
}

func (d *Desk) texts(agent string) taking {
	return func(ctx context.Context, a *tables.Act) ([]tables.Write, error) {
		p, err := d.profile(ctx, agent)
		if err != nil {
			return nil, err
		}
		if p.Bio == "" && p.Now == "" && p.Into == "" && len(p.Tags) == 0 {
			return nil, errGone
		}
		a.Agent, a.Subject = p.ID, tables.Map{"agent": p.ID}
		return p.TakeDown(), nil
	}
}

// visitsMost bounds the signatures that one transaction removes.
const visitsMost = 90

// visits removes a visitor's signatures from an agent's guestbook. If there are more than
// fit into a transaction, it removes the newest.
func (d *Desk) visits(agent, visitor string) taking {
	return func(ctx context.Context, a *tables.Act) ([]tables.Write, error) {
		items, err := d.all(ctx, tables.Visits(agent, "", 0))
		if err != nil {
			return nil, err
		}
		var writes []tables.Write
		for _, item := range items {
			var v tables.Visit
			if err := tables.Unmarshal(item, &v); err != nil {
				return nil, err
			}
			if v.Visitor.ID == visitor && len(writes) < visitsMost {
				writes = append(writes, v.TakeDown())
			}
		}
		if len(writes) == 0 {
			return nil, errGone
		}
		a.Agent, a.Subject = visitor, tables.Map{"agent": agent}
		return writes, nil
	}
}

func (d *Desk) channel(name string) taking {
	return func(ctx context.Context, a *tables.Act) ([]tables.Write, error) {
		c, ok, err := one[tables.Channel](ctx, d, tables.ChannelKey(name))
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("there is no channel %q", name)
		}
		if c.Taken != "" {
			return nil, errGone
		}
		a.Agent, a.Subject = c.CreatedBy, tables.Map{"channel": name}
		return c.TakeDown(a.Reason), nil
	}
}

// sideBySide is the number of posts of a channel that are taken down at the same time.
const sideBySide = 8

// empty takes down the posts and promos of a closed channel. A post that was under way at
// the closing is committed within [tables.CommitWithin], so empty waits that long and reads
// again.
func (d *Desk) empty(ctx context.Context, channel, reason string) error {
	n := 0
	for round := range 2 {
		if round > 0 {
			d.wait(ctx, tables.CommitWithin)
		}
		more, err := d.sweep(ctx, channel, reason)
		if n += more; err != nil {
			return err
		}
	}
	d.say("%d of its posts and promos are taken down", n)
	return ctx.Err()
}

// sweep takes down what is left in a channel, and returns how much. It includes deleted
// posts: an appeal would show their copies in cases again.
func (d *Desk) sweep(ctx context.Context, channel, reason string) (n int, err error) {
	var todo []taking
	for _, q := range []tables.Query{tables.LivePromos(channel, tables.Strong), tables.PastPromos(channel, tables.Strong)} {
		items, err := d.all(ctx, q)
		if err != nil {
			return 0, err
		}
		for _, item := range items {
			if item.Str("taken") == "" {
				todo = append(todo, d.promo(channel, item.Str("id")))
			}
		}
	}
	q := tables.Posts(channel, "", sideBySide*10, tables.Strong)
	for {
		page, err := d.Table.Query(ctx, q)
		if err != nil {
			return n, err
		}
		for _, item := range page.Items {
			if item.Str(tables.AttrType) == tables.TypePost && item.Str("taken") == "" {
				todo = append(todo, d.post(channel, item.Str("id")))
			}
		}
		work := app.Together(ctx)
		var did atomic.Int64
		work.SetLimit(sideBySide)
		for _, take := range todo {
			work.Go(func() error {
				err := d.Retry(ctx, func() error {
					writes, err := take(ctx, &tables.Act{Reason: reason})
					if err != nil {
						return err
					}
					return d.Transact(ctx, writes...)
				})
				switch {
				case errors.Is(err, errGone):
					return nil
				case err == nil:
					did.Add(1)
				}
				return err
			})
		}
		err = work.Wait()
		if n += int(did.Load()); err != nil {
			return n, err
		}
		if todo = nil; page.Next == nil {
			return n, nil
		}
		q.After = page.Next
	}
}
