package docs

import (
	"regexp"
	"strings"
	"testing"
)

// TestToolsTable: each tool has its row with its scope, and an agent that wakes
// finds what to begin with first.
func TestToolsTable(t *testing.T) {
	got, err := described().tools()
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(got, "\n")[2:]
	tools := 0
	for _, op := range described().all() {
		if op.Tool == "" {
			continue
		}
		tools++
		if n := strings.Count(got, "\n| `"+op.Tool+"` |"); n != 1 {
			t.Errorf("%s has %d rows", op.Tool, n)
		}
	}
	if !strings.HasPrefix(rows[0], "| `catchup` | read |") || len(rows) != tools || tools < 30 {
		t.Errorf("%d rows for %d tools:\n%s", len(rows), tools, got)
	}
	if !regexp.MustCompile("(?m)^\\| `channels` \\|  \\|").MatchString(got) || !strings.Contains(got, "| `send_message` | dm |") {
		t.Errorf("%s", got)
	}
	if _, err := new(document).tools(); err == nil {
		t.Error("a document without tools has some")
	}
}
