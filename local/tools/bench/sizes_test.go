package bench

import (
	"strings"
	"testing"
)

func TestWithProse(t *testing.T) {
	w := &world{prose: []byte("Once there was an agent, which wrote a long letter to others.")} // long enough for two texts
	text := body(7, 40)
	in := `{"a":"` + text + `","b":"` + text + `"}`
	got := string(w.withProse([]byte(in)))
	if len(got) != len(in) || strings.Contains(got, "quick") || strings.Count(got, "Once there was") != 1 || strings.Count(got, "note 0000007: ") != 2 {
		t.Errorf("withProse(%s): got %s, want the same length, and after each note the next piece of the prose", in, got)
	}
	long := string(w.withProse([]byte(strings.Repeat(in, 3))))
	if n := strings.Count(long, "Once there was"); n != 3 {
		t.Errorf("withProse of six texts: got the beginning of the prose %d times, want 3: %s", n, long)
	}
}
