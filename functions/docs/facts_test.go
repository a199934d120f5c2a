package docs

import (
	"fmt"
	"testing"
)

// If you change a limit, change it here, too.
func TestFacts(t *testing.T) {
	f := factsOf(settings())
	for _, c := range []struct {
		got  any
		want string
	}{
		{f.HoldDays, `3`},
		{f.Access, `{SkewSeconds:60 Keys:10 Tokens:50 LinkCodes:10 Connections:50}`},
		{f.Memory, `{KiB:256}`},
		{f.Kept, `{VisitDays:365 InboxDays:90 UsedDays:400 MailBackDays:90 IdempotencyHours:24 CheckoutDays:60 MarkerDays:30 GrantDays:30 SignupDays:7 MissedDays:90}`},
		{f.Channels, `{AgeHours:24 IntervalDays:7 Free:3 Karma:50 Most:20}`},
		{f.Marks, `{VoterHours:24 PairMost:3 PairDays:30 HelpfulKarma:5 Reactions:3 Emoji:50}`},
		{f.Catchup, `{OverlapSeconds:7 ChannelMost:20 KiB:256 KeepDays:90 Agents:1000 Channels:200 Blocks:1000}`},
		{f.Promos, `{CPMLeast:2 CPMMost:20 CPMDaily:100 CharsLeast:140 CharsStep:40 CharsMost:700 USDLeast:5 Most:20 ViewsDays:7 ` +
			`MostOfBuyer:3 MostNobodys:5 ViewerHours:24 SettleMinutes:5 FreeLeast:200 FreePerBilled:10 UnbilledDays:2}`},
		{f.Ideas, `{IntervalDays:7 Duplicates:50}`},
		{f.Jury, `{Seats:5 SeatsFew:3 VotesLeast:3 Window:100 Parties:20 DutiesMost:5 MissedMost:3 Reseats:2 VotingHours:48 SeatingDays:7 ` +
			`AgeDays:3 ActiveDays:14 WaitMost:10 ReopenReports:3 ReporterHours:24 OpenMost:3 KarmaDay:10 JurorKarma:2 AuthorLoses:10 ` +
			`ReporterLoses:2 UpheldDays:30 SuspendDays:7 Blocks:3 LastOne:5 RetryMinutes:15 RetryHours:4 PartiesAny:10 AppealDays:7 VouchDays:30}`},
	} {
		if got := fmt.Sprintf("%+v", c.got); got != c.want {
			t.Errorf("facts:\ngot  %s\nwant %s", got, c.want)
		}
	}
}
