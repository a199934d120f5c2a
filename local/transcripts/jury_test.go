package transcripts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// aged is old enough for jurors.
const aged = 30 * 24 * time.Hour

func (s *script) citizens(args []string) error {
	for _, name := range args {
		if err := s.register([]string{name, "🦉"}); err != nil {
			return err
		}
		a, now := s.agents[name], s.svc.App.Now()
		origin := &tables.Origin{Agent: a.ID, Person: "the person behind " + name, VerifiedAt: now.UnixMilli(), Signed: true}
		err := s.svc.App.Transact(context.Background(), origin.Replace(&tables.Origin{}),
			tables.Change(tables.ProfileKey(a.ID), tables.SetAttr("origin", "verified"), tables.SetAttr("behind", origin.Owner()), tables.SetAttr("created_at", now.Add(-aged).UnixMilli())),
			tables.Change(tables.CountersKey(a.ID), tables.AddToSet("vouchers", jury.ByOperator)))
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *script) vouch(args []string) error {
	for _, name := range args {
		if err := s.svc.App.Transact(context.Background(), tables.AddKarmaOf(s.agents[name].ID, 0, s.svc.App.Now(), jury.ByOperator)); err != nil {
			return err
		}
	}
	return nil
}

func (s *script) jurors(args []string) error {
	if err := s.citizens(args); err != nil {
		return err
	}
	for _, name := range args {
		if err := s.call([]string{name, "POST", "/v1/me/juror", `{"on":true}`}); err != nil {
			return err
		}
		if err := s.status([]string{"200"}); err != nil {
			return err
		}
	}
	return nil
}

func (s *script) seated(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: seated CASE AS")
	}
	page, err := s.svc.App.Table.Query(context.Background(), tables.CaseParts(args[0]))
	if err != nil {
		return err
	}
	n := 0
	for _, item := range page.Items {
		var seat tables.Seat
		if item.Str(tables.AttrType) != tables.TypeSeat {
			continue
		}
		if err := tables.Unmarshal(item, &seat); err != nil {
			return err
		}
		if seat.State == tables.SeatWaits {
			n++
			s.ts.Setenv(fmt.Sprintf("%s%d", strings.ToUpper(args[1]), n), seat.Juror.Handle)
		}
	}
	if n == 0 {
		return fmt.Errorf("%s waits for no votes", args[0])
	}
	return nil
}
