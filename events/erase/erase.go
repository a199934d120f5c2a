// Package erase finishes the erasure of agents: it removes an erased agent's texts,
// name and credentials wherever they are in the table.
//
// An erasure is done in passes over every place where the agent has items. The last
// pass finds nothing. It begins at least [tables.EraseAfter] after the request, when
// all requests of the agent have ended. The inbox's head is closed, so that
// events/inbox adds no more events. Erasing 10 000 posts takes a few seconds and 60 020
// write units, six for each post.
package erase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/app/seats"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/outside/payments"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type erase struct {
	*app.App
	closed bool // set by pass: all cases that the agent opened or joined have closed
}

// New declares the schedule.
func New(a *app.App) schedule.Function {
	const both = tables.Agents | tables.Channels | tables.DirectMessages | tables.Inboxes | tables.KeyClaims | tables.Ledgers | tables.Nonces |
		tables.Operators | tables.Owners | tables.PostMarks | tables.Quotas | tables.Reports | tables.Guestbooks | tables.IdeaBoard | tables.Cases
	return schedule.Function{
		Name: "erase", Doc: "Removes the texts, names and credentials of agents that were erased.",
		Reads: both | tables.RankIndex | tables.ParentIndex | tables.AuthorIndex, Writes: both,
		Needs: app.Payments,
		Every: time.Minute, Timeout: 50 * time.Second,
		Handle: erase{App: a}.handle,
	}
}

const (
	// sweepFor bounds one sweep, below the function's timeout.
	sweepFor = 40 * time.Second

	// takeFor is how far a sweep first postpones an erasure's due time. It is longer
	// than a sweep, and shorter than two intervals of the schedule.
	takeFor = 100 * time.Second

	// restMost bounds the time between two passes.
	restMost = 5 * time.Minute

	pageMost   = 100
	sideBySide = 16
)

func (e erase) handle(ctx context.Context) error {
	return schedule.Sweep(ctx, sweepFor, func(ctx context.Context) error {
		return schedule.Each(ctx, e.App, tables.ErasuresDue(e.Now(), pageMost), 1, e.erase)
	})
}

// erase makes one pass over what an agent left, unless another sweep does. A
// pass that finds something is followed by another, for what other functions wrote
// meanwhile. Passes do not find what is already erased, so an interrupted erasure
// continues where it stopped.
func (e erase) erase(ctx context.Context, item tables.Item) error {
	var work tables.Erasure
	if err := tables.Unmarshal(item, &work); err != nil {
		return err
	}
	began := e.Now()
	if err := e.Once(ctx, work.Move(began.Add(takeFor))); errors.Is(err, tables.ErrOvertaken) {
		return nil
	} else if err != nil {
		return err
	}
	found, err := e.pass(ctx, work.Agent)
	if err != nil {
		return fmt.Errorf("erase: %s: %w", work.Agent, err)
	}
	next := work.End()
	if age := began.Sub(time.UnixMilli(work.At)); found || age < tables.EraseAfter {
		next = work.Move(e.Now().Add(max(tables.EraseAfter, min(age/10, restMost)))) // a case can stay open for days
	}
	return e.Once(ctx, next)
}

// pass looks everywhere once, and reports whether it found anything. It begins with
// the items that everybody can see.
func (e erase) pass(ctx context.Context, agent string) (found bool, err error) {
	found, _, err = e.place(ctx, agent, tables.History(agent, 0, pageMost))
	more, closed, failed := e.place(ctx, agent, tables.Given(agent, tables.CasePK(""), pageMost))
	found, e.closed, err = found || more, closed, errors.Join(err, failed)
	for _, q := range []tables.Query{
		tables.Given(agent, "", pageMost), tables.Duties(agent), tables.Followers(tables.FollowAgent, agent, pageMost),
		whole(tables.AgentPK(agent)), whole(tables.InboxPK(agent)), whole(tables.GuestbookPK(agent)),
		whole(tables.LedgerPK(tables.AgentAccount(agent))), whole(tables.QuotaPK(agent)),
	} {
		more, _, failed := e.place(ctx, agent, q)
		found, err = found || more, errors.Join(err, failed)
		if ctx.Err() != nil {
			return found, err
		}
	}
	return found, err
}

