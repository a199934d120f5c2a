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

// lookAt is how many candidates are read about at once: of the first of them a
// jury is found mostly.
const lookAt = 10

// seat draws jurors for a case's empty seats. Conflicts of interest are judged
// now: who reports, or blocks somebody, after it was drawn keeps its seat, and a
// party cannot unseat jurors. While there are too few, the case waits, and other
// windows are looked at the next time.
func (d deadlines) seat(ctx context.Context, c *tables.Case) error {
	window := c.Windows
	drawn, busy, err := d.look(ctx, c)
	if err != nil {
		return err
	}
	now := d.Now()
	found := int64(len(drawn))
	seats := c.Seats // of a case that votes, and lost a juror
	if c.State == tables.CaseSeating {
		seats = jury.SeatsFor(c.Filled + found)
	}
	if found = min(found, seats-c.Filled); found <= 0 {
		if c.Vain++; busy { // new cases, which are due at once, would have them first
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

// fill gives those who were drawn from a window their seats, if there are any, and
// has the case commit to them: in the seed's order, so that nobody can tell who
// of them was put last.
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

// extend gives the jurors that a case has, and waits for, its new deadline.
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

// window reads the volunteers at whom the case's next draw looks: neighbours in
// the pool's order, from a place that follows from the seed, around its end.
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

// volunteer is a candidate, and what of it the draw changes, as it was read.
type volunteer struct {
	jury.Candidate
	profile tables.Profile
	juror   tables.Juror
	window  int64 // the how manieth that the case looked at
}

// look finds jurors for a case: as many as it may have, or fewer if there are not
// as many in the windows that it may look at; who was put last comes last. Busy
// says that there were others, who have too much to do.
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

// hearing is a case with what decides who may judge it, and who is found to.
type hearing struct {
	*tables.Case
	parties []string
	bench   *jury.Bench
	blocked []string // agents whom blocks of the author's put last

	drawn []*volunteer
	last  []*volunteer // who could sit, and is put last
	busy  bool         // some could, if they had less to do
}

// wants is how many jurors are still to be found.
func (h *hearing) wants() int {
	seats := h.Seats
	if seats == 0 {
		seats = jury.Seats
	}
	return int(seats-h.Filled) - len(h.drawn)
}

// isLast reports whether a volunteer, whom windows may share, was put last.
func (h *hearing) isLast(v *volunteer) bool {
	return slices.ContainsFunc(h.last, func(l *volunteer) bool { return l.Agent == v.Agent })
}

// take draws volunteers, in their order, as long as jurors are wanted.
func (h *hearing) take(now time.Time, volunteers ...*volunteer) {
	for _, v := range volunteers {
		if h.wants() > 0 && h.bench.Seat(&v.Candidate, now) {
			h.drawn = append(h.drawn, v)
		}
	}
}

// hear reads what decides who may judge a case.
func (d deadlines) hear(ctx context.Context, c *tables.Case) (*hearing, error) {
	h := &hearing{Case: c, parties: append([]string{c.Author.ID}, c.Parties...)}
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
	h.blocked = honoured(blocks.Items, evidence[0].Int("created_at"))
	return h, nil
}

// honoured are those whom an author's blocks put last: by the oldest few, of those
// that are older than what was reported. Were it all of them, whoever blocks every
// volunteer but its friends would be judged by these; were it newer ones, whoever
// was reported.
func honoured(blocks []tables.Item, written int64) (agents []string) {
	blocks = slices.DeleteFunc(slices.Clone(blocks), func(b tables.Item) bool { return b.Int("at") >= written })
	slices.SortStableFunc(blocks, func(a, b tables.Item) int { return cmp.Compare(a.Int("at"), b.Int("at")) })
	for _, b := range blocks[:min(jury.BlocksMost, len(blocks))] {
		agents = append(agents, b.Str("other"))
	}
	return agents
}

// draw finds jurors among volunteers, in their order: as many as are wanted, or
// fewer. Those it meets who are idle are volunteers no more.
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

// bench reads who stands behind agents.
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

// candidates reads about volunteers, in their order, and whether they reported.
// Those who have withdrawn since the pool was read are left out.
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
		v.CreatedAt, v.SuspendedUntil, v.Duties = v.profile.CreatedAt, v.profile.SuspendedUntil, own[1].Int("duties")
		v.ActiveAt = max(own[1].Int("last_active"), v.juror.ActiveAt)
		v.Late = v.juror.Since >= h.OpenedAt
		v.Party = own[4] != nil || slices.Contains(h.parties, a) || h.Jurors.Has(a)
		list = append(list, v)
	}
	return list, nil
}

// recuse tells those who block the author, or whom it blocks, from the others, who
// come first; but of several volunteers one only. It is in an author's hand who
// blocks it: were it all of them, it could annoy every volunteer but its friends,
// and be judged by these.
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

// retire takes those out of the pool who are idle, unless they are so no longer.
func (d deadlines) retire(ctx context.Context, volunteers []*volunteer) error {
	now := d.Now()
	since := now.Add(-jury.ActiveIn).UnixMilli()
	var work app.Group
	for _, v := range volunteers {
		if v.Idle(now) {
			work.Go(func() error {
				err := d.Transact(ctx, v.juror.Retire(since, now)...)
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

// summon gives a volunteer a seat, a duty and another place in the pool. It holds
// that it has not reported meanwhile, and may do what it might.
func (d deadlines) summon(c *tables.Case, v *volunteer) ([]tables.Write, error) {
	var place [8]byte
	if _, err := io.ReadFull(d.Rand, place[:]); err != nil {
		return nil, fmt.Errorf("no randomness: %w", err)
	}
	now := d.Now().UnixMilli()
	p := &v.profile
	seat := tables.Seat{Case: c.ID, Juror: tables.Author{ID: p.ID, Handle: p.Handle, Emoji: p.Emoji}, State: tables.SeatWaits, At: now}
	duty := tables.Duty{Agent: p.ID, Case: c.ID, Kind: c.Kind, At: now, Deadline: c.Deadline}
	return append(duty.Begin(v.Duties), seat.Take(), p.MayAct(), tables.NotReported(c.Target, p.ID),
		v.juror.Summon(jury.Place(binary.BigEndian.Uint64(place[:])))), nil
}
