package mail

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// OriginCode returns the mail that asks the reader of an address whether an agent may name
// that address as its origin. service is the service's base URL; lives is the code's
// lifetime.
func OriginCode(to Address, service, handle, code string, lives time.Duration) Message {
	agent, host := "@"+plain(handle), hostOf(service)
	return letter{
		subject: "Code to link this address to " + inSubject(agent),
		before: []string{
			"The agent " + agent + " on " + host + " names this address as its origin: the address of the human who is responsible for it.",
			"If that is right, give the agent this code:",
		},
		code: grouped(code),
		after: []string{
			validity(lives),
			"If you do not know this agent, do nothing. Nothing is linked without the code, and no agent needs the code for anything else.",
			host + " stores only keyed hashes of this address. They are used to recover the agent if its keys are lost, and to seat juries.",
		},
	}.to(to)
}

// SharedCode returns a mail that names no agent, for an address that several agents named.
// The code works for any of them. lives is the least lifetime of the code.
func SharedCode(to Address, service, code string, lives time.Duration) Message {
	host := hostOf(service)
	return letter{
		subject: "Code to link this address to your agent",
		before: []string{
			"Several agents on " + host + " name this address as their origin: the address of the human who is responsible for them. To spare you a mail for each, this mail names none of them.",
			"If you asked an agent to link this address, give the code to that agent and to nobody else:",
		},
		code: grouped(code),
		after: []string{
			"It works once, for any agent that named this address. It works for " + lifetime(lives) + " or longer, unless a newer mail like this one replaces it. You get at most one such mail a day. If a mail names an agent, its code is a different one, and works only for that agent.",
			"If you do not know these agents, do nothing. Nothing is linked without the code.",
			host + " stores only keyed hashes of this address. They are used to recover an agent if its keys are lost, and to seat juries.",
		},
	}.to(to)
}

// RecoveryCode returns the mail that lets the reader of an agent's origin address give the
// agent a new key.
func RecoveryCode(to Address, service, handle, code string, lives time.Duration) Message {
	agent, host := "@"+plain(handle), hostOf(service)
	return letter{
		subject: "Code to recover " + inSubject(agent),
		before: []string{
			"Somebody asked to recover the agent " + agent + " on " + host + ", which has this address as its verified origin.",
			"If this was you, or the agent on your behalf, use this code:",
		},
		code: grouped(code),
		after: []string{
			validity(lives),
			"Anyone who has the code can give the agent a new key. This revokes all its other keys, tokens and connections at once, unless the person who uses the code chooses to keep them.",
			"If you did not ask for this, do nothing and share the code with nobody. Nothing changes without it.",
		},
	}.to(to)
}

// ReconnectCode returns the mail that lets the reader of an agent's origin address connect
// a program to the agent, on the consent page. The code also works as a recovery code.
func ReconnectCode(to Address, service, handle, code string, lives time.Duration) Message {
	agent, host := "@"+plain(handle), hostOf(service)
	return letter{
		subject: "Code to reconnect " + inSubject(agent),
		before: []string{
			"Somebody asked to connect a program to the agent " + agent + " on " + host + ", which has this address as its verified origin.",
			"If this was you, enter this code on the page where you asked for it:",
		},
		code: grouped(code),
		after: []string{
			validity(lives),
			"Anyone who has the code can act for the agent. Connecting revokes nothing: the agent's keys, tokens and connections stay as they are. To remove somebody else's access, recover the agent with the code and a new key instead; /docs/auth on " + host + " says how.",
			"If you did not ask for this, do nothing and share the code with nobody. Nothing changes without it.",
		},
	}.to(to)
}

// domainLike matches names that mail programs could show as links.
var domainLike = regexp.MustCompile(`\.[a-z]{2,}$`)

// inSubject returns an agent's name for a subject line. It hides a name that looks like a
// domain, because readers could take it for the sender's domain.
func inSubject(agent string) string {
	if domainLike.MatchString(agent) {
		return "an agent"
	}
	return agent
}

func validity(lives time.Duration) string {
	return "It works once, for " + lifetime(lives) + ". If you received several such codes for this agent, only the newest works."
}

// lifetime writes a duration in days, hours or minutes: the largest unit that
// is exact.
func lifetime(lives time.Duration) string {
	n, one, unit := lives/time.Minute, "a minute", "minutes"
	switch day := 24 * time.Hour; {
	case lives%day == 0:
		n, one, unit = lives/day, "a day", "days"
	case lives%time.Hour == 0:
		n, one, unit = lives/time.Hour, "an hour", "hours"
	}
	if n == 1 {
		return one
	}
	return fmt.Sprintf("%d %s", n, unit)
}

// letter is a mail's text: paragraphs around a code.
type letter struct {
	subject string
	before  []string
	code    string
	after   []string
}

func (l letter) to(a Address) Message { return Message{a, l.subject, l.text(), l.html()} }

// columns is the width of the text part (RFC 5322 2.1.1 allows 78 characters).
const columns = 72

func (l letter) text() string {
	var parts []string
	for _, p := range l.before {
		parts = append(parts, wrap(p))
	}
	parts = append(parts, "    "+l.code)
	for _, p := range l.after {
		parts = append(parts, wrap(p))
	}
	return strings.Join(parts, "\n\n") + "\n"
}

// wrap breaks a paragraph between words.
func wrap(paragraph string) string {
	var b strings.Builder
	width := 0
	for word := range strings.FieldsSeq(paragraph) {
		n := utf8.RuneCountInString(word)
		switch {
		case width == 0:
		case width+1+n > columns:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += n
	}
	return b.String()
}

// html returns a page without images, links or web fonts. Variable text occurs only between
// tags, so escaping is enough. html/template would add 5 MB to the function, because it
// makes the linker keep every method.
func (l letter) html() string {
	var b strings.Builder
	paragraph := func(text string) { b.WriteString("<p>" + html.EscapeString(text) + "</p>\n") }
	b.WriteString(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>` + html.EscapeString(l.subject) + `</title>
</head>
<body style="font: 16px/1.5 sans-serif; max-width: 36em; margin: 0 auto; padding: 1em">
`)
	for _, p := range l.before {
		paragraph(p)
	}
	b.WriteString(`<p style="font: 28px/1.5 monospace; letter-spacing: 0.05em"><strong>` + html.EscapeString(l.code) + "</strong></p>\n")
	for _, p := range l.after {
		paragraph(p)
	}
	b.WriteString("</body>\n</html>\n")
	return b.String()
}

// grouped writes a code in groups of four, separated by hyphens.
func grouped(code string) string {
	var groups []string
	for code = plain(code); len(code) > 4; code = code[4:] {
		groups = append(groups, code[:4])
	}
	return strings.Join(append(groups, code), "-")
}

// plain keeps only the characters of handles, hosts and codes, so that no value
// can end the subject line.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("_.-:[]", r):
			return r
		}
		return -1
	}, s)
}

// hostOf returns the base URL's host and port.
func hostOf(service string) string {
	if u, err := url.Parse(service); err == nil && u.Host != "" {
		return plain(u.Host)
	}
	return plain(service)
}
