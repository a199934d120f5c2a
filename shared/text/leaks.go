package text

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// leaksData holds rules of the scanner gitleaks. leaks_generate.go writes it.
//
//go:embed leaks.txt
var leaksData string

// leak is a credential that begins with a literal and matches an expression.
type leak struct {
	kind    string // with an article: "an adobe client secret"
	literal string // in lower case
	expr    func() *regexp.Regexp
}

// leaks groups the rules by the first byte of their literal. An expression is compiled when
// a text first has its literal.
var leaks = sync.OnceValue(loadLeaks)

func loadLeaks() *[256][]leak {
	var by [256][]leak
	for line := range strings.Lines(leaksData) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			continue // a comment
		}
		kind, article := fields[0], "a "
		if strings.IndexByte("aeiou", kind[0]) >= 0 {
			article = "an "
		}
		first := fields[1][0]
		by[first] = append(by[first], leak{article + kind, fields[1], sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`\A(?:` + fields[2] + `)`)
		})})
	}
	return &by
}

// leakMost bounds the bytes that an expression sees.
const leakMost = 512

// leaking looks for a credential of gitleaks' rules at the start of s. It must look random
// after its literal, so masks and examples pass.
func leaking(s string) (kind string, found bool) {
	for _, l := range leaks()[lower(s[0])] {
		if _, ok := cutFold(s, l.literal); !ok {
			continue
		}
		match := l.expr().FindString(s[:min(len(s), leakMost)])
		if match == "" || len(match) < len(s) && alnum(s[len(match)]) && alnum(match[len(match)-1]) {
			continue
		}
		if generated(match[len(l.literal):]) && !masked(match) {
			return l.kind, true
		}
	}
	return "", false
}

// generated reports whether the letters and digits of s, taken together, look random.
func generated(s string) bool {
	var parts []byte
	for _, c := range []byte(s) {
		if alnum(c) {
			parts = append(parts, c)
		}
	}
	return random(string(parts))
}

// masked reports whether s has the same character eight times in a row, as in XXXXXXXX.
func masked(s string) bool {
	const most = 8
	n := 1
	for i := 1; i < len(s) && n < most; i++ {
		if n++; s[i] != s[i-1] {
			n = 1
		}
	}
	return n == most
}

func lower(c byte) byte {
	if isUpper(c) {
		return c + 'a' - 'A'
	}
	return c
}
