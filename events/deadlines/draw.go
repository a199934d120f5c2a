package deadlines

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"agentsocial/shared/app"
	"agentsocial/shared/jury"
	"agentsocial/tables"
)

// lookAt is how many candidates are read about at once: of the first of them a
// jury is found mostly.
const lookAt = 10

// seat draws jurors for a case's empty seats. Conflicts of interest are judged
// now: who reports, or blocks somebody, after it was drawn keeps its seat, and a
// party cannot unseat jurors. While there are too few, the case waits, and another
// window is looked at the next time.
func (d deadlines) seat(ctx context.Context, c *tables.Case) error {
	window, err := d.window(ctx, c)
	if err != nil {
		return err
	}
	drawn, err := d.draw(ctx, c, window)
	if err != nil {
		return err
	}
	now := d.Now()
	seats := c.Seats // of a case that votes, and lost a juror
	if c.State == tables.CaseSeating {
		seats = jury.SeatsFor(c.Filled + int64(len(drawn)))
		drawn = drawn[:max(0, min(seats-c.Filled, int64(len(drawn))))]
	}
	c.Windows++
	if len(drawn) == 0 {
		return d.wait(ctx, c, retryAt(now))
	}
	drew := &tables.Draw{N: c.Draws, Window: c.Windows - 1, At: now.UnixMilli()}
	c.Draws++
	c.State, c.Seats, c.Filled = tables.CaseVoting, seats, c.Filled+int64(len(drawn))
	c.Deadline = now.Add(jury.VotingFor).UnixMilli()
	c.Due = c.Deadline
	if c.Filled < c.Seats {
		c.Due = min(c.Deadline, retryAt(now))
	}
	writes, err := d.extend(ctx, c)
	if err != nil {
		return err
	}
	for _, v := range drawn {
		summons, err := d.summon(c, v)
		if err != nil {
			return err
		}
		writes = append(writes, summons...)
		drew.Jurors = append(drew.Jurors, v.Agent)
	}
	c.Jurors = tables.NewSet(append(drew.Jurors, c.Jurors...)...)
	drew.Digest = jury.Digest(c.Seed, c.ID, drew.N, drew.Jurors)
	return d.Transact(ctx, append(writes, c.Keep(), drew.Put(c.ID))...)
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
}

// draw finds jurors for a case among the volunteers of a window, in the order in
// which the seed ranks them: as many as it may have, or fewer.
func (d deadlines) draw(ctx context.Context, c *tables.Case, window []string) ([]*volunteer, error) {
	parties := append([]string{c.Author.ID}, c.Parties...)
	bench, err := d.bench(ctx, append(slices.Clone(parties), c.Jurors...))
	if err != nil {
		return nil, err
	}
	want := jury.Seats - c.Filled
	if c.Seats != 0 {
		want = c.Seats - c.Filled
	}
	jury.Order(c.Seed, c.ID, window)
	var drawn []*volunteer
	for some := range slices.Chunk(window, lookAt) {
		candidates, err := d.candidates(ctx, c, parties, some)
		if err != nil {
			return nil, err
		}
		for _, v := range candidates {
			if int64(len(drawn)) < want && bench.Seat(&v.Candidate, d.Now()) {
				drawn = append(drawn, v)
			}
		}
		if int64(len(drawn)) == want {
			break
		}
	}
	return drawn, nil
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

// candidates reads about volunteers, in their order: themselves, whether they
// reported, and the blocks between them and the parties. Those whose place in the
// pool is another by now are left out.
func (d deadlines) candidates(ctx context.Context, c *tables.Case, parties, agents []string) ([]*volunteer, error) {
	var keys []tables.Key
	for _, a := range agents {
		keys = append(keys, tables.ProfileKey(a), tables.CountersKey(a), tables.OriginKey(a), tables.JurorKey(a), tables.ReportKey(c.Target, a))
		for _, p := range parties {
			keys = append(keys, tables.BlockKey(a, p), tables.BlockKey(p, a))
		}
	}
	items, err := d.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	var list []*volunteer
	each := len(keys) / len(agents)
	for i, a := range agents {
		own := items[i*each : (i+1)*each]
		v := &volunteer{Candidate: jury.Candidate{Agent: a, Origin: originOf(own[2])}}
		if err := errors.Join(tables.Unmarshal(own[0], &v.profile), tables.Unmarshal(own[3], &v.juror)); err != nil {
			return nil, err
		}
		if own[0] == nil || own[3] == nil {
			continue
		}
		v.CreatedAt, v.SuspendedUntil, v.Duties = v.profile.CreatedAt, v.profile.SuspendedUntil, own[1].Int("duties")
		v.ActiveAt = max(own[1].Int("last_active"), v.juror.ActiveAt)
		v.Party = slices.Contains(parties, a) || c.Jurors.Has(a) ||
			slices.ContainsFunc(own[4:], func(item tables.Item) bool { return item != nil }) // reported, or a block
		list = append(list, v)
	}
	return list, nil
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
