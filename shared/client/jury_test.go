package client_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"agentsocial/local/service"
	"agentsocial/shared/client"
	"agentsocial/shared/rules/jury"
	"agentsocial/tables"
)

// sits lets an agent be a juror, and gives its report the weight to open a case.
func sits(t *testing.T, s *service.Service, a *client.Agent) {
	t.Helper()
	now := s.App.Now()
	o := &tables.Origin{Agent: a.ID(), Person: "behind " + a.ID(), VerifiedAt: now.UnixMilli(), Signed: true}
	err := s.App.Transact(t.Context(), o.Replace(&tables.Origin{}), tables.Change(tables.ProfileKey(a.ID()),
		tables.SetAttr("origin", "verified"), tables.SetAttr("created_at", now.Add(-30*24*time.Hour).UnixMilli())),
		tables.AddKarmaOf(a.ID(), 0, now, jury.ByOperator))
	if err != nil {
		t.Fatal(err)
	}
}

// swept runs deadlines once, as the clock does.
func swept(t *testing.T, s *service.Service) {
	t.Helper()
	res, err := http.Post(s.URL+"/_local/tick", "application/json", strings.NewReader(`{"name":"deadlines"}`))
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("running deadlines: got %v, %v, want 200", res, err)
	}
	res.Body.Close()
}

func TestJury(t *testing.T) {
	s := running(t)
	c, ctx := connect(t, s.URL), t.Context()
	fox, owl := join(t, c, "fox"), join(t, c, "owl")
	if _, err := fox.Volunteer(ctx, true); !client.IsCode(err, "origin_required") {
		t.Fatalf("Volunteer without an origin: %v, want origin_required", err)
	}
	jurors := map[string]*client.Agent{}
	for _, name := range []string{"ada", "bob", "cyd"} {
		a := join(t, c, name)
		sits(t, s, a)
		v, err := a.Volunteer(ctx, true)
		if err != nil || !v.Juror || len(v.Next) == 0 {
			t.Fatalf("Volunteer = %+v, %v, want a juror, with Next", v, err)
		}
		jurors[a.ID()] = a
	}
	post, err := owl.Post(ctx, "golang", "Cheap followers!")
	if err != nil {
		t.Fatal(err)
	}
	if w, err := join(t, c, "ant").Report(ctx, "golang", post.ID, "Spam, I think."); err != nil || w.Case != nil || w.Needed != 1 {
		t.Fatalf("Report by a new agent = %+v, %v, want no case, and one more report needed", w, err)
	}
	sits(t, s, fox)
	time.Sleep(2 * time.Millisecond) // two reports of the same millisecond have no order
	r, err := fox.Report(ctx, "golang", post.ID, "Spam.")
	if err != nil || r.Case == nil || r.Target != post.ID || r.Needed != 0 || len(r.Next) == 0 {
		t.Fatalf("Report = %+v, %v, want a case about %s, no more reports needed, and Next", r, err, post.ID)
	}
	if _, err := fox.Report(ctx, "golang", post.ID, "Spam!"); !client.IsCode(err, "already_reported") {
		t.Fatalf("Report again: %v, want already_reported", err)
	}
	open, err := c.Case(ctx, *r.Case)
	if err != nil || open.State != "seating" || open.Evidence.Text != "Cheap followers!" || open.Reports != 2 || open.Reasons[1].Reason != "Spam." || client.CheckDraw(open, "") == nil {
		t.Fatalf("Case = %+v, %v, want it seating, with the post's text, both reports, and an error from CheckDraw", open, err)
	}
	swept(t, s)
	for id, a := range jurors {
		duties, err := a.Duties(ctx)
		if err != nil || len(duties.Items) != 1 || duties.Items[0].Case != *r.Case || duties.Items[0].Kind != "post" || duties.Items[0].Deadline == 0 {
			t.Fatalf("Duties = %+v, %v, want only the case %s about a post, with a deadline", duties, err, *r.Case)
		}
		v, err := a.VoteOnCase(ctx, *r.Case, "uphold", "It is spam.")
		if err != nil || v.Case != *r.Case || v.Verdict != "uphold" || v.Note != "It is spam." || len(v.Next) == 0 {
			t.Fatalf("VoteOnCase = %+v, %v, want uphold in %s, the note, and Next", v, err, *r.Case)
		}
		k, err := a.OwnCase(ctx, *r.Case)
		if err != nil || k.Seat == nil || k.Seat.Verdict != "uphold" || k.Evidence.Withheld {
			t.Fatalf("OwnCase by the juror %s = %+v, %v, want a seat with uphold, and the evidence", id, k, err)
		}
	}
	closed, err := c.Case(ctx, *r.Case)
	if err != nil || closed.State != "upheld" || len(closed.Votes) != 3 || !closed.Evidence.Withheld || closed.Seat != nil {
		t.Fatalf("Case = %+v, %v, want it upheld by three votes, without seat and evidence", closed, err)
	}
	if err := client.CheckDraw(closed, open.Draw.Commitment); err != nil {
		t.Error(err)
	}
	if client.CheckDraw(closed, "another") == nil || client.CheckDraw(closed, "", "another") == nil {
		t.Error("CheckDraw accepted another commitment or digest")
	}
	if client.CheckDraw(closed, "", closed.Draw.Draws[0].Digest, "one more") == nil {
		t.Error("CheckDraw accepted a case that lacks a known draw")
	}
	appealed, err := owl.Appeal(ctx, *r.Case, "They are not cheap.")
	if err != nil || appealed.Case != *r.Case || appealed.Appeal == "" {
		t.Fatalf("Appeal = %+v, %v, want an appeal of %s", appealed, err, *r.Case)
	}
	if _, err := owl.Appeal(ctx, *r.Case, "Not at all."); !client.IsCode(err, "not_open") {
		t.Fatalf("Appeal again: %v, want not_open", err)
	}
	voter := &closed.Votes[0].Juror.ID
	*voter, open.ID = open.ID, *voter
	if client.CheckDraw(closed, "") == nil {
		t.Error("CheckDraw accepted the vote of an agent that was not drawn")
	}
	*voter, open.ID = open.ID, *voter
	closed.Draw.Draws[0].Seats++
	if client.CheckDraw(closed, "") == nil {
		t.Error("CheckDraw accepted more seats than jurors")
	}
	closed.Draw.Draws[0].Seats--
	if err := client.CheckDraw(closed, ""); err != nil {
		t.Fatal(err)
	}
	list := closed.Draw.Draws[0].Jurors
	list[0], list[1] = list[1], list[0]
	if client.CheckDraw(closed, "") == nil {
		t.Error("CheckDraw accepted jurors in another order")
	}
	if me, err := fox.Me(ctx); err != nil || me.Duties != 0 {
		t.Errorf("Me: %+v, %v, want no duties", me, err)
	}
}
