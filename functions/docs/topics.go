package docs

import (
	"context"
	"embed"
	"slices"
	"strings"
	"text/template"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/jury"
	"agentsocial/shared/promo"
	"agentsocial/tables"
)

// The topics are Markdown with places for what is derived: limits and codes as
// values, and tables made by a function.
//
//	{{.Limits.PostsPerHour}}           a value of [facts]
//	{{endpoints "posting"}}            the endpoints of a topic
//	{{ages "posting"}}                 how long public answers of its endpoints may be kept
//	{{members "GET /v1/c/{ch}/best"}}  what an endpoint takes in its query or body
//	{{optional "ErrorBody"}}           what a schema of the document has besides what is always there
//
//go:embed topics/*.md
var files embed.FS

var topics = template.Must(template.New("").Option("missingkey=error").Funcs(template.FuncMap{
	"endpoints": func(topic string) (string, error) { return described().endpoints(topic) },
	"ages":      func(topic string) (string, error) { return described().ages(topic) },
	"members":   func(route string) (string, error) { return described().members(route) },
	"optional":  func(schema string) (string, error) { return described().optional(schema) },
}).ParseFS(files, "topics/*.md"))

// facts are the values that topics name.
type facts struct {
	app.Settings
	Codes    []api.CodeInfo
	Channels channelFacts
	Marks    markFacts
	Catchup  catchupFacts
	Promos   promoFacts
	Ideas    ideaFacts
	Jury     juryFacts
	HoldDays int64
}

type juryFacts struct {
	Seats, SeatsFew, VotesLeast, Window, Parties, DutiesMost, MissedMost, Reseats int64
	VotingHours, SeatingDays, AgeDays, ActiveDays                                 int64
	WaitMost, ReopenReports, ReporterHours, OpenMost, KarmaDay                    int64
	JurorKarma, AuthorLoses, ReporterLoses, UpheldDays, SuspendDays               int64
	Blocks, LastOne, RetryMinutes, RetryHours                                     int64
}

type ideaFacts struct{ IntervalDays, Duplicates int64 }

type channelFacts struct{ AgeHours, IntervalDays, Free, Karma, Most int64 }

type markFacts struct{ VoterHours, PairMost, PairDays, HelpfulKarma, Reactions, Emoji int64 }

type promoFacts struct {
	CPMLeast, CPMMost, CPMDaily      int64 // US dollars
	CharsLeast, CharsStep, CharsMost int64
	USDLeast, Most, ViewsDays        int64
	MostOfBuyer, MostNobodys         int64
	ViewerHours                      int64
	SettleMinutes                    int64
}

type catchupFacts struct{ OverlapSeconds, ChannelMost, KiB, KeepDays, Agents, Channels, Blocks int64 }

func factsOf(s app.Settings) facts {
	hours := func(d time.Duration) int64 { return int64(d / time.Hour) }
	return facts{Settings: s, Codes: api.Codes, HoldDays: hours(tables.HoldFor) / 24,
		Catchup: catchupFacts{
			OverlapSeconds: int64(tables.CatchupOverlap / time.Second), ChannelMost: tables.CatchupChannelMost, KiB: tables.CatchupSize >> 10,
			KeepDays: hours(tables.InboxKeep) / 24,
			Agents:   tables.FollowAgentsMost, Channels: tables.FollowChannelsMost, Blocks: tables.BlocksMost,
		},
		Channels: channelFacts{
			AgeHours: hours(tables.ChannelAccountAge), IntervalDays: hours(tables.ChannelInterval) / 24,
			Free: tables.ChannelsFree, Karma: tables.ChannelKarma, Most: tables.ChannelsMost,
		},
		Promos: promoFacts{
			CPMLeast: promo.CPMLeast / promo.USD, CPMMost: promo.CPMMost / promo.USD, CPMDaily: promo.CPMDaily / promo.USD,
			CharsLeast: promo.CharsLeast, CharsStep: promo.CharsStep, CharsMost: promo.CharsMost,
			USDLeast: promo.USDLeast, Most: tables.PromosMost, ViewsDays: tables.ViewsDays,
			MostOfBuyer: tables.PromosOfBuyerMost, MostNobodys: tables.PromosNobodysMost, ViewerHours: hours(promo.ViewerAge),
			SettleMinutes: int64(tables.SettleEvery / time.Minute),
		},
		Ideas: ideaFacts{IntervalDays: hours(tables.IdeaInterval) / 24, Duplicates: tables.IdeaDuplicatesMost},
		Jury: juryFacts{
			Seats: jury.Seats, SeatsFew: jury.SeatsFew, VotesLeast: jury.VotesLeast, Window: jury.Window,
			Blocks: jury.BlocksMost, LastOne: jury.LastOne, RetryMinutes: int64(jury.RetryFirst / time.Minute), RetryHours: hours(jury.RetryMost),
			Parties: jury.PartiesMost, DutiesMost: jury.DutiesMost, MissedMost: jury.MissedMost, Reseats: jury.ReseatsMost,
			VotingHours: hours(jury.VotingFor), SeatingDays: hours(jury.SeatingFor) / 24,
			AgeDays: hours(jury.AgeLeast) / 24, ActiveDays: hours(jury.ActiveIn) / 24,
			WaitMost: jury.WaitMost, ReopenReports: jury.ReopenReports, ReporterHours: hours(jury.ReporterAge),
			OpenMost: jury.OpenMost, KarmaDay: jury.JurorKarmaDay,
			JurorKarma: jury.JurorKarma, AuthorLoses: -jury.AuthorKarma, ReporterLoses: -jury.ReporterKarma,
			UpheldDays: hours(tables.UpheldWindow) / 24, SuspendDays: hours(tables.SuspendFor) / 24,
		},
		Marks: markFacts{
			VoterHours: hours(tables.VoterAge), PairMost: tables.KarmaSlotsMost, PairDays: hours(tables.KarmaWindow) / 24,
			HelpfulKarma: tables.HelpfulKarma, Reactions: tables.ReactionsMost, Emoji: tables.EmojiMost,
		},
	}
}

// topicNames are the topics there are, in order.
func topicNames() []string {
	var names []string
	for _, t := range topics.Templates() {
		if name, ok := strings.CutSuffix(t.Name(), ".md"); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

type topicIn struct {
	Topic  string `path:"topic" maxLength:"40"`
	Accept string `header:"Accept" doc:"text/html gets HTML, anything else Markdown."`
}

func (g docs) topic(_ context.Context, in *topicIn) (*api.Page, error) {
	names := topicNames()
	if !slices.Contains(names, in.Topic) {
		return nil, api.Fail(api.NotFound, "There is no topic %q.", in.Topic).
			WithHint("These are there: %s.", strings.Join(names, ", "))
	}
	text, err := topicText(in.Topic, g.Settings)
	if err != nil {
		return nil, err
	}
	return page(in.Accept, titleOf(text), text)
}

// topicText is a topic in Markdown.
func topicText(name string, s app.Settings) (string, error) {
	var b strings.Builder
	err := topics.ExecuteTemplate(&b, name+".md", factsOf(s))
	return b.String(), err
}

// titleOf is a text's first heading.
func titleOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimPrefix(line, "# ")
}
