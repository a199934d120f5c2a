package deadlines

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// lookAt bounds the candidates that are read at once. It is usually enough for a jury.
const lookAt = 10

// seat draws jurors for a case's empty seats. A juror that later reports or blocks a
// party stays. Otherwise a party could unseat jurors by annoying them. Volunteers come
// from windows, which are runs of neighbours in the pool.
func (d deadlines) seat(ctx context.Context, c *tables.Case) error {
	window := c.Windows
	drawn, busy, err := d.look(ctx, c)
	if err != nil {
		return err
	}
	now := d.Now()
	found := int64(len(drawn))
	seats := c.Seats // the number stays if voting began and the case has lost a juror
	if c.State == tables.CaseSeating {
		seats = jury.SeatsFor(c.Filled + found)
	}
	if found = min(found, seats-c.Filled); found <= 0 {
		if c.Vain++; busy { // retry soon, before new cases get the busy volunteers
			c.Vain = 0
		}
		return d.wait(ctx, c, retryAt(c, now))
	}
	c.State, c.Seats, c.Filled, c.Vain = tables.CaseVoting, seats, c.Filled+found, 0
	c.Deadline = now.Add(jury.VotingFor).UnixMilli()
	c.Due = c.Deadline
	if c.Filled < c.Seats {
		c.Due = min(c.Deadline, retryAt(c, now))
	}
	writes, err := d.extend(ctx, c)
	if err != nil {
		return err
	}
	for drawn = drawn[:found]; window < c.Windows; window++ {
		filled, err := d.fill(c, window, drawn)
		if err != nil {
			return err
		}
		writes = append(writes, filled...)
	}
	return d.Transact(ctx, append(writes, c.Keep())...)
}

// fill seats the volunteers drawn from a window, and records the draw with a digest. The
// list is in the seed's order, so it does not show which volunteers were put last.
func (d deadlines) fill(c *tables.Case, window int64, drawn []*volunteer) (writes []tables.Write, err error) {
	drew := &tables.Draw{N: c.Draws, Window: window, At: d.Now().UnixMilli()}
	for _, v := range drawn {
		if v.window != window {
			continue
		}
		summons, err := d.summon(c, v)
		if err != nil {
			return nil, err
		}
		writes = append(writes, summons...)
		drew.Jurors = append(drew.Jurors, v.Agent)
	}
	if len(drew.Jurors) == 0 {
		return nil, nil
	}
	c.Draws++
	jury.Order(c.Seed, c.ID, drew.Jurors)
	c.Jurors = tables.NewSet(append(c.Jurors, drew.Jurors...)...)
	drew.Digest = jury.Digest(c.Seed, c.ID, drew.N, drew.Jurors)
	return append(writes, drew.Put(c.ID)), nil
}

// extend moves the deadline of the jurors that a case still waits for.
func (d deadlines) extend(ctx context.Context, c *tables.Case) (writes []tables.Write, err error) {
	seats, err := d.readSeats(ctx, c)
	for _, s := range seats {
		if s.State == tables.SeatWaits {
			duty := tables.Duty{Agent: s.Juror.ID, Case: c.ID, Deadline: c.Deadline}
			writes = append(writes, duty.Extend())
		}
	}
	return writes, err
}

