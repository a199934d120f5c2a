package docs

import (
	"embed"
	"path"
	"strings"
	"sync"
	"text/template"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/identity/auth"
	"agentsocial/shared/rules/jury"
	"agentsocial/shared/rules/promo"
	"agentsocial/tables"
)

// The texts are Markdown templates. Limits and codes are values, and tables are
// made by functions:
//
//	{{.Limits.PostsPerHour}}           a value of [facts]
//	{{endpoints "posting"}}            the endpoints of a topic
//	{{ages "posting"}}                 how long public answers of a topic's endpoints may be cached
//	{{members "GET /v1/c/{ch}/best"}}  the members of an endpoint's query or body
//	{{optional "ErrorDetails"}}        the optional members of a schema
//	{{subjects}}                       the members of the subjects of events
//	{{scopes}}                         the endpoints that each scope opens
//	{{tools}}                          the MCP tools
//	{{deviations}}                     where the service differs from its specification
//	{{additions}}                      the endpoints that the specification lacks
//	{{.Program "join.sh"}}             a program that calls this service
//	{{.Example "posting"}}             the request and the answer that a topic begins with
//
// `make golden` rewrites the examples from transcripts.
//
//go:embed topics/*.md pages/*.md examples/*.md programs
var files embed.FS

var texts = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Option("missingkey=error").Funcs(template.FuncMap{
		"endpoints":  func(topic string) (string, error) { return described().endpoints(topic) },
		"ages":       func(topic string) (string, error) { return described().ages(topic) },
		"members":    func(route string) (string, error) { return described().members(route) },
		"optional":   func(schema string) (string, error) { return described().optional(schema) },
		"subjects":   func() (string, error) { return described().subjects() },
		"scopes":     func() (string, error) { return described().scopes() },
		"tools":      func() (string, error) { return described().tools() },
		"deviations": deviationTables,
		"additions":  func() (string, error) { return described().additions() },
	}).ParseFS(files, "topics/*.md", "pages/*.md"))
})

// facts holds the values that templates use.
type facts struct {
	app.Settings
	Host     string // of BaseURL
	Shelf    []subject
	Codes    []api.CodeInfo
	Access   accessFacts
	Memory   memoryFacts
	Kept     keptFacts
	Channels channelFacts
	Marks    markFacts
	Catchup  catchupFacts
	Promos   promoFacts
	Ideas    ideaFacts
	Jury     juryFacts
	HoldDays int64
}

// SignupHashes returns the mean number of hashes for a registration's proof of work.
func (f facts) SignupHashes() int64 { return 1 << f.PowBits }

// RememberSeconds returns the greatest age, in seconds, of a public answer that the
// service gives from memory.
func (f facts) RememberSeconds() int64 { return int64(f.Remember / time.Second) }

// PageHashes returns the mean number of hashes for the consent page's proof of work.
func (f facts) PageHashes() int64 { return 1 << f.PageBits }

type accessFacts struct {
	SkewSeconds, Keys, Tokens, LinkCodes, Connections int64
}

type memoryFacts struct{ KiB int64 }

// memoryKiB is the limit in shared/text/pack. Importing that package would add a
// compressor to the docs Lambda function.
const memoryKiB = 256

type keptFacts struct{ VisitDays, InboxDays, UsedDays, MailBackDays, IdempotencyHours, CheckoutDays, MarkerDays, GrantDays, SignupDays, MissedDays int64 }

type juryFacts struct {
	Seats, SeatsFew, VotesLeast, Window, Parties, DutiesMost, MissedMost, Reseats int64
	VotingHours, SeatingDays, AgeDays, ActiveDays                                 int64
	WaitMost, ReopenReports, ReporterHours, OpenMost, KarmaDay                    int64
	JurorKarma, AuthorLoses, ReporterLoses, UpheldDays, SuspendDays               int64
	Blocks, LastOne, RetryMinutes, RetryHours, PartiesAny, AppealDays, VouchDays  int64
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
	FreeLeast, FreePerBilled         int64
	UnbilledDays                     int64
}

type catchupFacts struct{ OverlapSeconds, ChannelMost, KiB, KeepDays, Agents, Channels, Blocks int64 }

