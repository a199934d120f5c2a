package puzzle

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var (
	update = flag.Bool("update", false, "write testdata/samples.txt anew")
	key    = []byte("a test's key")
)

func nonce(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func TestPuzzlesMatchSecondSolver(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		rng := stream(key, "test:", []byte(k.name))
		templates := map[int]bool{}
		for i := range *many / 2 {
			p, plan := k.pose(rng)
			templates[plan.template] = true
			if got := solve(k.name, p.Records, plan); int64(got) != p.Answer {
				t.Fatalf("%s %d: the second solver's answer is %d, for\n%s", k.name, i, got, show(p.Question, p.Records, p.Answer))
			}
			checkTable(t, p.Records)
			checkWords(t, p.Question, plan)
		}
		if len(templates) < 4 {
			t.Errorf("%s: got %d templates, want at least 4", k.name, len(templates))
		}
	}
}

func TestSignupsMatchSecondSolver(t *testing.T) {
	t.Parallel()
	for _, d := range descriptions {
		rng := stream(key, "test:", []byte(d.name))
		templates := map[int]bool{}
		for i := range *many / 2 {
			s, plan := d.pose(rng)
			templates[plan.template] = true
			if got, _ := worldOf(s.Records).choose(d.name, plan); !s.Check(got) {
				t.Fatalf("%s %d: the second solver's answer is %v, for\n%s", d.name, i, got, show(s.Question, s.Records, s.Answer))
			}
			if n := len(s.Answer); n < 2 || n > len(s.Records)-2 {
				t.Fatalf("%s %d: the answer has %d of %d records, want at least 2 in it and 2 left out", d.name, i, n, len(s.Records))
			}
			checkTable(t, s.Records)
			checkWords(t, s.Question, plan)
		}
		if len(templates) < 4 {
			t.Errorf("%s: got %d templates, want at least 4", d.name, len(templates))
		}
	}
}

const asked = 10_000

func TestNewAsksEveryKind(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for i := range asked {
		rng := stream(key, "puzzle:", nonce(i))
		k := kinds[rng.IntN(len(kinds))]
		p, plan := k.pose(rng)
		if got := solve(k.name, p.Records, plan); int64(got) != p.Answer {
			t.Fatalf("nonce %d, %s: the second solver's answer is %d, for\n%s", i, k.name, got, show(p.Question, p.Records, p.Answer))
		}
		if numbersIn(t, p.Records)[p.Answer] {
			t.Fatalf("nonce %d, %s: a record contains the answer\n%s", i, k.name, show(p.Question, p.Records, p.Answer))
		}
		if i%10 == 0 && !reflect.DeepEqual(New(key, nonce(i)), p) {
			t.Fatalf("nonce %d, %s: New returns another puzzle", i, k.name)
		}
		count[k.name]++
	}
	for _, k := range kinds {
		if n := count[k.name]; n < asked/len(kinds)*7/10 {
			t.Errorf("%s occurs %d times in %d, want at least %d", k.name, n, asked, asked/len(kinds)*7/10)
		}
	}
}

func TestNewSignupAsksEveryDescription(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for i := range asked {
		rng := stream(key, "signup:", nonce(i))
		d := descriptions[rng.IntN(len(descriptions))]
		s, plan := d.pose(rng)
		got, _ := worldOf(s.Records).choose(d.name, plan)
		if !s.Check(got) {
			t.Fatalf("nonce %d, %s: the second solver's answer is %v, for\n%s", i, d.name, got, show(s.Question, s.Records, s.Answer))
		}
		for _, id := range s.Answer {
			if strings.Contains(s.Question, id) && d.name != "path" && d.name != "dependents" {
				t.Fatalf("nonce %d, %s: the question contains %s of the answer: %s", i, d.name, id, s.Question)
			}
		}
		if i%10 == 0 && !reflect.DeepEqual(NewSignup(key, nonce(i)), s) {
			t.Fatalf("nonce %d, %s: NewSignup returns another signup", i, d.name)
		}
		count[d.name]++
	}
	for _, d := range descriptions {
		if n := count[d.name]; n < asked/len(descriptions)*7/10 {
			t.Errorf("%s occurs %d times in %d, want at least %d", d.name, n, asked, asked/len(descriptions)*7/10)
		}
	}
}

var digits = regexp.MustCompile(`[0-9]+`)

func numbersIn(t *testing.T, recs []Record) map[int64]bool {
	t.Helper()
	data, err := json.Marshal(recs)
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[int64]bool{}
	for _, d := range digits.FindAllString(string(data), -1) {
		n, err := strconv.ParseInt(d, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		numbers[n] = true
	}
	return numbers
}

func TestSignupHasOneAnswer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := NewSignup(key, nonce(rapid.IntRange(0, 1<<20).Draw(t, "nonce")))
		var ids []string
		for _, r := range s.Records {
			if rapid.Bool().Draw(t, r.ID) {
				ids = append(ids, r.ID)
			}
		}
		if s.Check(ids) != slices.Equal(ids, s.Answer) {
			t.Fatalf("Check(%v) = %v, but the answer is %v", ids, s.Check(ids), s.Answer)
		}
		if !s.Check(rapid.Permutation(s.Answer).Draw(t, "order")) {
			t.Fatalf("Check refused the answer %v in another order", s.Answer)
		}
	})
}

