package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/rivo/uniseg"
)

// teller prints the story. It ignores the writer's errors.
type teller struct {
	w      io.Writer
	colour bool
}

// Colours, as numbers in the terminal's palette of 256.
const (
	plain  = 0
	dim    = 245
	red    = 203
	green  = 78
	yellow = 221
)

func (t *teller) paint(colour int, s string) string {
	if !t.colour || colour == plain || s == "" {
		return s
	}
	return fmt.Sprintf("\x1b[38;5;%dm%s\x1b[0m", colour, s)
}

func (t *teller) bold(s string) string {
	if !t.colour {
		return s
	}
	return "\x1b[1m" + s + "\x1b[0m"
}

func (t *teller) chapter(title string) {
	fmt.Fprintf(t.w, "\n%s\n\n", t.bold(title))
}

// say prints a wrapped paragraph.
func (t *teller) say(format string, args ...any) {
	t.block("  ", plain, fmt.Sprintf(format, args...))
}

// aside prints what happens in the background.
func (t *teller) aside(format string, args ...any) {
	t.block("     ", dim, fmt.Sprintf(format, args...))
}

func (t *teller) speaks(who, words string, colour int) {
	fmt.Fprintf(t.w, "  %s\n", who)
	t.block("     ", colour, words)
}

func (t *teller) refuses(status int, code, message, hint string) {
	t.block("     ", red, fmt.Sprintf("%d %s: %s", status, code, message))
	if hint != "" {
		t.block("     ", dim, "hint: "+hint)
	}
}

const columns = 84

func (t *teller) block(indent string, colour int, s string) {
	for line := range strings.SplitSeq(s, "\n") {
		for _, row := range wrap(line, columns-len(indent)) {
			if row != "" {
				row = indent + t.paint(colour, row)
			}
			fmt.Fprintln(t.w, row)
		}
	}
}

// wrap breaks a line between words, at a width in columns.
func wrap(line string, width int) []string {
	rows, row := []string{}, ""
	for _, word := range strings.Fields(line) {
		if row != "" && uniseg.StringWidth(row)+1+uniseg.StringWidth(word) > width {
			rows, row = append(rows, row), ""
		}
		if row != "" {
			row += " "
		}
		row += word
	}
	return append(rows, row)
}

// pad appends spaces to s, up to a width in columns.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-uniseg.StringWidth(s)))
}