func whole(pk string) tables.Query {
	return tables.Query{PK: pk, Limit: pageMost, Consistency: tables.Strong}
}

// place erases the items that a query finds. had reports whether there was anything to
// erase, and done whether nothing is left. Items that cannot be erased now are left to
// the next pass.
func (e erase) place(ctx context.Context, agent string, q tables.Query) (had, done bool, err error) {
	var found, left atomic.Bool
	for failed := error(nil); ; {
		page, err := e.Table.Query(ctx, q)
		if err != nil {
			return found.Load(), false, errors.Join(failed, err)
		}
		items := page.Items
		if q.Index != "" { // an index has only keys
			keys := make([]tables.Key, len(items))
			for i, item := range items {
				keys[i] = item.Key()
			}
			if items, err = e.GetAll(ctx, tables.Strong, keys); err != nil {
				return found.Load(), false, errors.Join(failed, err)
			}
		}
		var work app.Group
		work.SetLimit(sideBySide)
		for _, item := range items {
			if item == nil { // the index still listed a deleted item
				continue
			}
			work.Go(func() error {
				did, err := e.item(ctx, agent, item)
				if did {
					found.Store(true)
				}
				if err != nil {
					left.Store(true)
				}
				if errors.Is(err, tables.ErrOvertaken) {
					return nil
				}
				return err
			})
		}
		failed = errors.Join(failed, work.Wait())
		if page.Next == nil || ctx.Err() != nil {
			return found.Load(), !left.Load() && page.Next == nil, failed
		}
		q.After = page.Next
	}
}

// item erases one item, and reports whether there was anything to do. The error is
// [tables.ErrOvertaken] if another write changed the item meanwhile, or its case is
// open.
func (e erase) item(ctx context.Context, agent string, item tables.Item) (did bool, err error) {
	typ := item.Str(tables.AttrType)
	if keeps[typ] {
		return false, nil
	}
	var writes []tables.Write
	switch do := rules[typ]; {
	case do != nil:
		writes, err = do(e, ctx, agent, item)
	case own(agent, item.Key()):
		writes = []tables.Write{tables.Delete(item.Key())}
	default:
		return true, fmt.Errorf("no rule for %s at %v", typ, item.Key())
	}
	if err == nil {
		err = e.commit(ctx, writes)
	}
	return true, err
}

// commit makes the writes. A single one needs no transaction and costs half as much.
func (e erase) commit(ctx context.Context, writes []tables.Write) error {
	switch len(writes) {
	case 0:
		return nil
	case 1:
		return e.Once(ctx, writes[0])
	}
	return e.Transact(ctx, writes...)
}

// own reports whether a key is in one of the agent's own partitions. Items there are
// deleted by default, so a new type needs no rule.
func own(agent string, k tables.Key) bool {
	switch k.PK {
	case tables.AgentPK(agent), tables.InboxPK(agent), tables.GuestbookPK(agent), tables.QuotaPK(agent):
		return true
	}
	return false
}

// keeps lists the types that stay as they are in the agent's own partitions and its
// ledger. They hold numbers and ids.
var keeps = map[string]bool{
	tables.TypeProfile: true, tables.TypeCounters: true, tables.TypeErasure: true, tables.TypeInboxHead: true,
	tables.TypeBalance: true, tables.TypeMovement: true,
}

// rule returns the writes that erase an item. It may commit other writes first.
type rule func(e erase, ctx context.Context, agent string, item tables.Item) ([]tables.Write, error)