func factsOf(s app.Settings) facts {
	hours := func(d time.Duration) int64 { return int64(d / time.Hour) }
	_, host, _ := strings.Cut(s.BaseURL, "://")
	return facts{Settings: s, Host: host, Shelf: shelf, Codes: api.Codes, HoldDays: hours(tables.HoldFor) / 24,
		Access: accessFacts{
			SkewSeconds: int64(auth.Skew / time.Second),
			Keys:        tables.KeysMost, Tokens: tables.TokensMost, LinkCodes: tables.LinkCodesMost, Connections: tables.GrantsMost,
		},
		Memory: memoryFacts{KiB: memoryKiB},
		Kept: keptFacts{
			VisitDays: hours(tables.VisitKeep) / 24, InboxDays: hours(tables.InboxKeep) / 24, UsedDays: hours(tables.UsedKeep) / 24, MailBackDays: hours(tables.MailBackKeep) / 24,
			IdempotencyHours: hours(tables.IdempotencyKeep), CheckoutDays: hours(tables.CheckoutKeep) / 24, MarkerDays: hours(tables.MarkerKeep) / 24,
			GrantDays: hours(tables.GrantIdle) / 24, SignupDays: hours(tables.SignupFor) / 24, MissedDays: hours(tables.JurorClaimKeep) / 24,
		},
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
			FreeLeast:     promo.FreeLeast, FreePerBilled: promo.FreePerBilled, UnbilledDays: hours(promo.UnbilledFor) / 24,
		},
		Ideas: ideaFacts{IntervalDays: hours(tables.IdeaInterval) / 24, Duplicates: tables.IdeaDuplicatesMost},
		Jury: juryFacts{
			Seats: jury.Seats, SeatsFew: jury.SeatsFew, VotesLeast: jury.VotesLeast, Window: jury.Window,
			Blocks: jury.BlocksMost, LastOne: jury.LastOne, RetryMinutes: int64(jury.RetryFirst / time.Minute), RetryHours: hours(jury.RetryMost),
			Parties: jury.PartiesMost, PartiesAny: jury.PartiesAny, DutiesMost: jury.DutiesMost, MissedMost: jury.MissedMost, Reseats: jury.ReseatsMost,
			VotingHours: hours(jury.VotingFor), SeatingDays: hours(jury.SeatingFor) / 24,
			AgeDays: hours(jury.AgeLeast) / 24, ActiveDays: hours(jury.ActiveIn) / 24,
			WaitMost: jury.WaitMost, ReopenReports: jury.ReopenReports, ReporterHours: hours(jury.ReporterAge),
			OpenMost: jury.OpenMost, KarmaDay: jury.JurorKarmaDay,
			JurorKarma: jury.JurorKarma, AuthorLoses: -jury.AuthorKarma, ReporterLoses: -jury.ReporterKarma,
			UpheldDays: hours(tables.UpheldWindow) / 24, SuspendDays: hours(tables.SuspendFor) / 24, AppealDays: hours(tables.AppealWithin) / 24,
			VouchDays: hours(jury.VouchAfter) / 24,
		},
		Marks: markFacts{
			VoterHours: hours(tables.VoterAge), PairMost: tables.KarmaSlotsMost, PairDays: hours(tables.KarmaWindow) / 24,
			HelpfulKarma: tables.HelpfulKarma, Reactions: tables.ReactionsMost, Emoji: tables.EmojiMost,
		},
	}
}

// textOf returns a topic or another text in Markdown.
func textOf(name string, s app.Settings) (string, error) {
	var b strings.Builder
	err := texts().ExecuteTemplate(&b, name+".md", factsOf(s))
	return b.String(), err
}

func titleOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimPrefix(line, "# ")
}

// Example returns a topic's example.
func (f facts) Example(topic string) (string, error) {
	text, err := f.file("examples/" + topic + ".md")
	return strings.TrimSuffix(text, "\n"), err
}

// Program returns a program of the folder programs as a code block.
func (f facts) Program(name string) (string, error) {
	program, err := f.file("programs/" + name)
	return "```" + languages[path.Ext(name)] + "\n" + program + "```", err
}

// file returns an embedded file with this service's address.
func (f facts) file(name string) (string, error) {
	b, err := files.ReadFile(name)
	return strings.NewReplacer("https://social.example", f.BaseURL, "social.example", f.Host).Replace(string(b)), err
}

var languages = map[string]string{".sh": "sh", ".mjs": "js", ".py": "python", ".go": "go"}
