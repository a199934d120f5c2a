package text

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// lines returns the lines of a corpus, without comments.
func lines(t testing.TB, name string) (out []string) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

var alphabets = func() map[string]string {
	const lower, upper, digits = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	return map[string]string{
		"alnum": lower + upper + digits, "hex": digits + "abcdef", "lower": lower + digits, "upper": upper + digits,
		"digits": digits, "url": lower + upper + digits + "-_", "base64": lower + upper + digits + "+/",
	}
}()

var hole = regexp.MustCompile(`\{(\w+)(?: (\d+))?\}`)

// fill makes a secret from a line of the corpus.
func fill(r *rand.Rand, line string) string {
	any := func(n int, of string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = of[r.IntN(len(of))]
		}
		return string(b)
	}
	out := hole.ReplaceAllStringFunc(line, func(h string) string {
		m := hole.FindStringSubmatch(h)
		n, _ := strconv.Atoi(m[2])
		der := append([]byte("\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20"), any(32, alphabets["alnum"])...)
		for i := range 32 {
			der[16+i] = byte(r.IntN(256))
		}
		switch {
		case m[1] == "der":
			return base64.StdEncoding.EncodeToString(der)
		case m[1] == "der64":
			return base64.RawURLEncoding.EncodeToString(der)
		case m[1] == "token":
			return "ast_" + any(92, alphabets["alnum"])
		case alphabets[m[1]] != "":
			return any(n, alphabets[m[1]])
		}
		return h
	})
	return strings.ReplaceAll(out, `\n`, "\n")
}

func TestCorpusOfSecretsIsRefused(t *testing.T) {
	all := lines(t, "secrets.txt")
	if len(all) < 80 {
		t.Errorf("secrets.txt: got %d secrets, want at least 80", len(all))
	}
	for _, line := range all {
		want, form, _ := strings.Cut(line, "\t")
		missed := map[string]int{}
		const times = 200
		for i := range times {
			secret := fill(rand.New(rand.NewPCG(1, uint64(i))), form)
			for _, s := range []string{secret, "see " + secret, "see:\n" + secret + "\nand more", "(" + secret + ")"} {
				if kind, _ := Secrets(s); !strings.EqualFold(kind, want) {
					missed[fmt.Sprintf("%q", kind)]++
				}
			}
		}
		for kind, n := range missed {
			t.Errorf("%s: got kind %s for %d of %d texts, want %q", form, kind, n, times*4, want)
		}
	}
}

func TestCorpusOfTechnicalWritingPasses(t *testing.T) {
	all := lines(t, "technical.txt")
	if len(all) < 80 {
		t.Errorf("technical.txt: got %d snippets, want at least 80", len(all))
	}
	for _, line := range all {
		s := strings.ReplaceAll(line, `\n`, "\n")
		for _, s := range []string{s, "see " + s, "see:\n" + s + "\nand more", "(" + s + ")"} {
			if kind, found := Secrets(s); found {
				t.Errorf("Secrets(%q): got kind %q, want none", s, kind)
			}
		}
	}
	if kind, found := Secrets(strings.ReplaceAll(strings.Join(all, "\n"), `\n`, "\n")); found {
		t.Errorf("all snippets in one text: got kind %q, want none", kind)
	}
}
