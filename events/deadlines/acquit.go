package deadlines

import (
	"context"
	"errors"
	"fmt"

	"agentsocial/shared/app"
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// acquit undoes an upheld case that its appeal overturned. The author gets its karma
// back. A suspension that no longer has enough cases or owners ends, unless another one
// lasts longer. A post is put back. A promo is not, because its budget was returned. Seats
// that the author lost stay lost.
func (d deadlines) acquit(ctx context.Context, appeal *tables.Case) ([]tables.Write, error) {
	first, err := d.readCase(ctx, appeal.Appeals)
	if err != nil {
		return nil, err
	}
	if !first.Settled { // there is nothing to undo yet; a later sweep takes the appeal again
		return nil, fmt.Errorf("the case %s is not settled", first.ID)
	}
	author := first.Author.ID
	var u *tables.Upheld
	var p *tables.Profile
	var restored []tables.Write
	work, both := app.SideBySide(ctx)
	work.Go(func() (err error) {
		u, p, _, err = d.readAuthor(both, author)
		return err
	})
	work.Go(func() (err error) {
		restored, err = d.restore(both, first, appeal)
		return err
	})
	if err := work.Wait(); err != nil {
		return nil, err
	}
	if p.State == tables.StateErased { // its texts and its history are gone
		return first.Overrule(), nil
	}
	undone := u.Undo(first.ID, d.Settings.Limits.SuspensionOwners)
	writes := append(first.Overrule(), u.Keep(), tables.AddKarma(author, -jury.AuthorKarma), tables.Delete(decidedEntry(first).Item(author).Key()))
	if undone != nil && p.SuspendedUntil == undone.Until {
		rest := max(u.Until(), undone.Before, p.OperatorUntil)
		if rest <= d.Now().UnixMilli() {
			rest = 0
		}
		writes = append(writes, p.LiftTo(rest))
	} else { // no suspension ends, another one is longer, or an operator has lifted this one
		writes = append(writes, p.SameState())
	}
	return append(writes, restored...), nil
}

// restore returns the writes that put back a post. It returns none if the author
// deleted the post, its channel is closed, or an operator took down the text.
func (d deadlines) restore(ctx context.Context, first, appeal *tables.Case) ([]tables.Write, error) {
	if first.Kind != tables.CasePost {
		return nil, nil
	}
	items, err := d.Table.Get(ctx, tables.Strong, tables.PostKey(first.Channel, first.Target), tables.PostCountersKey(first.Channel, first.Target),
		tables.ChannelKey(first.Channel), tables.EvidenceKey(appeal.ID))
	if err != nil {
		return nil, err
	}
	var p tables.Post
	var k tables.PostCounters
	if err := errors.Join(tables.Unmarshal(items[0], &p), tables.Unmarshal(items[1], &k)); err != nil {
		return nil, err
	}
	body := items[3].Str("body")
	if !p.RemovedBy(first) || items[2] == nil || items[2].Str("taken") != "" || body == "" {
		return nil, nil
	}
	return p.Restore(first, appeal.ID, body, &k), nil
}
