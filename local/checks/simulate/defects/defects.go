package main

// defect is a wrong line, as a person might write it.
type defect struct {
	name     string
	file     string
	old, new string   // old occurs once in the file
	tests    []string // packages whose tests are run if the simulation finds nothing
}

// defects are changes of rules, one of each kind: an amount, a limit, a comparison, a
// cursor, a lifetime, a hold, a conflict, a marker, a redelivery.
var defects = []defect{
	{
		name: "a message costs its bytes", file: "functions/dm/send.go",
		old: "int64(utf8.RuneCountInString(in.Body.Body)) * g.Settings", new: "int64(len(in.Body.Body)+0*utf8.RuneLen('x')) * g.Settings", tests: []string{"./local/service"},
	},
	{
		name: "an ended promo returns a cent less", file: "tables/promo.go",
		old: "past.Returned, past.Counted = state, max(at, 1), p.Budget-p.Spent(), nil", new: "past.Returned, past.Counted = state, max(at, 1), p.Budget-p.Spent()-1, nil", tests: []string{"./tables"},
	},
	{
		name: "a message may cost more than the balance", file: "tables/ledger.go",
		old: `w = w.When(AtLeast("micro_usd", m.MicroUSD)).Else(tooLow)`, new: `w = w.When(AtLeast("micro_usd", m.MicroUSD-1000)).Else(tooLow)`, tests: []string{"./tables"},
	},
	{
		name: "seven posts a minute", file: "shared/app/app.go",
		old: "PostsPerMinute: 6,", new: "PostsPerMinute: 7,", tests: []string{"./shared/app", "./functions/docs"},
	},
	{
		name: "one more than a quota", file: "tables/guard.go",
		old: `).When(AbsentOrBefore("n", most-n+1))`, new: `).When(AbsentOrBefore("n", most-n+2))`, tests: []string{"./tables"},
	},
	{
		name: "an idea every six days", file: "tables/idea.go",
		old: "IdeaInterval = 7 * 24 * time.Hour", new: "IdeaInterval = 6 * 24 * time.Hour", tests: []string{"./tables"},
	},
	{
		name: "the list of follows skips one at each page", file: "functions/feed/follow.go",
		old: "out.More, out.NextBefore = true, api.EncodeCursor(last.Kind, last.Target)", new: `out.More, out.NextBefore = true, api.EncodeCursor(last.Kind, last.Target+"~~")`, tests: []string{"./functions/feed"},
	},
	{
		name: "tally's markers live for 30 hours", file: "tables/inbox.go",
		old: "const MarkerKeep = 30 * 24 * time.Hour", new: "const MarkerKeep = 30 * time.Hour", tests: []string{"./tables"},
	},
	{
		name: "markers of inboxes live for milliseconds", file: "tables/inbox.go",
		old: `"seq": seq, AttrTTL: now.Add(InboxKeep).Unix(),`, new: `"seq": seq, AttrTTL: now.Add(InboxKeep).UnixMilli(),`, tests: []string{"./tables"},
	},
	{
		name: "a body is refused for 23 hours", file: "tables/post.go",
		old: `AttrTTL: now.Add(day).Unix() + 1,`, new: `AttrTTL: now.Add(23*time.Hour).Unix() + 1,`, tests: []string{"./tables"},
	},
	{
		name: "no hold on messages after a recovery", file: "functions/dm/dm.go",
		old: `Topic: "dm", Held: true,`, new: `Topic: "dm", Held: false,`, tests: []string{"./functions"},
	},
	{
		name: "a reporter may judge", file: "events/deadlines/draw.go",
		old: "v.Party = own[4] != nil || slices.Contains(h.parties, a) || h.Jurors.Has(a)", new: "v.Party = own[4] != nil && false || a == h.Author.ID || h.Jurors.Has(a)", tests: []string{"./events/deadlines"},
	},
	{
		name: "two jurors of one owner", file: "shared/rules/jury/draw.go",
		old: "return !b.persons[c.Person] && (c.Domain == \"\" || !b.domains[c.Domain])", new: "return !b.persons[c.Person] || c.Domain != \"\"", tests: []string{"./shared/rules/jury"},
	},
	{
		name: "an event has no marker", file: "events/inbox/append.go",
		old: "writes = append(writes, tables.Put(e.Item(agent)), tables.InboxMarker(agent, d.source, seq, now))", new: "writes = append(writes, tables.Put(e.Item(agent)))", tests: []string{"./events/inbox"},
	},
	{
		name: "a failed record counts as processed", file: "shared/lambda/stream/function.go",
		old: "\t\treturn 0\n\t}\n\thalf := len(records) / 2", new: "\t\treturn len(records)\n\t}\n\thalf := len(records) / 2", tests: []string{"./shared/lambda/stream"},
	},
	{
		name: "a deleted text stays in inboxes", file: "events/inbox/append.go",
		old: "\t\t\twork.Go(func() error { return f.takeBack(ctx, d) })", new: "\t\t\t_ = d", tests: []string{"./events/inbox"},
	},
	{
		name: "a changed vote counts twice", file: "tables/marks.go",
		old: `SetAttr("counted", v.V), SetAttr("worth", v.Worth)`, new: `SetAttr("counted", v.V-v.V), SetAttr("worth", v.Worth)`, tests: []string{"./tables", "./events/tally"},
	},
	{
		name: "signatures hold for ten minutes", file: "shared/identity/auth/signature.go",
		old: "const Skew = 60 * time.Second", new: "const Skew = 600 * time.Second", tests: []string{"./shared/identity/auth"},
	},
	{
		name: "a payment's movement may be made twice", file: "tables/ledger.go",
		old: "writes := []Write{Put(m.Item(), NoItem()).Else(Means(&NotMoved{Why: AlreadyMade}))}", new: "writes := []Write{Put(m.Item())}", tests: []string{"./tables"},
	},
	{
		name: "old credentials work after a recovery", file: "shared/api/authorize.go",
		old: `if cred == nil || profile == nil || cred.Int("epoch") != profile.Int("epoch") {`, new: `if cred == nil || profile == nil {`, tests: []string{"./shared/api"},
	},
	{
		name: "a blocked agent may write messages", file: "functions/dm/send.go",
		old: "\tif c.Item(tables.BlockKey(other, c.Agent.ID)) != nil || !l.wanted() {", new: "\tif !l.wanted() {", tests: []string{"./local/service"},
	},
	{
		name: "a vote's withdrawal is lost", file: "tables/marks.go",
		old: `Equal(AttrType, TypeVote), Equal("changes", v.Changes))`, new: `Equal(AttrType, TypeVote))`, tests: []string{"./tables", "./events/tally", "./local/service"},
	},
}