// Hours must be unique, so that no two records tie.
func checkTable(t *testing.T, recs []Record) {
	t.Helper()
	if len(recs) < 8 || len(recs) > 14 {
		t.Fatalf("got %d records, want 8 to 14", len(recs))
	}
	ids, hours := map[string]bool{}, map[int]bool{}
	for _, r := range recs {
		ids[r.ID] = true
		hours[r.Hours] = true
	}
	w := worldOf(recs)
	for _, r := range recs {
		switch {
		case len(ids) != len(recs), len(hours) != len(recs):
			t.Fatalf("duplicate ids or hours: %+v", recs)
		case r.WaitsFor != "" && !ids[r.WaitsFor], slices.Contains(w.downstream(r.ID), r.ID):
			t.Fatalf("%s waits for a missing record or for itself: %+v", r.ID, recs)
		case r.WaitsFor != "" && r.Note != "":
			t.Fatalf("%s has both waits_for and a note", r.ID)
		}
	}
}

// mustSay lists, for a value, the words that a question may use in its place.
var mustSay = map[string][]string{
	"state done": {"finished", "completed", "done"}, "state running": {"worked on", "running", "under way"},
	"state failed": {"failed", "failure", "wrong"}, "state queued": {"queue", "started"},
	"waits yes": {"another task"}, "waits no": {"no other task"},
	"verb translate": {"translat"}, "verb summarise": {"summaris"},
}

func checkWords(t *testing.T, question string, p plan) {
	t.Helper()
	said := func(word string) bool { return strings.Contains(question, word) }
	if strings.ContainsAny(question, "{}") {
		t.Fatalf("the question contains a placeholder: %s", question)
	}
	for _, c := range []cond{p.a, p.b, p.c} {
		for _, value := range []string{c.value, c.other} {
			words, ok := mustSay[c.field+" "+value]
			if !ok {
				words = []string{value}
			}
			if value != "" && !slices.ContainsFunc(words, said) {
				t.Fatalf("the question lacks %+v: %s", c, question)
			}
		}
	}
	for _, word := range []string{p.start, p.x, p.y} {
		if !said(word) {
			t.Fatalf("the question lacks %s: %s", word, question)
		}
	}
}

func TestPuzzlesDependOnKeyAndNonce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		one := rapid.SliceOf(rapid.Byte()).Draw(t, "nonce")
		two := rapid.SliceOf(rapid.Byte()).Draw(t, "another nonce")
		if !reflect.DeepEqual(New(key, one), New(key, one)) || !reflect.DeepEqual(NewSignup(key, one), NewSignup(key, one)) {
			t.Fatal("the same key and nonce gave two puzzles")
		}
		if bytes.Equal(one, two) {
			return
		}
		if reflect.DeepEqual(New(key, one), New(key, two)) || reflect.DeepEqual(New(key, one), New(append(key, 1), one)) {
			t.Fatal("another key or nonce gave the same puzzle")
		}
		if reflect.DeepEqual(New(key, one).Records, NewSignup(key, one).Records) {
			t.Fatal("a puzzle and a signup have the same records")
		}
	})
}

func TestSignupCheck(t *testing.T) {
	s := Signup{Answer: []string{"r-1", "r-2", "r-3"}}
	for _, c := range []struct {
		ids  []string
		want bool
	}{
		{[]string{"r-1", "r-2", "r-3"}, true},
		{[]string{"r-3", "r-1", "r-2"}, true},
		{[]string{"r-1", "r-2"}, false},
		{[]string{"r-1", "r-2", "r-2"}, false},
		{[]string{"r-1", "r-2", "r-3", "r-3"}, false},
		{[]string{"r-1", "r-2", "r-4"}, false},
		{[]string{"r-1", "r-2", "r-3", "r-4"}, false},
		{nil, false},
	} {
		if got := s.Check(c.ids); got != c.want {
			t.Errorf("Check(%v) = %v, want %v", c.ids, got, c.want)
		}
	}
}

func TestJSONOmitsAnswer(t *testing.T) {
	for _, v := range []any{New(key, nonce(1)), NewSignup(key, nonce(1))} {
		data, err := json.Marshal(v)
		if err != nil || bytes.Contains(bytes.ToLower(data), []byte(`"answer"`)) {
			t.Errorf("JSON = %s, %v, want no answer", data, err)
		}
	}
}

// TestSamples keeps one puzzle per kind and template, and nine signups, for review by eye.
func TestSamples(t *testing.T) {
	var b strings.Builder
	for _, k := range kinds {
		for template := range 4 {
			rng := stream(key, "sample:", []byte(fmt.Sprint(k.name, template)))
			for {
				if p, plan := k.pose(rng); plan.template == template {
					fmt.Fprintf(&b, "== %s %d\n%s\n", k.name, template, show(p.Question, p.Records, p.Answer))
					break
				}
			}
		}
	}
	for i := range 9 {
		s := NewSignup(key, nonce(i))
		fmt.Fprintf(&b, "== signup %d\n%s\n", i, show(s.Question, s.Records, s.Answer))
	}
	const file = "testdata/samples.txt"
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the samples differ from %s: run go test ./shared/identity/puzzle -update and read the changes", file)
	}
}

func show(question string, recs []Record, answer any) string {
	var b strings.Builder
	fmt.Fprintln(&b, question)
	for _, r := range recs {
		fmt.Fprintf(&b, "  %-6s %-6s %-28s %-8s %4d %-10s %-6s %s\n", r.ID, r.Agent, r.Task, r.State, r.Hours, r.Day, r.WaitsFor, r.Note)
	}
	fmt.Fprintln(&b, "  =", answer)
	return b.String()
}

func BenchmarkNew(b *testing.B) {
	for i := range b.N {
		New(key, nonce(i))
	}
}

func BenchmarkKinds(b *testing.B) {
	for _, k := range kinds {
		b.Run(k.name, func(b *testing.B) {
			rng := stream(key, "bench:", []byte(k.name))
			for b.Loop() {
				k.pose(rng)
			}
		})
	}
}

func BenchmarkNewSignup(b *testing.B) {
	for i := range b.N {
		NewSignup(key, nonce(i))
	}
}
