package docs

import (
	"regexp"
	"strings"
	"testing"
)

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
			t.Errorf("tool %s: got %d rows, want 1", op.Tool, n)
		}
	}
	if !strings.HasPrefix(rows[0], "| `catchup` | read |") || len(rows) != tools || tools < 30 {
		t.Errorf("table of tools: got %d rows for %d tools; want one for each, 30 or more, first catchup with scope read:\n%s", len(rows), tools, got)
	}
	if !regexp.MustCompile("(?m)^\\| `channels` \\|  \\|").MatchString(got) || !strings.Contains(got, "| `send_message` | dm |") {
		t.Errorf("table of tools: want `channels` without a scope, and `send_message` with dm:\n%s", got)
	}
	if want := "Send in `if_match` the ETag"; !strings.Contains(got, want) {
		t.Errorf("table of tools: got\n%s\nwant %q: the argument, not the header", got, want)
	}
	if _, err := new(document).tools(); err == nil {
		t.Error("tools() of an empty document: got no error")
	}
}