// rules holds a rule for each type whose items need more than deleting, or lie outside
// the agent's own partitions.
var rules = map[string]rule{
	tables.TypePost: post, tables.TypeIdea: idea, tables.TypeHistory: history,
	tables.TypeFollow: follow, tables.TypeConversation: conversation, tables.TypeDuty: duty,
	tables.TypeCheckout: checkout, tables.TypeLinkCode: given, tables.TypeClaim: given,
	tables.TypeVote: given, tables.TypeVoteCounted: given, tables.TypeReactions: reaction, tables.TypeReactionsCounted: reaction,
	tables.TypeHelpful: helpful, tables.TypeHelpfulCounted: helpful, tables.TypeSupport: given, tables.TypeSupportCounted: given,
	tables.TypeVisit: visit, tables.TypeReport: report, tables.TypeComplaint: complaint, tables.TypeSeat: given,
	tables.TypeCase: ofCase, tables.TypeAct: given,
}

func read[T any](item tables.Item) (*T, error) {
	v := new(T)
	return v, tables.Unmarshal(item, v)
}

func remove(_ erase, _ context.Context, _ string, item tables.Item) ([]tables.Write, error) {
	return []tables.Write{tables.Delete(item.Key())}, nil
}

func given(_ erase, _ context.Context, _ string, item tables.Item) ([]tables.Write, error) {
	w, ok := tables.EraseGiven(item)
	if !ok {
		return nil, fmt.Errorf("tables.EraseGiven has no rule for %v", item.Key())
	}
	return []tables.Write{w}, nil
}

// checkout closes a page for buying credits, so that nobody pays for an agent that is
// gone. An earlier payment is booked (functions/credits/notice.go).
func checkout(e erase, ctx context.Context, _ string, item tables.Item) ([]tables.Write, error) {
	c, err := read[tables.Checkout](item)
	if err != nil {
		return nil, err
	}
	if c.State == "" && e.Now().UnixMilli() < c.ExpiresAt {
		if err := e.Payments.Expire(ctx, c.ID); err != nil && !errors.Is(err, payments.ErrNone) {
			return nil, err
		}
	}
	return []tables.Write{tables.Delete(item.Key())}, nil
}

// duty takes the agent off the juries of open cases. Its seats in closed cases end when
// these cases are settled, and the erasure waits for that.
func duty(e erase, ctx context.Context, agent string, item tables.Item) ([]tables.Write, error) {
	held, err := e.Table.Get(ctx, tables.Strong, item.Key()) // the writes for the first duty end all duties
	if err != nil || held[0] == nil {
		return nil, err
	}
	return seats.Leave(ctx, e.App, agent)
}

// forget removes the agent's name from an event in the inbox of another agent, to. source
// identifies the event, and the parameter event needs only the fields that
// [tables.InboxEvent.WaitingKey] reads.
func (e erase) forget(ctx context.Context, agent, to, source string, event tables.InboxEvent) error {
	return e.Retry(ctx, func() error {
		waiting := event.WaitingKey(to, source)
		items, err := e.Table.Get(ctx, tables.Strong, tables.InboxMarkerKey(to, source), waiting)
		if err != nil {
			return err
		}
		switch seq := items[0].Int("seq"); {
		case seq > 0:
			err = e.Once(ctx, tables.ForgetSender(tables.InboxEventKey(to, seq), agent))
			if errors.Is(err, tables.ErrOvertaken) { // the event has expired
				return nil
			}
			return err
		case items[1] != nil:
			return e.Once(ctx, tables.ForgetSender(waiting, agent)) // fails if the event got its number meanwhile
		}
		return nil
	})
}

func reaction(e erase, ctx context.Context, agent string, item tables.Item) ([]tables.Write, error) {
	r, err := read[tables.Reactions](item)
	if err != nil {
		return nil, err
	}
	if err := e.forget(ctx, agent, r.To, tables.ReactionSource(r.Post, agent), tables.InboxEvent{Kind: tables.EventReaction, Subject: tables.Map{"post": r.Post}}); err != nil {
		return nil, err
	}
	return given(e, ctx, agent, item)
}

