package deadlines

import (
	"context"
	"errors"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// settle carries out a verdict once, in one transaction. The reporters who are parties
// of an overturned case lose karma if no juror upheld it. This loss does not show in
// their public karma.
func (d deadlines) settle(ctx context.Context, c *tables.Case) error {
	if c.Settled {
		return nil
	}
	seats, err := d.readSeats(ctx, c)
	if err != nil {
		return err
	}
	c.Settled, c.Due = true, 0
	var writes []tables.Write
	for _, s := range seats {
		switch {
		case s.State == tables.SeatVoted:
			writes = append(writes, s.serve()...)
		case s.State != tables.SeatWaits:
		case c.ClosedAt >= c.Deadline:
			writes = append(writes, s.miss(c.Deadline, d.Now())...)
		default:
			writes = append(writes, s.leave(tables.SeatSpared)...)
		}
	}
	paid, err := d.pay(ctx, c, seats)
	if err != nil {
		return err
	}
	writes = append(writes, paid...)
	if c.Appeals != "" && c.State == tables.CaseOverturned {
		more, err := d.acquit(ctx, c)
		if err != nil {
			return err
		}
		writes = append(writes, more...)
	}
	switch {
	case c.State == tables.CaseUpheld && c.Appeals == "":
		more, err := d.convict(ctx, c, owners(seats, jury.Uphold, c.Author.ID))
		if err != nil {
			return err
		}
		writes = append(writes, more...)
	case c.State == tables.CaseOverturned && c.Uphold == 0:
		for _, reporter := range c.Parties {
			writes = append(writes, tables.LoseKarma(reporter, -jury.ReporterKarma))
		}
	}
	return d.Transact(ctx, append(writes, c.Keep())...)
}

// juryKarma names the quota of a juror's karma.
const juryKarma = "jury_karma"

// pay gives the jurors of a verdict their karma, up to a daily limit. A jury without a
// verdict earns nothing. Both rules keep agents from opening cases to earn karma.
func (d deadlines) pay(ctx context.Context, c *tables.Case, seats []seated) (writes []tables.Write, err error) {
	if c.State == tables.CaseLapsed {
		return nil, nil
	}
	today := d.Now().UTC().Truncate(day)
	var voted []string
	var keys []tables.Key
	for _, s := range seats {
		if s.State == tables.SeatVoted {
			voted, keys = append(voted, s.Juror.ID), append(keys, tables.QuotaKey(s.Juror.ID, juryKarma, today))
		}
	}
	got, err := d.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, err
	}
	for i, agent := range voted {
		if got[i].Int("n")+jury.JurorKarma <= jury.JurorKarmaDay {
			writes = append(writes, tables.AddKarma(agent, jury.JurorKarma),
				tables.Quota(agent, juryKarma, today, day, jury.JurorKarma, jury.JurorKarmaDay))
		}
	}
	return writes, nil
}

// owners returns the owners of the jurors who gave a verdict, as their pseudonyms in
// records about the author ([tables.Pseudonym]).
func owners(seats []seated, verdict, author string) (owners []string) {
	for _, s := range seats {
		if s.State == tables.SeatVoted && s.Verdict == verdict && s.Owner != "" {
			owners = append(owners, tables.Pseudonym(s.Owner, author))
		}
	}
	return owners
}

// convict applies an upheld case to its author. owners are those of the jurors who
// upheld it. The third case within a month suspends the author, if the jurors of the
// three have enough different owners.
func (d deadlines) convict(ctx context.Context, c *tables.Case, owners []string) ([]tables.Write, error) {
	author, ended := c.Author.ID, time.UnixMilli(c.ClosedAt)
	var u *tables.Upheld
	var p *tables.Profile
	var counters []tables.Item
	var duties tables.Page
	work, both := app.SideBySide(ctx)
	work.Go(func() (err error) {
		u, p, counters, err = d.readAuthor(both, author, tables.CountersKey(author))
		return err
	})
	work.Go(func() (err error) {
		duties, err = d.Table.Query(both, tables.Duties(author))
		return err
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	if p.State == tables.StateErased { // there is nothing to suspend
		return nil, nil
	}
	entry := decidedEntry(c)
	var before int64
	if p.SuspendedUntil > d.Now().UnixMilli() {
		before = p.SuspendedUntil
	}
	suspension := u.Add(c.ID, ended, owners, d.Settings.Limits.SuspensionOwners, d.Now(), before)
	writes := []tables.Write{u.Keep(), tables.Put(entry.Item(author))}
	if suspension == nil {
		return append(writes, tables.AddKarma(author, jury.AuthorKarma)), nil
	}
	c.SuspendedUntil = max(suspension.Until, before)
	writes = append(writes, p.Suspend(c.SuspendedUntil))
	left, n, err := d.unseat(ctx, author, duties.Items)
	if err != nil {
		return nil, err
	}
	// The condition on the number of duties fails if a draw seats the author meanwhile.
	return append(append(writes, left...), tables.LeaveDuties(author, counters[0].Int("duties"), n, jury.AuthorKarma)), nil
}

// readAuthor reads an author's upheld cases and profile, and the items at the keys in
// more.
func (d deadlines) readAuthor(ctx context.Context, agent string, more ...tables.Key) (*tables.Upheld, *tables.Profile, []tables.Item, error) {
	u, p := new(tables.Upheld), new(tables.Profile)
	items, err := d.Table.Get(ctx, tables.Strong, append([]tables.Key{tables.UpheldKey(agent), tables.ProfileKey(agent)}, more...)...)
	if err == nil {
		err = errors.Join(tables.Unmarshal(items[0], u), tables.Unmarshal(items[1], p))
	}
	if err != nil {
		return nil, nil, nil, err
	}
	u.Agent = agent
	return u, p, items[2:], nil
}

// decidedEntry returns the entry of an upheld case in its author's history.
func decidedEntry(c *tables.Case) *tables.HistoryEntry {
	return &tables.HistoryEntry{
		ID: id.Event.Derive(time.UnixMilli(c.ClosedAt), tables.HistoryCaseDecided+"#"+c.ID), Kind: tables.HistoryCaseDecided, At: c.ClosedAt,
		Subject: tables.Map{"case": c.ID, c.Kind: c.Target},
	}
}

// unseat reads the cases of an agent's duties for [tables.Unseat].
func (d deadlines) unseat(ctx context.Context, agent string, duties []tables.Item) (writes []tables.Write, n int64, err error) {
	keys := make([]tables.Key, len(duties))
	for i, item := range duties {
		keys[i] = tables.CaseKey(item.Str("case"))
	}
	cases, err := d.GetAll(ctx, tables.Strong, keys)
	if err != nil {
		return nil, 0, err
	}
	writes, n = tables.Unseat(agent, cases, d.Now())
	return writes, n, nil
}
