//go:build ignore

// Writes leaks.txt from the rules of gitleaks:
//
//	go mod download github.com/zricethezav/gitleaks/v8@v8.30.1
//	go run leaks_generate.go v8.30.1 "$(go env GOMODCACHE)/github.com/zricethezav/gitleaks/v8@v8.30.1" > leaks.txt
//
// It takes the rules that begin with a literal that no ordinary word begins with. It leaves
// out rules for public keys and test keys, rules for credentials that this package
// describes more precisely, and a few others.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
)

var (
	rule = regexp.MustCompile("(?s)\nid = \"([^\"]+)\".*?\nregex = '''(.*?)'''")
	// ours matches the names of rules that are left out.
	ours = regexp.MustCompile(`^(aws-access|anthropic-|gcp-|github-|gitlab-pat|gitlab-session|huggingface-access|jwt|npm-|openai-|private-key|pypi-|slack-[^w]|stripe-)|public|test|bedrock|nuget|teams-webhook`)
	// short matches the names of rules that are taken despite their short literal, because
	// nothing else has their form.
	short = regexp.MustCompile(`^(databricks-|easypost-|slack-webhook)`)
)

func main() {
	source, err := os.ReadFile(filepath.Join(os.Args[2], "config", "gitleaks.toml"))
	if err != nil {
		log.Fatal(err)
	}
	license, err := os.ReadFile(filepath.Join(os.Args[2], "LICENSE"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf(`// Rules of gitleaks %s (https://github.com/gitleaks/gitleaks, config/gitleaks.toml) that begin with a literal: what it
// names, the literal in lower case, and an expression. Made by leaks_generate.go on %s.
//
%s`, os.Args[1], time.Now().UTC().Format(time.DateOnly), regexp.MustCompile("(?m)^").ReplaceAllString(strings.TrimSpace(string(license)), "// ")+"\n")
	for _, section := range strings.Split("\n"+string(source), "[[rules]]")[1:] {
		m := rule.FindStringSubmatch(section)
		if m == nil || ours.MatchString(m[1]) {
			continue
		}
		parsed, err := syntax.Parse(m[2], syntax.Perl)
		if err != nil {
			log.Fatalf("the expression of rule %s: %v", m[1], err)
		}
		for _, one := range alternatives(parsed) {
			literal, expr := begin(one)
			if strings.ContainsAny(literal, "-_.~") && len(literal) >= 3 || len(literal) >= 8 || literal != "" && short.MatchString(m[1]) {
				expr = strings.NewReplacer("ſ", "", "\u212a", "").Replace(expr) // (?i) folds them into s and k
				fmt.Printf("%s\t%s\t%s\n", strings.ReplaceAll(m[1], "-", " "), strings.ToLower(literal), expr)
			}
		}
	}
}

// alternatives returns the alternative expressions of a rule's secret, without what must
// stand around the secret.
func alternatives(e *syntax.Regexp) []*syntax.Regexp {
	switch e.Op {
	case syntax.OpCapture:
		return alternatives(e.Sub[0])
	case syntax.OpAlternate:
		var out []*syntax.Regexp
		for _, sub := range e.Sub {
			out = append(out, alternatives(sub)...)
		}
		return out
	case syntax.OpConcat:
		subs := e.Sub
		for len(subs) > 0 && (subs[0].Op == syntax.OpWordBoundary || subs[0].Op == syntax.OpQuest) {
			subs = subs[1:]
		}
		if len(subs) > 1 && subs[0].Op == syntax.OpCapture { // the rest only ends the secret
			return alternatives(subs[0])
		}
		for len(subs) > 0 && ends(subs[len(subs)-1]) {
			subs = subs[:len(subs)-1]
		}
		rest := *e
		rest.Sub = subs
		if len(subs) > 1 && subs[0].Op == syntax.OpAlternate { // several beginnings
			var out []*syntax.Regexp
			for _, first := range subs[0].Sub {
				one := rest
				one.Sub = append([]*syntax.Regexp{first}, subs[1:]...)
				out = append(out, &one)
			}
			return out
		}
		return []*syntax.Regexp{&rest}
	}
	return []*syntax.Regexp{e}
}

func ends(e *syntax.Regexp) bool {
	return e.Op == syntax.OpWordBoundary || e.Op == syntax.OpAlternate && strings.Contains(e.String(), `\z`)
}

func begin(e *syntax.Regexp) (literal, expr string) {
	expr = e.String()
	first := e
	for first.Op == syntax.OpConcat && len(first.Sub) > 0 {
		first = first.Sub[0]
	}
	if first.Op != syntax.OpLiteral {
		return "", expr
	}
	return string(first.Rune), expr
}