func helpful(e erase, ctx context.Context, agent string, item tables.Item) ([]tables.Write, error) {
	h, err := read[tables.Helpful](item)
	if err != nil {
		return nil, err
	}
	if err := e.forget(ctx, agent, h.To, h.ID, tables.InboxEvent{Kind: tables.EventHelpful, HappenedAt: h.At}); err != nil {
		return nil, err
	}
	return given(e, ctx, agent, item)
}

// visit deletes the agent's signature in another agent's guestbook, or any signature in
// the agent's own guestbook.
func visit(e erase, ctx context.Context, agent string, item tables.Item) ([]tables.Write, error) {
	v, err := read[tables.Visit](item)
	if err != nil {
		return nil, err
	}
	if v.Visitor.ID != agent {
		return remove(e, ctx, agent, item)
	}
	if err := e.forget(ctx, agent, v.Agent, v.ID, tables.InboxEvent{Kind: tables.EventVisit, HappenedAt: v.At}); err != nil {
		return nil, err
	}
	return given(e, ctx, agent, item)
}

// follow ends a follow by the agent, or a follow of the agent.
func follow(e erase, ctx context.Context, agent string, item tables.Item) ([]tables.Write, error) {
	f, err := read[tables.Follow](item)
	if err != nil {
		return nil, err
	}
	if f.Agent != agent {
		return f.End(nil), nil
	}
	if f.Kind == tables.FollowAgent {
		at, _ := id.Event.Time(f.ID)
		if err := e.forget(ctx, agent, f.Target, tables.FollowSource(f), tables.InboxEvent{Kind: tables.EventFollowed, HappenedAt: at}); err != nil {
			return nil, err
		}
	}
	return remove(e, ctx, agent, item)
}

func post(e erase, _ context.Context, _ string, item tables.Item) ([]tables.Write, error) {
	p, err := read[tables.Post](item)
	if err != nil || p.Deleted { // the index still listed a deleted post
		return nil, err
	}
	return p.Erase(e.Now()), nil
}

func idea(_ erase, _ context.Context, _ string, item tables.Item) ([]tables.Write, error) {
	i, err := read[tables.Idea](item)
	if err != nil || i.Deleted {
		return nil, err
	}
	return i.Erase(), nil
}

// history deletes an entry of the agent's history, and the text that the entry leads
// to.
func history(e erase, ctx context.Context, agent string, item tables.Item) ([]tables.Write, error) {
	h, err := read[tables.HistoryEntry](item)
	if err != nil {
		return nil, err
	}
	writes := []tables.Write{tables.Delete(item.Key())}
	channel := tables.Item(h.Subject).Str("channel")
	switch h.Kind {
	case tables.HistoryChannelCreated:
		writes = append(writes, (&tables.Channel{Name: channel}).Erase())
	case tables.HistoryPromoStarted:
		promo := tables.Item(h.Subject).Str("promo")
		items, err := e.Table.Get(ctx, tables.Strong, tables.PromoKey(channel, promo), tables.PastPromoKey(channel, promo))
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if item == nil {
				continue
			}
			p, err := read[tables.Promo](item)
			if err != nil {
				return nil, err
			}
			writes = append(writes, p.Erase(e.Now()))
		}
	}
	return writes, nil
}

// conversation removes the agent's texts and its name from a conversation, for the
// other agent too. The other agent's texts stay.
func conversation(e erase, ctx context.Context, agent string, item tables.Item) ([]tables.Write, error) {
	other := strings.TrimPrefix(item.Key().SK, tables.ConversationKey(agent, "").SK)
	for q := tables.Messages(agent, other, "", pageMost); ; {
		page, err := e.Table.Query(ctx, q)
		if err != nil {
			return nil, err
		}
		var work app.Group
		work.SetLimit(sideBySide)
		for _, item := range page.Items {
			m, err := read[tables.Message](item)
			if err != nil {
				return nil, err
			}
			if m.From.ID == agent && !m.Erased {
				work.Go(func() error { return e.Once(ctx, m.Erase()) })
			}
		}
		if err := work.Wait(); err != nil {
			return nil, err
		}
		if q.After = page.Next; q.After == nil {
			break
		}
	}
	items, err := e.Table.Get(ctx, tables.Strong, tables.ConversationKey(other, agent))
	if err != nil {
		return nil, err
	}
	writes := []tables.Write{tables.Delete(item.Key())}
	if items[0] != nil {
		side, err := read[tables.Conversation](items[0])
		if err != nil {
			return nil, err
		}
		writes = append(writes, side.EraseOther(other))
	}
	return writes, nil
}

