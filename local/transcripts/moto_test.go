package transcripts

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Why moto (5.2.5) cannot play some transcripts. Neither is a fault of the service.
const (
	// moto copies all tables before each transaction, and replaces the tables with the
	// copies if it cancels the transaction. Iterators of the stream still refer to the
	// earlier tables, so they never return a later record.
	motoStalls = "a cancelled transaction stops moto's stream"
	// The copies make moto slower with each item.
	motoSlow = "moto takes more than ten seconds for a call when the table is large"
)

var motoCannot = map[string]string{
	"attacks": motoStalls, "blocks": motoStalls, "credentials": motoStalls, "credits": motoStalls, "data": motoStalls, "follow": motoStalls,
	"guestbook": motoStalls, "ideas": motoStalls, "jury": motoStalls, "limits": motoStalls, "marks": motoStalls, "mcp": motoStalls,
	"post": motoStalls, "promos": motoStalls, "seldom": motoStalls, "suspensions": motoStalls, "takedowncases": motoStalls,
	"bounds": motoSlow, "catchup": motoSlow, "feed": motoSlow, "search": motoSlow,
}

// onMoto returns moto's program if the scripts play on its DynamoDB, else "". It skips a
// script that moto cannot play.
func onMoto(e *testscript.Env) string {
	program := os.Getenv("TRANSCRIPTS_MOTO")
	if program == "" {
		return ""
	}
	if why := motoCannot[strings.TrimPrefix(filepath.Base(e.WorkDir), "script-")]; why != "" {
		e.T().Skip(why)
	}
	return program
}

func TestMotoCannot_NamesTranscripts(t *testing.T) {
	for name := range motoCannot {
		if _, err := os.Stat("../testdata/" + name + ".txtar"); err != nil {
			t.Error(err)
		}
	}
}
