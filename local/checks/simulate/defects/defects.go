package main

// defect is a wrong line, as a person might write it. The built line contains the wrong and
// the right version, and package planted chooses.
type defect struct {
	name     string
	file     string
	old, new string   // old occurs once in the file; $N in new is the defect's number
	tests    []string // packages whose tests are run if the simulation finds nothing
}

var defects = []defect{
	{
		name: "a message is charged by bytes", file: "functions/dm/send.go",
		old:   `int64(utf8.RuneCountInString(in.Body.Body)) *`,
		new:   `int64(planted.Or($N, len(in.Body.Body), utf8.RuneCountInString(in.Body.Body))) *`,
		tests: []string{"./local/service"},
	},
	{
		name: "an ended promo returns 1 micro-USD less", file: "tables/promo.go",
		old:   `max(at, 1), p.Budget-p.Spent(), nil`,
		new:   `max(at, 1), p.Budget-p.Spent()-planted.Or($N, int64(1), 0), nil`,
		tests: []string{"./tables"},
	},
	{
		name: "a purchase may exceed the balance", file: "tables/ledger.go",
		old:   `AtLeast("micro_usd", m.MicroUSD)`,
		new:   `AtLeast("micro_usd", m.MicroUSD-planted.Or($N, int64(1000), 0))`,
		tests: []string{"./tables"},
	},
	{
		name: "seven posts a minute", file: "shared/app/app.go",
		old:   `PostsPerMinute: 6,`,
		new:   `PostsPerMinute: 6 + planted.Or($N, int64(1), 0),`,
		tests: []string{"./shared/app", "./functions/docs"},
	},
	{
		name: "a quota allows one more", file: "tables/guard.go",
		old:   `AbsentOrBefore("n", most-n+1)`,
		new:   `AbsentOrBefore("n", most-n+1+planted.Or($N, int64(1), 0))`,
		tests: []string{"./tables"},
	},
	{
		name: "a list skips an entry at each page", file: "functions/feed/follow.go",
		old:   `api.EncodeCursor(last.Kind, last.Target)`,
		new:   `api.EncodeCursor(last.Kind, planted.Or($N, item.Str("target"), last.Target))`,
		tests: []string{"./functions/feed"},
	},
	{
		name: "the tally's markers live for 30 hours", file: "tables/inbox.go",
		old:   `now.Add(MarkerKeep).Unix()`,
		new:   `now.Add(MarkerKeep / planted.Or($N, time.Duration(24), 1)).Unix()`,
		tests: []string{"./tables"},
	},
	{
		name: "the TTL of inbox markers is in ms", file: "tables/inbox.go",
		old:   `"seq": seq, AttrTTL: now.Add(InboxKeep).Unix(),`,
		new:   `"seq": seq, AttrTTL: now.Add(InboxKeep).Unix() * planted.Or($N, int64(1000), 1),`,
		tests: []string{"./tables"},
	},
	{
		name: "a repeated body is refused for 23 hours", file: "tables/post.go",
		old:   `now.Add(day).Unix() + 1`,
		new:   `now.Add(day-planted.Or($N, time.Hour, 0)).Unix() + 1`,
		tests: []string{"./tables"},
	},
	{
		name: "no hold on messages after a recovery", file: "functions/dm/dm.go",
		old:   `Topic: "dm", Held: true,`,
		new:   `Topic: "dm", Held: !planted.Is($N),`,
		tests: []string{"./functions"},
	},
	{
		name: "jurors may be a day old", file: "shared/rules/jury/draw.go",
		old:   `ms-c.CreatedAt >= AgeLeast.Milliseconds()`,
		new:   `ms-c.CreatedAt >= AgeLeast.Milliseconds()/planted.Or($N, int64(3), 1)`,
		tests: []string{"./shared/rules/jury"},
	},
	{
		name: "two jurors of one owner", file: "shared/rules/jury/draw.go",
		old:   `return !b.persons[c.Person] &&`,
		new:   `return planted.Is($N) || !b.persons[c.Person] &&`,
		tests: []string{"./shared/rules/jury"},
	},
	{
		name: "a numbered event's source has no marker", file: "tables/inbox.go",
		old:   `InboxMarker(agent, w.Source, e.Seq, at).Else(numbered),`,
		new:   `InboxMarker(agent, planted.Or($N, fmt.Sprint(e.Seq), w.Source), e.Seq, at).Else(numbered),`,
		tests: []string{"./events/inbox"},
	},
	{
		name: "an event that is delivered again waits again", file: "events/inbox/put.go",
		old:   `if closed || items[i+1] != nil {`,
		new:   `if closed || items[i+1] != nil && !planted.Is($N) {`,
		tests: []string{"./events/inbox"},
	},
	{
		name: "a failed record counts as processed", file: "shared/lambda/stream/function.go",
		old:   "\t\treturn 0\n\t}\n\thalf :=",
		new:   "\t\treturn planted.Or($N, len(records), 0)\n\t}\n\thalf :=",
		tests: []string{"./shared/lambda/stream"},
	},
	{
		name: "a deleted text stays in inboxes", file: "events/inbox/put.go",
		old:   `work.Go(func() error { return f.takeBack(ctx, d, fresh("erased")) })`,
		new:   `work.Go(func() error { return planted.Or($N, func() error { return nil }, func() error { return f.takeBack(ctx, d, fresh("erased")) })() })`,
		tests: []string{"./events/inbox"},
	},
	{
		name: "a counted vote is noted as 0", file: "tables/marks.go",
		old:   `SetAttr("counted", v.V), SetAttr("worth", v.Worth)`,
		new:   `SetAttr("counted", v.V*planted.Or($N, int64(0), 1)), SetAttr("worth", v.Worth)`,
		tests: []string{"./tables", "./events/tally"},
	},
	{
		name: "signatures hold for ten minutes", file: "shared/api/credential.go",
		old:   `d > auth.Skew.Milliseconds() ||`,
		new:   `d > auth.Skew.Milliseconds()*planted.Or($N, int64(10), 1) ||`,
		tests: []string{"./shared/api"},
	},
	{
		name: "a movement may be made twice", file: "tables/ledger.go",
		old:   `Put(m.Item(), NoItem()).Else(Means(&NotMoved{Why: AlreadyMade}))`,
		new:   `Put(m.Item(), planted.Or($N, nil, []Cond{NoItem()})...).Else(Means(&NotMoved{Why: AlreadyMade}))`,
		tests: []string{"./tables"},
	},
	{
		name: "old credentials work after a recovery", file: "shared/api/authorize.go",
		old:   `profile == nil || cred.Int("epoch") != profile.Int("epoch") {`,
		new:   `profile == nil || cred.Int("epoch") != profile.Int("epoch") && !planted.Is($N) {`,
		tests: []string{"./shared/api"},
	},
	{
		name: "reading marks no message as read", file: "functions/dm/read.go",
		old:   `if in.Before == "" && len(out.Items) > 0 {`,
		new:   `if in.Before == "" && len(out.Items) > 0 && !planted.Is($N) {`,
		tests: []string{"./local/service"},
	},
	{
		name: "a vote is counted though it changed", file: "tables/marks.go",
		old:   `When(Equal(AttrType, TypeVote), Equal("changes", v.Changes))`,
		new:   `When(append([]Cond{Equal(AttrType, TypeVote)}, planted.Or($N, nil, []Cond{Equal("changes", v.Changes)})...)...)`,
		tests: []string{"./tables", "./events/tally"},
	},
	{
		name: "an erased agent's messages stay", file: "events/erase/erase.go",
		old:   `if m.From.ID == agent && !m.Erased {`,
		new:   `if m.From.ID == agent && !m.Erased && !planted.Is($N) {`,
		tests: []string{"./local/service"},
	},
	{
		name: "an erased agent's waiting report stays", file: "events/erase/erase.go",
		old:   `writes := known.EraseWaiting(agent)`,
		new:   `writes := map[bool][]tables.Write{false: known.EraseWaiting(agent)}[planted.Is($N)]`,
		tests: []string{"./local/service"},
	},
	{
		name: "a takedown leaves the copies in cases", file: "local/tools/operate/moderate/takedown.go",
		old:   `if evidence[i].Str("body") == "" ||`,
		new:   `if planted.Is($N) || evidence[i].Str("body") == "" ||`,
		tests: []string{"./local/tools/operate/moderate"},
	},
	{
		name: "an appeal puts no post back", file: "events/deadlines/acquit.go",
		old:   `if !p.RemovedBy(first) ||`,
		new:   `if planted.Is($N) || !p.RemovedBy(first) ||`,
		tests: []string{"./local/service"},
	},
	{
		name: "recovery works by a deleted origin", file: "tables/origin.go",
		old:   `Delete(OriginKey(p.ID), AbsentOrEqual("verified_at", o.VerifiedAt)).Else(changed),`,
		new:   `planted.Or($N, Check(OriginKey(p.ID), AbsentOrEqual("verified_at", o.VerifiedAt)), Delete(OriginKey(p.ID), AbsentOrEqual("verified_at", o.VerifiedAt))).Else(changed),`,
		tests: []string{"./local/service"},
	},
}