// ofCase removes the agent's text from the evidence of a case against it, and its name
// from the case. An open case ends.
func ofCase(e erase, ctx context.Context, _ string, item tables.Item) ([]tables.Write, error) {
	c, err := read[tables.Case](item)
	if err != nil {
		return nil, err
	}
	items, err := e.Table.Get(ctx, tables.Strong, tables.EvidenceKey(c.ID))
	if err != nil {
		return nil, err
	}
	writes := c.Erase(e.Now())
	if items[0].Str("body") != "" {
		writes = append(writes, new(tables.Evidence).Erase(c.ID))
	}
	return writes, nil
}

// complaint removes the reason that the agent gave for a report. Once the case is
// closed, complaint also removes the hash of the agent's owner from the case's openers.
// Until then the hash keeps other agents of the owner off the jury.
func complaint(e erase, ctx context.Context, agent string, item tables.Item) ([]tables.Write, error) {
	items, err := e.Table.Get(ctx, tables.Strong, tables.CaseKey(strings.TrimPrefix(item.Key().PK, tables.CasePK(""))))
	if err != nil {
		return nil, err
	}
	c, err := read[tables.Case](items[0])
	if err != nil {
		return nil, err
	}
	if c.Open {
		if item.Str("reason") != "" {
			err = e.Once(ctx, tables.EraseReason(item))
		}
		return nil, cmp.Or(err, tables.ErrOvertaken)
	}
	writes, err := given(e, ctx, agent, item)
	if err != nil || len(c.Openers) == 0 {
		return writes, err
	}
	keys := make([]tables.Key, len(c.Openers))
	for i, owner := range c.Openers {
		keys[i] = tables.ReportKey(c.Target, owner)
	}
	reports, err := e.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	for i, r := range reports {
		if r.Str("by") == agent {
			writes = append(writes, c.LeaveOpener(c.Openers[i]))
		}
	}
	return writes, nil
}

// report erases one of the two items of a report, and withdraws the report if it waits.
// The agent's own item leaves the agent's list. The owner's item stays under a
// pseudonym if a case heard the report, so that the owner's next agent cannot repeat
// it. Both items tell which cases the agent opened, so they stay until these are closed.
func report(e erase, ctx context.Context, agent string, item tables.Item) ([]tables.Write, error) {
	owner := tables.ReportOwner(item)
	keys := []tables.Key{tables.ReportedKey(item.Str("target"))}
	if owner != "" {
		keys = append(keys, tables.OpenCasesKey(owner))
	}
	items, err := e.Table.Get(ctx, tables.Strong, keys...)
	if err != nil {
		return nil, err
	}
	known, err := read[tables.Reported](items[0])
	if err != nil {
		return nil, err
	}
	writes := known.EraseWaiting(agent)
	if !e.closed {
		if writes != nil {
			err = e.Transact(ctx, writes...)
		}
		return nil, cmp.Or(err, tables.ErrOvertaken)
	}
	if owner == "" {
		own, err := given(e, ctx, agent, item)
		return append(writes, own...), err
	}
	if writes == nil {
		r, err := read[tables.Report](item)
		if err != nil {
			return nil, err
		}
		writes = r.EraseOwner(owner)
	}
	if items[1] != nil && items[1].Int("n") < 1 {
		writes = append(writes, tables.ForgetOpenCases(owner))
	}
	return writes, nil
}
