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

func TestEveryPuzzleHasTheAnswerOfTheSecondSolver(t *testing.T) {
	t.Parallel()
	for _, k := range kinds {
		rng := stream(key, "test:", []byte(k.name))
		templates := map[int]bool{}
		for i := range *many / 2 {
			p, plan := k.pose(rng)
			templates[plan.template] = true
			if got := solve(k.name, p.Records, plan); int64(got) != p.Answer {
				t.Fatalf("%s %d: the second solver gets %d\n%s", k.name, i, got, show(p.Question, p.Records, p.Answer))
			}
			checkTable(t, p.Records)
			checkWords(t, p.Question, plan)
		}
		if len(templates) < 4 {
			t.Errorf("%s: only %d ways to ask", k.name, len(templates))
		}
	}
}

func TestEverySignupHasTheAnswerOfTheSecondSolver(t *testing.T) {
	t.Parallel()
	for _, d := range descriptions {
		rng := stream(key, "test:", []byte(d.name))
		templates := map[int]bool{}
		for i := range *many / 2 {
			s, plan := d.pose(rng)
			templates[plan.template] = true
			if got, _ := worldOf(s.Records).choose(d.name, plan); !s.Check(got) {
				t.Fatalf("%s %d: the second solver gets %v\n%s", d.name, i, got, show(s.Question, s.Records, s.Answer))
			}
			if n := len(s.Answer); n < 2 || n > len(s.Records)-2 {
				t.Fatalf("%s %d: %d of %d", d.name, i, n, len(s.Records))
			}
			checkTable(t, s.Records)
			checkWords(t, s.Question, plan)
		}
		if len(templates) < 4 {
			t.Errorf("%s: only %d ways to ask", d.name, len(templates))
		}
	}
}

// asked is how many puzzles of each family are made from nonces.
const asked = 10_000

// Of 10 000 puzzles each has one answer, which the second solver finds too and
// which stands in no record; and no kind is left out.
func TestNewAsksEveryKind(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for i := range asked {
		rng := stream(key, "puzzle:", nonce(i))
		k := kinds[rng.IntN(len(kinds))]
		p, plan := k.pose(rng)
		if int64(solve(k.name, p.Records, plan)) != p.Answer {
			t.Fatalf("nonce %d, %s: %+v", i, k.name, p)
		}
		if numbersIn(t, p.Records)[p.Answer] {
			t.Fatalf("nonce %d, %s: the answer stands in a record\n%s", i, k.name, show(p.Question, p.Records, p.Answer))
		}
		if i%10 == 0 && !reflect.DeepEqual(New(key, nonce(i)), p) {
			t.Fatalf("nonce %d, %s: New makes another puzzle", i, k.name)
		}
		count[k.name]++
	}
	for _, k := range kinds {
		if n := count[k.name]; n < asked/len(kinds)*7/10 {
			t.Errorf("%s was asked %d times in %d", k.name, n, asked)
		}
	}
}

// The same of 10 000 signups, whose answer is neither none nor all.
func TestNewSignupAsksEveryDescription(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for i := range asked {
		rng := stream(key, "signup:", nonce(i))
		d := descriptions[rng.IntN(len(descriptions))]
		s, plan := d.pose(rng)
		got, _ := worldOf(s.Records).choose(d.name, plan)
		if !s.Check(got) {
			t.Fatalf("nonce %d, %s: the second solver gets %v\n%s", i, d.name, got, show(s.Question, s.Records, s.Answer))
		}
		for _, id := range s.Answer {
			if strings.Contains(s.Question, id) && d.name != "path" && d.name != "dependents" {
				t.Fatalf("nonce %d, %s: %s of the answer is in the question: %s", i, d.name, id, s.Question)
			}
		}
		if i%10 == 0 && !reflect.DeepEqual(NewSignup(key, nonce(i)), s) {
			t.Fatalf("nonce %d, %s: NewSignup makes another one", i, d.name)
		}
		count[d.name]++
	}
	for _, d := range descriptions {
		if n := count[d.name]; n < asked/len(descriptions)*7/10 {
			t.Errorf("%s was asked %d times in %d", d.name, n, asked)
		}
	}
}

var digits = regexp.MustCompile(`[0-9]+`)

// numbersIn are the numbers that a reader sees in the records, whatever the field.
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

// No other set of a signup's ids is taken for its answer.
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
			t.Fatalf("%v is taken for %v, or not", ids, s.Answer)
		}
		if !s.Check(rapid.Permutation(s.Answer).Draw(t, "order")) {
			t.Fatalf("the order of %v matters", s.Answer)
		}
	})
}

// checkTable holds for every table: what makes questions free of ties and
// chains free of loops.
func checkTable(t *testing.T, recs []Record) {
	t.Helper()
	if len(recs) < 8 || len(recs) > 14 {
		t.Fatalf("%d records", len(recs))
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
			t.Fatalf("the same id or the same hours twice: %+v", recs)
		case r.WaitsFor != "" && !ids[r.WaitsFor], slices.Contains(w.downstream(r.ID), r.ID):
			t.Fatalf("%s waits in vain: %+v", r.ID, recs)
		case r.WaitsFor != "" && r.Note != "":
			t.Fatalf("%s has seven fields", r.ID)
		}
	}
}

// What a question must say, one word of several, if a condition is in its
// plan. Values that are not listed must stand there themselves.
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
		t.Fatalf("a placeholder is left: %s", question)
	}
	for _, c := range []cond{p.a, p.b, p.c} {
		for _, value := range []string{c.value, c.other} {
			words, ok := mustSay[c.field+" "+value]
			if !ok {
				words = []string{value}
			}
			if value != "" && !slices.ContainsFunc(words, said) {
				t.Fatalf("%+v is not in: %s", c, question)
			}
		}
	}
	for _, word := range []string{p.start, p.x, p.y} {
		if !said(word) {
			t.Fatalf("%s is not in: %s", word, question)
		}
	}
}

func TestPuzzlesFollowFromKeyAndNonce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOf(rapid.Byte()).Draw(t, "key")
		one := rapid.SliceOf(rapid.Byte()).Draw(t, "nonce")
		two := rapid.SliceOf(rapid.Byte()).Draw(t, "another nonce")
		if !reflect.DeepEqual(New(key, one), New(key, one)) || !reflect.DeepEqual(NewSignup(key, one), NewSignup(key, one)) {
			t.Fatal("not the same twice")
		}
		if bytes.Equal(one, two) {
			return
		}
		if reflect.DeepEqual(New(key, one), New(key, two)) || reflect.DeepEqual(New(key, one), New(append(key, 1), one)) {
			t.Fatal("the same for two")
		}
		if reflect.DeepEqual(New(key, one).Records, NewSignup(key, one).Records) {
			t.Fatal("a puzzle and a signup share their records")
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
			t.Errorf("%v: %v", c.ids, got)
		}
	}
}

func TestTheAnswerStaysOutOfTheJSON(t *testing.T) {
	for _, v := range []any{New(key, nonce(1)), NewSignup(key, nonce(1))} {
		data, err := json.Marshal(v)
		if err != nil || bytes.Contains(bytes.ToLower(data), []byte(`"answer"`)) {
			t.Errorf("%s, %v", data, err)
		}
	}
}

// TestSamples keeps one puzzle per kind and way of asking for reading aloud.
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
		t.Errorf("the samples changed; read them (go test ./shared/identity/puzzle -update)")
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
