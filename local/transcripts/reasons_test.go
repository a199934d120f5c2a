package transcripts

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentsocial/local/checks/faults"
)

// reason explains why a transcript ends early when a commit at a place breaks.
type reason struct {
	why    string
	says   string   // matches the script's failure or the last answer
	places []string // from [faults.Place.Name]
	kinds  []faults.Kind
}

var (
	unmade  = []faults.Kind{faults.Failed, faults.Throttled}                                             // the commit is not made
	made    = []faults.Kind{faults.Unknown, faults.Killed}                                               // the commit is made, but the request does not learn that
	unheard = []faults.Kind{faults.Failed, faults.Throttled, faults.Unknown}                             // the commit is not made, or the request does not learn that it is
	anyKind = []faults.Kind{faults.Failed, faults.Throttled, faults.Unknown, faults.Lost, faults.Killed} // all but Conflict, whose retry succeeds
)

var reasons = []*reason{
	{"something that is valid once (a challenge, a puzzle, a consent page, a code, an assertion) is spent: a caller that missed the answer starts again", "challenge_used|invalid_grant|the status is 400|status 400, and no redirect", []string{
		"functions/agents/register.go wrong", "functions/agents/signup.go wrongSignup", "functions/agents/signup.go spendOver",
		"functions/oauth/assertion.go assert", "functions/oauth/code.go newAgent", "functions/oauth/code.go tryJoin", "functions/oauth/consent.go spend",
		"shared/identity/recovery/recovery.go Mail", "shared/identity/recovery/recovery.go Bind",
	}, made},
	{"a request counts against its limit each time that it is sent", "rate_limited", []string{
		"shared/identity/recovery/postage.go Admit", "shared/api/readlimit.go charge",
	}, made},
	{"a secret is shown once: a caller that missed it makes another", "there is no code|code: it is absent", []string{"functions/access/live.go add"}, made},
	{"a request that calls another service stays busy for half a minute, so that the service is not called twice at once", "busy", []string{
		"functions/access/origin.go post", "functions/access/origin.go joinShared", "functions/credits/checkout.go reserve",
	}, made},
	{"a request whose end was not stored stays busy for half a minute", "busy", []string{"functions/access/code.go giveBack", "functions/credits/checkout.go release"}, unmade},
	{"a mail was sent before its code was stored: the repeated request sends another", "2 mails went", []string{"functions/access/origin.go askOrigin"}, unmade},
	{"callers are not told whether a code was mailed", "mails went", []string{"shared/identity/recovery/recovery.go Mail"}, unheard},
	{"a wrong proof that was not counted is answered like a wrong code, since the answer must not confirm a right one", "bad_code", []string{"functions/access/recover.go tryConfirm"}, unheard},
	{"views are sampled and counted in the background: one may be missed or counted twice", "views|promo", []string{
		"functions/channels/promo.go promo",
	}, anyKind},
	{"reads are marked in the background: messages may stay unread, or be marked before they are seen", "unread", []string{"functions/dm/read.go mark"}, anyKind},
	{"the log says that the movement exists already", "logged: false", []string{"functions/credits/notice.go make"}, made},
	{"an agent's credentials end with it, so a caller that missed the answer cannot ask again", "unknown_key", []string{"functions/data/erase.go erase"}, made},
	{"an ended connection no longer exists, so the reason why it ended is unknown", "The connection was ended", []string{"functions/oauth/family.go end"}, made},
}

// elsewhere has, for each place that no script reaches, a test that breaks or repeats its
// commit.
var elsewhere = map[string]string{
	"events/tally/lanes.go move":         "events/tally, TestLanes_Wait",
	"events/tally/lanes.go tryMove":      "events/tally, TestLanes_Move",
	"events/tally/marks.go wait":         "events/tally, TestMarksWait",
	"functions/jury/volunteer.go enter":  "local/service, TestVolunteeringTwiceAtOnce",
	"functions/jury/volunteer.go leave":  "local/service, TestVolunteeringTwiceAtOnce",
	"shared/search/index/due.go TendBy":  "shared/search/index, TestTendBy",
	"shared/search/index/shelf.go write": "shared/search/index, TestCrash",
}

func TestNamedTestsExist(t *testing.T) {
	all := maps.Clone(elsewhere)
	maps.Copy(all, beyond)
	for code, test := range unseen {
		all[string(code)] = test
	}
	for place, test := range all {
		folder, name, _ := strings.Cut(test, ", ")
		files, err := filepath.Glob(filepath.Join("../..", folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(files, func(file string) bool {
			b, err := os.ReadFile(file)
			return err == nil && strings.Contains(string(b), "func "+name+"(t *testing.T)")
		})
		if !found {
			t.Errorf("%s: got no test %s, want one", place, test)
		}
	}
}

func TestReasonsNameFunctions(t *testing.T) {
	for _, r := range reasons {
		for _, place := range r.places {
			file, name, _ := strings.Cut(place, " ")
			b, err := os.ReadFile(filepath.Join("../..", file))
			if err != nil || !regexp.MustCompile(`(?m)^func (\([^)]+\) )?`+name+`\(`).Match(b) {
				t.Errorf("%q is excused by %q, but there is no such function (%v): correct reasons_test.go", place, r.why, err)
			}
		}
	}
}

func reasonOf(f faults.Fault, fails string) *reason {
	for _, r := range reasons {
		if regexp.MustCompile(r.says).MatchString(fails) &&
			slices.Contains(r.kinds, f.Kind) && slices.Contains(r.places, f.Place.Name()) {
			return r
		}
	}
	return nil
}
