package jury

import (
	"context"
	"encoding/hex"
	"slices"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/wire"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

type readIn struct {
	ID string `path:"id" maxLength:"40" doc:"Id of a case."`
}

func (g cases) read(ctx context.Context, in *readIn) (*wire.Case, error) {
	none := api.Fail(api.NotFound, "There is no case %q.", in.ID)
	if !id.Case.Valid(in.ID) {
		return nil, none
	}
	page, err := g.Table.Query(ctx, tables.CaseParts(in.ID))
	if err != nil {
		return nil, err
	}
	f, err := fileOf(page.Items)
	if err != nil {
		return nil, err
	}
	if f.ID == "" {
		return nil, none
	}
	privy, err := g.privy(ctx, &f.Case)
	if err != nil {
		return nil, err
	}
	return f.answer(api.From(ctx).Agent, privy), nil
}

// privy reports whether the case withholds something that the caller may see.
func (g cases) privy(ctx context.Context, k *tables.Case) (bool, error) {
	a := api.From(ctx).Agent
	switch {
	case a == nil || !k.Withholds():
		return false, nil
	case a.ID == k.Author.ID, k.Jurors.Has(a.ID), k.Parties.Has(a.ID):
		return true, nil
	case k.Reports <= int64(len(k.Parties)):
		return false, nil
	}
	items, err := g.Table.Get(ctx, tables.Eventual, tables.ReportKey(k.Target, a.ID))
	if err != nil {
		return false, err
	}
	return items[0].Str("case") == k.ID, nil
}

type file struct {
	tables.Case
	evidence   tables.Evidence
	complaints []tables.Complaint
	draws      []tables.Draw
	seats      []tables.Seat
}

func fileOf(items []tables.Item) (*file, error) {
	f := new(file)
	for _, item := range items {
		var err error
		switch item.Str(tables.AttrType) {
		case tables.TypeCase:
			err = tables.Unmarshal(item, &f.Case)
		case tables.TypeEvidence:
			err = tables.Unmarshal(item, &f.evidence)
		case tables.TypeComplaint:
			f.complaints, err = appended(f.complaints, item)
		case tables.TypeDraw:
			f.draws, err = appended(f.draws, item)
		case tables.TypeSeat:
			f.seats, err = appended(f.seats, item)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

func appended[T any](list []T, item tables.Item) ([]T, error) {
	var v T
	err := tables.Unmarshal(item, &v)
	return append(list, v), err
}

// answer returns the parts of a case that the caller may see.
func (f *file) answer(caller *tables.Profile, privy bool) *wire.Case {
	out := &wire.Case{
		CaseSummary: summary(&f.Case),
		Evidence:    wire.Evidence{Text: f.evidence.Body, SHA256: f.evidence.SHA256, CreatedAt: f.evidence.CreatedAt},
		Reasons:     []wire.ReportReason{}, Votes: []wire.CaseVote{},
		Draw: wire.CaseDraws{Commitment: jury.Commitment(f.Seed, f.ID), Draws: []wire.Draw{}},
	}
	if f.Withholds() && !privy {
		out.Evidence.Text, out.Evidence.Withheld = "", true
	}
	out.Evidence.Withheld = out.Evidence.Withheld || f.evidence.Taken != ""
	if until := f.AppealUntil(); until != 0 && f.evidence.Body != "" {
		out.AppealUntil = &until
	}
	for _, c := range f.complaints { // the exact time could reveal a reporter who posted at the same moment
		out.Reasons = append(out.Reasons, wire.ReportReason{Reason: c.Reason, At: time.UnixMilli(c.At).Truncate(time.Hour).UnixMilli()})
	}
	for _, d := range f.draws {
		drawn := wire.Draw{N: d.N, Window: d.Window, Seats: int64(len(d.Jurors)), Digest: d.Digest, At: d.At}
		if !f.Open {
			drawn.Jurors = d.Jurors
		}
		out.Draw.Draws = append(out.Draw.Draws, drawn)
	}
	for _, s := range f.seats {
		if caller != nil && s.Juror.ID == caller.ID {
			out.Seat = &wire.Seat{State: s.State, Verdict: s.Verdict, Note: s.Note}
		}
	}
	if !f.Open {
		seed := hex.EncodeToString(f.Seed)
		out.Draw.Seed, out.Votes = &seed, f.votes()
	}
	return out
}

// votes returns the votes that were cast, oldest first.
func (f *file) votes() []wire.CaseVote {
	votes := []wire.CaseVote{}
	for _, s := range f.seats {
		if s.State == tables.SeatVoted {
			votes = append(votes, wire.CaseVote{Juror: wire.Author(s.Juror), Verdict: s.Verdict, Note: s.Note, At: s.VotedAt})
		}
	}
	slices.SortStableFunc(votes, func(a, b wire.CaseVote) int { return int(a.At - b.At) })
	return votes
}
