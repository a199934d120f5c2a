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

// reason says why a transcript goes another way when a commit of a place breaks.
type reason struct {
	why    string
	says   string   // an expression of what the script then fails with, or of the last answer
	places []string // [faults.Place.Name]
	kinds  []faults.Kind
}

var (
	unmade  = []faults.Kind{faults.Failed, faults.Throttled}
	made    = []faults.Kind{faults.Unknown, faults.Killed}
	unheard = append(unmade, faults.Unknown)
	anyKind = append(unheard, faults.Lost, faults.Killed)
)

var reasons = []*reason{
	{"what is good once (a challenge, a puzzle, a consent page, a code, an assertion) is used up: whoever did not hear the answer begins anew", "challenge_used|invalid_grant|the status is 400|400 leads nowhere", []string{
		"functions/agents/register.go wrong", "functions/agents/signup.go wrongSignup", "functions/agents/signup.go spendOver",
		"functions/oauth/assertion.go assert", "functions/oauth/code.go found", "functions/oauth/code.go tryJoin", "functions/oauth/consent.go spend",
		"shared/identity/recovery/recovery.go Mail", "shared/identity/recovery/recovery.go Bind",
	}, made},
	{"a secret is shown once: whoever did not hear it has its id, and takes another", "there is no code|code: it is absent", []string{"functions/access/live.go add"}, made},
	{"a request that may be asking something of others is busy for half a minute: nothing is asked twice at once", "busy", []string{
		"functions/access/origin.go askOrigin", "functions/credits/checkout.go reserve",
	}, made},
	{"a request whose end could not be noted is busy, too, for half a minute", "busy", []string{"functions/access/code.go giveBack", "functions/credits/checkout.go letGo"}, unmade},
	{"a mail went before its code could be kept: asked again, another one goes", "2 mails went", []string{"functions/access/origin.go askOrigin"}, unmade},
	{"whether a code was mailed is told to nobody", "mails went", []string{"shared/identity/recovery/recovery.go Mail"}, unheard},
	{"a wrong proof that was not counted is answered as a wrong code: for nothing, nobody learns that one is right", "bad_code", []string{"functions/access/recover.go tryConfirm"}, unheard},
	{"nobody waits for what is counted of views, which are a sample: it may be missed, or counted twice", "views|promo", []string{
		"functions/channels/promo.go around", "functions/channels/promo.go promo",
	}, anyKind},
	{"nobody waits for being marked as read: messages stay unread, or are read before they are seen", "unread", []string{"functions/dm/read.go mark"}, anyKind},
	{"the log says that a movement was made before", "logged: false", []string{"functions/credits/notice.go make"}, made},
	{"a connection that was ended is there no more to say why", "The connection was ended", []string{"functions/oauth/family.go end"}, made},
}

// elsewhere are places to which no script comes, and the tests that break what is
// done there, or make it twice.
var elsewhere = map[string]string{
	"functions/jury/volunteer.go enter":  "local/service, TestVolunteeringTwiceAtOnce",
	"functions/jury/volunteer.go leave":  "local/service, TestVolunteeringTwiceAtOnce",
	"shared/search/index/due.go TendBy":  "shared/search/index, TestTendBy",
	"shared/search/index/shelf.go write": "shared/search/index, TestCrash",
}

// TestElsewhere: the tests that are named are there.
func TestElsewhere(t *testing.T) {
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
			t.Errorf("%s: there is no %s", place, test)
		}
	}
}

// reasonOf is that of a fault for what a script fails with; nil if there is none.
func reasonOf(f faults.Fault, fails string) *reason {
	for _, r := range reasons {
		if regexp.MustCompile(r.says).MatchString(fails) &&
			slices.Contains(r.kinds, f.Kind) && slices.Contains(r.places, f.Place.Name()) {
			return r
		}
	}
	return nil
}