// window reads the volunteers for the case's next draw: neighbours in the pool, from a
// place derived from the seed. It wraps at the end.
func (d deadlines) window(ctx context.Context, c *tables.Case) ([]string, error) {
	start := jury.Start(c.Seed, c.ID, c.Windows)
	var from, below tables.Page
	work, ctx := app.SideBySide(ctx)
	work.Go(func() (err error) {
		from, err = d.Table.Query(ctx, tables.JurorsFrom(start, jury.Window))
		return err
	})
	work.Go(func() (err error) {
		below, err = d.Table.Query(ctx, tables.JurorsBelow(start, jury.Window))
		return err
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	var agents []string
	for _, item := range slices.Concat(from.Items, below.Items) {
		if len(agents) < jury.Window {
			agents = append(agents, item.Str("agent"))
		}
	}
	return agents, nil
}

// volunteer holds a candidate, and the items that the draw changes, as read.
type volunteer struct {
	jury.Candidate
	profile tables.Profile
	juror   tables.Juror
	window  int64 // the number of the case's window that it was drawn from
}

// look finds jurors for a case. Those that recuse puts last come at the end. busy
// reports whether a volunteer was passed over only because it has too many duties.
func (d deadlines) look(ctx context.Context, c *tables.Case) (drawn []*volunteer, busy bool, err error) {
	h, err := d.hear(ctx, c)
	if err != nil {
		return nil, false, err
	}
	for range jury.WindowsMost {
		window, err := d.window(ctx, c)
		if err != nil {
			return nil, false, err
		}
		jury.Order(c.Seed, c.ID, window)
		if err := d.draw(ctx, h, window); err != nil {
			return nil, false, err
		}
		c.Windows++
		if h.wants() == 0 || len(window) < jury.Window {
			break
		}
	}
	h.take(d.Now(), h.last...)
	return h.drawn, h.busy, nil
}

// hearing holds a case, everything that decides who may judge it, and the jurors found.
type hearing struct {
	*tables.Case
	parties []string
	first   *tables.Case // the case that this one appeals; empty if this is not an appeal
	before  []seated     // the seats of first
	since   int64        // unix ms; agents that volunteered then or later may not judge the case
	bench   *jury.Bench
	blocked []string // agents put last because the author blocks them

	drawn []*volunteer
	last  []*volunteer // could sit, but are put last
	busy  bool         // whether some could sit if they had fewer duties
}

// wants returns how many jurors are still missing.
func (h *hearing) wants() int {
	seats := h.Seats
	if seats == 0 {
		seats = jury.Seats
	}
	return int(seats-h.Filled) - len(h.drawn)
}

// isLast reports whether a volunteer is already in last. Windows may overlap.
func (h *hearing) isLast(v *volunteer) bool {
	return slices.ContainsFunc(h.last, func(l *volunteer) bool { return l.Agent == v.Agent })
}

// take seats volunteers in order while jurors are wanted.
func (h *hearing) take(now time.Time, volunteers ...*volunteer) {
	for _, v := range volunteers {
		if h.wants() > 0 && h.bench.Seat(&v.Candidate, now) {
			h.drawn = append(h.drawn, v)
		}
	}
}

// hear reads what decides who may judge a case.
func (d deadlines) hear(ctx context.Context, c *tables.Case) (*hearing, error) {
	h := &hearing{Case: c, first: new(tables.Case), parties: append([]string{c.Author.ID}, c.Parties...), since: c.OpenedAt}
	if err := d.recall(ctx, h); err != nil {
		return nil, err
	}
	var blocks tables.Page
	var evidence []tables.Item
	work, both := app.SideBySide(ctx)
	work.Go(func() (err error) {
		h.bench, err = d.bench(both, append(slices.Clone(h.parties), c.Jurors...))
		return err
	})
	work.Go(func() (err error) {
		blocks, err = d.Table.Query(both, tables.Blocks(c.Author.ID))
		return err
	})
	work.Go(func() (err error) {
		evidence, err = d.Table.Get(both, tables.Strong, tables.EvidenceKey(c.ID))
		return err
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	for _, s := range h.before {
		h.bench.Bar(s.Owner)
	}
	for _, owner := range slices.Concat(c.Openers, c.Barred) { // their agents may have changed or removed their origins since the report
		h.bench.Bar(owner)
	}
	h.blocked = honoured(blocks.Items, evidence[0].Int("created_at"))
	return h, nil
}

// recall reads the case that an appeal is about. Its jurors, their owners and the
// owners barred from its jury may not judge the appeal. Neither may agents that had not
// volunteered before that case opened. Otherwise an author, which chooses when it
// appeals, could bring jurors of its own.
func (d deadlines) recall(ctx context.Context, h *hearing) error {
	if h.Appeals == "" {
		return nil
	}
	var err error
	if h.first, err = d.readCase(ctx, h.Appeals); err != nil {
		return err
	}
	h.since = h.first.OpenedAt
	h.parties = append(h.parties, h.first.Jurors...)
	h.before, err = d.readSeats(ctx, h.first)
	return err
}

// honoured returns the agents that an author's blocks put last: the oldest few from
// before the reported item was written. If more blocks counted, an author could block
// every volunteer except its friends and be judged by them.
func honoured(blocks []tables.Item, written int64) (agents []string) {
	blocks = slices.DeleteFunc(slices.Clone(blocks), func(b tables.Item) bool { return b.Int("at") >= written })
	slices.SortStableFunc(blocks, func(a, b tables.Item) int { return cmp.Compare(a.Int("at"), b.Int("at")) })
	for _, b := range blocks[:min(jury.BlocksMost, len(blocks))] {
		agents = append(agents, b.Str("other"))
	}
	return agents
}

// draw finds jurors among volunteers, in order. It removes idle and unfit volunteers
// from the pool.
func (d deadlines) draw(ctx context.Context, h *hearing, window []string) error {
	now := d.Now()
	for some := range slices.Chunk(window, lookAt) {
		candidates, err := d.candidates(ctx, h, some)
		if err != nil {
			return err
		}
		if err := d.retire(ctx, candidates); err != nil {
			return err
		}
		h.busy = h.busy || slices.ContainsFunc(candidates, func(v *volunteer) bool { return h.bench.Busy(&v.Candidate, now) })
		candidates = slices.DeleteFunc(candidates, func(v *volunteer) bool { return !h.bench.Fits(&v.Candidate, now) || h.isLast(v) })
		first, last, err := d.recuse(ctx, h, candidates)
		if err != nil {
			return err
		}
		h.last = append(h.last, last...)
		if h.take(now, first...); h.wants() == 0 {
			break
		}
	}
	return nil
}

// bench returns a bench that bars volunteers who share an origin with one of the agents.
func (d deadlines) bench(ctx context.Context, agents []string) (*jury.Bench, error) {
	keys := make([]tables.Key, len(agents))
	for i, a := range agents {
		keys[i] = tables.OriginKey(a)
	}
	items, err := d.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	origins := make([]jury.Origin, len(items))
	for i, item := range items {
		origins[i] = originOf(item)
	}
	return jury.NewBench(origins...), nil
}

func originOf(item tables.Item) jury.Origin {
	return jury.Origin{Person: item.Str("person"), Domain: item.Str("domain")}
}

// candidates reads volunteers, in order. It leaves out those who have withdrawn since
// the pool was read.
func (d deadlines) candidates(ctx context.Context, h *hearing, agents []string) ([]*volunteer, error) {
	const each = 5
	var keys []tables.Key
	for _, a := range agents {
		keys = append(keys, tables.ProfileKey(a), tables.CountersKey(a), tables.OriginKey(a), tables.JurorKey(a), tables.ReportKey(h.Target, a))
	}
	items, err := d.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	var list []*volunteer
	for i, a := range agents {
		own := items[i*each : (i+1)*each]
		if own[0] == nil || own[3] == nil {
			continue
		}
		v := &volunteer{Candidate: jury.Candidate{Agent: a, Origin: originOf(own[2])}, window: h.Windows}
		if err := errors.Join(tables.Unmarshal(own[0], &v.profile), tables.Unmarshal(own[3], &v.juror)); err != nil {
			return nil, err
		}
		vouchers, _ := own[1]["vouchers"].(tables.Set)
		v.Throwaway, v.Missing = own[2].Bool("throwaway"), jury.Missing(vouchers, v.profile.Operator, d.Settings.Limits.StandingOwners)
		v.CreatedAt, v.SuspendedUntil, v.Duties = v.profile.CreatedAt, v.profile.SuspendedUntil, own[1].Int("duties")
		v.ActiveAt = max(own[1].Int("last_active"), v.juror.ActiveAt)
		v.Late = v.juror.Since >= h.since
		v.Party = own[4] != nil || slices.Contains(h.parties, a) || h.Jurors.Has(a) || h.first.Recuses(v.Person) || h.first.Recuses(v.Domain)
		list = append(list, v)
	}
	return list, nil
}

// recuse puts last the volunteers that block the author, and those in h.blocked, but at
// most one in [jury.LastOne]. Otherwise an author could annoy every volunteer except
// its friends and be judged by them.
func (d deadlines) recuse(ctx context.Context, h *hearing, volunteers []*volunteer) (first, last []*volunteer, err error) {
	keys := make([]tables.Key, len(volunteers))
	for i, v := range volunteers {
		keys[i] = tables.BlockKey(v.Agent, h.Author.ID)
	}
	blocks, err := d.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, nil, err
	}
	for i, v := range volunteers {
		block := blocks[i] != nil || slices.Contains(h.blocked, v.Agent)
		if block && len(last) < len(volunteers)/jury.LastOne {
			last = append(last, v)
		} else {
			first = append(first, v)
		}
	}
	return first, last, nil
}

// retire removes idle and unfit volunteers from the pool. Otherwise they would fill the
// windows that draws read. An idle volunteer that became active again stays.
func (d deadlines) retire(ctx context.Context, volunteers []*volunteer) error {
	now := d.Now()
	since := now.Add(-jury.ActiveIn).UnixMilli()
	work := app.Together(ctx)
	for _, v := range volunteers {
		if v.Idle(now) || v.Unfit() {
			work.Go(func() error {
				leave := v.juror.Retire(since, now)
				if v.Unfit() {
					leave = v.juror.Dismiss(tables.JurorUnfit, now)
				}
				err := d.Transact(ctx, leave...)
				var overtaken *tables.Cancelled
				if errors.As(err, &overtaken) {
					return nil
				}
				return err
			})
		}
	}
	return work.Wait()
}

// summon gives a volunteer a seat, a duty and another place in the pool. The writes
// fail if the volunteer has reported the item, or its suspension changed since it was read.
func (d deadlines) summon(c *tables.Case, v *volunteer) ([]tables.Write, error) {
	var place [8]byte
	if _, err := io.ReadFull(d.Rand, place[:]); err != nil {
		return nil, fmt.Errorf("no randomness: %w", err)
	}
	now := d.Now().UnixMilli()
	p := &v.profile
	seat := tables.Seat{Case: c.ID, Juror: tables.Author{ID: p.ID, Handle: p.Handle, Emoji: p.Emoji}, Owner: v.juror.Owner, State: tables.SeatWaits, At: now}
	duty := tables.Duty{Agent: p.ID, Case: c.ID, Kind: c.Kind, At: now, Deadline: c.Deadline}
	return append(duty.Begin(v.Duties), seat.Take(), p.MayAct(), tables.NotReported(c.Target, p.ID),
		v.juror.Summon(jury.Place(binary.BigEndian.Uint64(place[:])))), nil
}
