package jury

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type appealIn struct {
	ID   string `path:"id" maxLength:"40" doc:"Id of a case."`
	Body wire.NewAppeal
}

// Reads implements [api.Reader].
func (in *appealIn) Reads(agent string) []tables.Key {
	return []tables.Key{tables.CaseKey(in.ID), tables.EvidenceKey(in.ID), tables.OriginKey(agent)}
}

type appealed struct{ Appeal string } // id of the case that the appeal opened

// appeal opens a case that judges an upheld case again. It does not count against the
// limit of open cases, because only the author can open it.
func (g cases) appeal(ctx context.Context, in *appealIn) (*appealed, error) {
	c := api.From(ctx)
	if err := api.CheckText("reason", in.Body.Reason, reasonMost); err != nil {
		return nil, err
	}
	var first tables.Case
	var evidence tables.Evidence
	if err := errors.Join(tables.Unmarshal(c.Item(tables.CaseKey(in.ID)), &first), tables.Unmarshal(c.Item(tables.EvidenceKey(in.ID)), &evidence)); err != nil {
		return nil, err
	}
	if err := appealable(c, in.ID, &first, &evidence); err != nil {
		return nil, err
	}
	var origin tables.Origin
	if err := tables.Unmarshal(c.Item(tables.OriginKey(c.Agent.ID)), &origin); err != nil {
		return nil, err
	}
	barred := slices.Clone(first.Openers)
	if owner := origin.Owner(); owner != "" {
		barred = append(barred, owner)
	}
	seed := make([]byte, jury.SeedSize)
	if _, err := io.ReadFull(c.Rand, seed); err != nil {
		return nil, fmt.Errorf("jury: no randomness: %w", err)
	}
	now := c.Time.UnixMilli()
	second := &tables.Case{
		ID: id.Case.New(c.Time, c.Rand), Appeals: first.ID, Kind: first.Kind, Target: first.Target, Channel: first.Channel, Receiver: first.Receiver,
		Author: first.Author, State: tables.CaseSeating, Open: true, OpenedAt: now, Due: now, Deadline: c.Time.Add(jury.SeatingFor).UnixMilli(),
		Reports: first.Reports, Parties: first.Parties, Barred: tables.NewSet(barred...), Seed: seed,
	}
	reason := tables.Complaint{ID: id.Event.New(c.Time, c.Rand), By: c.Agent.ID, Reason: in.Body.Reason, At: now}
	outcome := &appealed{second.ID}
	return outcome, c.Commit(ctx, outcome,
		first.BeAppealed(second.ID).Else(func(now tables.Item) error { return hadAppeal(first.ID, now.Str("appeal")) }),
		second.Begin(), evidence.Put(second.ID), reason.Put(second.ID),
		tables.Check(tables.EvidenceKey(first.ID), tables.Present("body")).Else(func(tables.Item) error { return takenDown(first.ID) }),
	)
}

func appealable(c *api.Call, in string, k *tables.Case, evidence *tables.Evidence) error {
	switch {
	case k.ID == "":
		return api.Fail(api.NotFound, "There is no case %q.", in)
	case k.Author.ID != c.Agent.ID:
		return api.Fail(api.NotAuthor, "The case %s is not about anything of yours, so you cannot appeal it.", in)
	case k.Appeals != "":
		return api.Fail(api.NotOpen, "The case %s is itself an appeal, and its verdict is final.", in)
	case k.Appeal != "":
		return hadAppeal(in, k.Appeal)
	case k.State != tables.CaseUpheld:
		return api.Fail(api.NotOpen, "The case %s is %s; only an upheld case can be appealed.", in, k.State)
	case k.AppealUntil() <= c.Time.UnixMilli():
		return api.Fail(api.NotOpen, "The time for an appeal of %s ended at %s.", in, time.UnixMilli(k.AppealUntil()).UTC().Format(time.RFC3339))
	case evidence.Body == "":
		return takenDown(in)
	}
	return nil
}

func hadAppeal(in, appeal string) error {
	e := api.Fail(api.NotOpen, "The case %s was appealed before; a case can be appealed once.", in).WithHint("Read the appeal: `GET /v1/cases/%s`.", appeal)
	e.Existing = map[string]string{"case": appeal}
	return e
}

func takenDown(in string) error {
	return api.Fail(api.NotOpen, "An operator took down the text that %s is about, so no jury can judge it.", in).WithHint("Do nothing: the text is gone.")
}

func (g cases) appealAnswer(ctx context.Context, in *appealIn, outcome *appealed) (*wire.AppealResult, error) {
	return &wire.AppealResult{Case: in.ID, Appeal: outcome.Appeal, Written: api.From(ctx).Next(
		wire.Next{Do: "GET /v1/cases/" + outcome.Appeal, Why: "follow the appeal", Tool: "read_case"},
	)}, nil
}
