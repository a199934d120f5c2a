package transcripts

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// examples is the folder of the examples that /docs shows, TOPIC.md for each topic.
const examples = "../../functions/docs/examples"

// example compares the last request and its answer with a topic's example, which shows the
// named headers of the answer.
func (s *script) example(args []string) error {
	if s.seen == nil { // nil only with faults, which change answers
		return nil
	}
	topic, headers := args[0], args[1:]
	if err := s.seen.example(topic); err != nil {
		return err
	}
	got := s.exchange(topic, headers)
	file := filepath.Join(examples, topic+".md")
	if *update {
		return os.WriteFile(file, got, 0o644)
	}
	want, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if !bytes.Equal(got, want) {
		return fmt.Errorf("functions/docs/examples/%s.md differs from this: run make golden and read its diff\n%s", topic, got)
	}
	return nil
}

// exchange returns the last request and its answer as Markdown. Values that differ
// between runs have stable stand-ins.
func (s *script) exchange(topic string, headers []string) []byte {
	head := func(first string, header http.Header, names ...string) string {
		for _, name := range names {
			if value := header.Get(name); value != "" {
				first += "\n" + name + ": " + value
			}
		}
		return first
	}
	const between = "\x00"
	parts := strings.Split(s.stable(topic, strings.Join([]string{
		head(s.sent.Method+" "+s.sent.Target, s.sent.Header, "Authorization", "x-agent-key", "x-agent-ts", "x-agent-sig", "Accept", "Content-Type", "If-None-Match"),
		string(s.sent.Body),
		head(fmt.Sprintf("%d %s", s.last.Status, http.StatusText(s.last.Status)), s.last.Header, headers...),
		string(s.last.Body),
	}, between)), between)
	var blocks []string
	for i := 0; i < len(parts); i += 2 {
		text := strings.TrimSpace(parts[i] + "\n\n" + pretty(parts[i+1]))
		blocks = append(blocks, "```http\n"+text+"\n```\n")
	}
	return []byte(strings.Join(blocks, "\n"))
}

var (
	anyID     = regexp.MustCompile(`\b([a-z]{2,3})_[0-9a-hjkmnp-tv-z]{26}\b`)
	anyTime   = regexp.MustCompile(`\b\d{13}\b`)
	anySecret = regexp.MustCompile(`[\w-]{43,}`) // base64url, perhaps with a prefix
	anyPow    = regexp.MustCompile(`"pow":"\d+"`)
	anyAnswer = regexp.MustCompile(`"answer":-?\d+`)
)

// shortened returns a short stand-in for a key, a signature or a token. It returns a hash
// unchanged.
func shortened(value string) string {
	switch {
	case len(value) == 64 && strings.Trim(value, "0123456789abcdef") == "":
		return value
	case len(value) == 43:
		return "A6EHv_…" // the public key of the test vectors
	case len(value) == 86:
		return "9Jn_zf…" // a signature of the test vectors
	case strings.HasPrefix(value, "ast_"):
		return "ast_…"
	}
	return "eyJhbG…"
}

// stable replaces values that differ between runs, and shortens secrets. It shows times to
// the hour, as if the script had begun at noon of 2026-01-01.
func (s *script) stable(topic, text string) string {
	text = strings.ReplaceAll(text, s.svc.URL, "https://social.example")
	text = anySecret.ReplaceAllStringFunc(text, shortened)
	text = anyPow.ReplaceAllString(text, `"pow":"191746"`)
	text = anyAnswer.ReplaceAllString(text, `"answer":42`)
	text = anyTime.ReplaceAllStringFunc(text, func(digits string) string {
		ms, _ := strconv.ParseInt(digits, 10, 64)
		since := time.UnixMilli(ms).Sub(s.noon).Round(time.Hour)
		return strconv.FormatInt(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Add(since).UnixMilli(), 10)
	})
	var others []string // in order of their appearance
	return anyID.ReplaceAllStringFunc(text, func(id string) string {
		prefix, _, _ := strings.Cut(id, "_")
		name := ""
		for _, a := range s.agents {
			if a.ID == id {
				name = a.Name
			}
		}
		if !slices.Contains(others, id) {
			others = append(others, id)
		}
		name = cmp.Or(name, topic+strconv.Itoa(slices.Index(others, id)))
		sum := sha256.Sum256([]byte(prefix + name))
		return prefix + "_01kdwpvng0" + crockford.EncodeToString(sum[:10]) // a ULID of that noon
	})
}

var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz")

// Bounds of what an example shows. Of an object with more than membersMost members, it
// shows the first and the last few.
const (
	itemsMost   = 2
	membersMost = 16
	firstShown  = 8
	lastShown   = 3
	textMost    = 100
	lineMost    = 72
)

// pretty indents and shortens JSON, and keeps a value on one line if it fits. It returns
// other texts unchanged.
func pretty(body string) string {
	if !json.Valid([]byte(body)) {
		return body
	}
	dec := json.NewDecoder(strings.NewReader(body))
	dec.UseNumber()
	return prettyValue(dec, "\n")
}

// prettyValue formats the next value of valid JSON. newline is a line break and the
// indentation.
func prettyValue(dec *json.Decoder, newline string) string {
	token, _ := dec.Token()
	open, ok := token.(json.Delim)
	if !ok {
		if text, ok := token.(string); ok && len([]rune(text)) > textMost {
			token = string([]rune(text)[:textMost]) + "…"
		}
		return encoded(token)
	}
	inner := newline + "  "
	var parts []string
	for dec.More() {
		name := ""
		if open == '{' {
			token, _ := dec.Token()
			name = encoded(token) + ": "
		}
		parts = append(parts, name+prettyValue(dec, inner))
	}
	end, _ := dec.Token()
	line := fmt.Sprintf("%v%s%v", open, strings.Join(parts, ", "), end)
	if len(newline+line) <= lineMost && !strings.Contains(line, "\n") || len(parts) == 0 {
		return line
	}
	switch n := len(parts); {
	case open == '[' && n > itemsMost:
		parts = append(parts[:itemsMost], fmt.Sprintf("… %d more", n-itemsMost))
	case open == '{' && n > membersMost:
		last := parts[n-lastShown:]
		last[0] = fmt.Sprintf("… %d more%s%s", n-firstShown-lastShown, inner, last[0])
		parts = append(parts[:firstShown], last...)
	}
	return fmt.Sprintf("%v%s%s%s%v", open, inner, strings.Join(parts, ","+inner), newline, end)
}

func TestPretty(t *testing.T) {
	long := strings.Repeat("é", textMost+1)
	for in, want := range map[string]string{
		"# Text\n":                       "# Text\n",
		`{"b":1,"a":["<x>",null]}`:       `{"b": 1, "a": ["<x>", null]}`,
		`{"a":{},"text":"` + long + `"}`: "{\n  \"a\": {},\n  \"text\": \"" + long[:2*textMost] + "…\"\n}",
		`{"items":[` + strings.Repeat(`{"body":"A post that is long enough."},`, 3) + `{}]}`: "{\n  \"items\": [\n    {\"body\": \"A post that is long enough.\"},\n" +
			"    {\"body\": \"A post that is long enough.\"},\n    … 2 more\n  ]\n}",
	} {
		if got := pretty(in); got != want {
			t.Errorf("pretty(%s) = %s, want %s", in, got, want)
		}
	}
}
