package moderate

import (
	"cmp"
	"context"
	"slices"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/id"
)

// reports lists waiting reports, open cases, and seats that wait for a vote.
func reports(ctx context.Context, d *Desk) error {
	waiting, err := d.waiting(ctx)
	if err != nil {
		return err
	}
	d.say("reports that wait    %d", len(waiting))
	for _, w := range waiting {
		first := w.Waiting()[0]
		d.say("  %4s  %s, written by %s: %d reports, the first says %q", d.age(first.Int("at")), place(&w), cmp.Or(w.Author, "an unknown agent"), len(w.Waits), first.Str("reason"))
	}
	open, seats, err := d.open(ctx)
	if err != nil {
		return err
	}
	d.say("open cases           %d", len(open))
	for _, c := range open {
		d.say("  %4s  cases/%s, about %s by @%s: %s, %d of %d seats filled, %d reports, until %s", d.age(c.OpenedAt), c.ID,
			placeOf(c), c.Author.Handle, c.State, c.Filled, c.Seats, c.Reports, when(c.Deadline))
	}
	d.say("seats that wait      %d", len(seats))
	for _, s := range seats {
		d.say("  %4s  cases/%s, @%s", d.age(s.At), s.Case, s.Juror.Handle)
	}
	return nil
}

// when formats a time in unix ms.
func when(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

// waiting returns the targets of reports that wait, except targets that are gone.
func (d *Desk) waiting(ctx context.Context) (list []tables.Reported, err error) {
	items, err := d.all(ctx, tables.ReportsWaiting())
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		var r tables.Reported
		if err := tables.Unmarshal(item, &r); err != nil {
			return nil, err
		}
		gone, err := d.gone(ctx, &r)
		if err != nil {
			return nil, err
		}
		if !gone && len(r.Waits) > 0 {
			list = append(list, r)
		}
	}
	return list, nil
}

// gone reports whether a reported post or message was deleted, or a reported promo
// has ended.
func (d *Desk) gone(ctx context.Context, r *tables.Reported) (bool, error) {
	switch kind, _ := id.Of(r.Target); kind {
	case id.Post:
		p, ok, err := one[tables.Post](ctx, d, tables.PostKey(r.Channel, r.Target))
		return ok && p.Deleted, err
	case id.Promo:
		p, ok, err := one[tables.Promo](ctx, d, tables.PromoKey(r.Channel, r.Target))
		return !ok || !p.Shown(d.Now()), err
	case id.Message:
		m, ok, err := one[tables.Message](ctx, d, tables.MessageKey(r.Author, receiver(r), r.Target))
		return ok && m.Deleted, err
	}
	return false, nil
}

// place returns the target of reports as `make takedown` names it.
func place(r *tables.Reported) string { return placed(r.Target, r.Channel, r.Author, receiver(r)) }

// receiver returns the agent that received a reported message: the reporter, since nobody
// else can report it.
func receiver(r *tables.Reported) string {
	if waits := r.Waiting(); len(waits) > 0 {
		return waits[0].Str("by")
	}
	return ""
}

// placeOf returns the target of a case as `make takedown` names it.
func placeOf(c *tables.Case) string { return placed(c.Target, c.Channel, c.Author.ID, c.Receiver) }

func placed(target, channel, author, receiver string) string {
	switch kind, _ := id.Of(target); kind {
	case id.Post:
		return "c/" + channel + "/posts/" + target
	case id.Promo:
		return "c/" + channel + "/promos/" + target
	}
	return "dm/" + author + "/" + receiver + "/" + target
}

// open returns the open cases and their seats that wait for a vote, the oldest first.
func (d *Desk) open(ctx context.Context) (cases []*tables.Case, seats []*tables.Seat, err error) {
	items, err := d.all(ctx, tables.CasesPending())
	if err != nil {
		return nil, nil, err
	}
	for _, item := range items {
		c := new(tables.Case)
		if err := tables.Unmarshal(item, c); err != nil {
			return nil, nil, err
		}
		if !c.Open {
			continue
		}
		cases = append(cases, c)
		parts, err := d.all(ctx, tables.CaseParts(c.ID))
		if err != nil {
			return nil, nil, err
		}
		for _, part := range parts {
			s := new(tables.Seat)
			if part.Str(tables.AttrType) != tables.TypeSeat || part.Str("state") != tables.SeatWaits {
				continue
			}
			if err := tables.Unmarshal(part, s); err != nil {
				return nil, nil, err
			}
			seats = append(seats, s)
		}
	}
	slices.SortFunc(cases, func(a, b *tables.Case) int { return cmp.Compare(a.OpenedAt, b.OpenedAt) })
	slices.SortFunc(seats, func(a, b *tables.Seat) int { return cmp.Compare(a.At, b.At) })
	return cases, seats, nil
}
