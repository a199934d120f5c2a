package sequences

import (
	"strings"
	"testing"
)

func TestVaries(t *testing.T) {
	for _, c := range []struct {
		name           string
		base, selector rune
		want           bool
	}{
		{"a heart in colour", '❤', Color, true},
		{"a heart as text", '❤', Text, true},
		{"a digit of a keycap", '1', Color, true},
		{"a Latin letter in colour", 'a', Color, false},
		{"an emoji without a text form", '🦊', Color, false},
		{"a slashed zero", '0', 0xfe00, true},
		{"a slashed one", '1', 0xfe00, false},
		{"the second form of 㮝", '㮝', 0xfe01, true},
		{"a form that 㮝 lacks", '㮝', 0xfe02, false},
		{"a Mongolian letter", '\u1820', 0x180b, true},
		{"a Latin letter with a Mongolian selector", 'a', 0x180b, false},
		{"a selector without any sequence", 'a', 0x180f, false},
		{"the first form of 葛", '葛', 0xe0100, true},
		{"a form that 葛 lacks", '葛', 0xe01ef, false},
		{"the first ideograph with forms", '\u3402', 0xe0100, true},
		{"the fifth form of U+3402", '\u3402', 0xe0104, true},
		{"a sixth form, which U+3402 lacks", '\u3402', 0xe0105, false},
		{"an ideograph without forms", '\u3403', 0xe0100, false},
		{"a code point before all ideographs with forms", 'a', 0xe0100, false},
		{"a kana", 'か', 0xe0100, false},
		{"the last code point", '\U0010ffff', 0xe0100, false},
	} {
		if got := Varies(c.base, c.selector); got != c.want {
			t.Errorf("Varies of %s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestVariantsAreComplete(t *testing.T) {
	han, sequences, emoji, listed := 0, 0, 0, 0
	for base := rune(0); base <= 0x10ffff; base++ {
		if n := 0; Varies(base, firstHan) {
			for Varies(base, firstHan+rune(n)) {
				n++
			}
			han++
			sequences += n
		}
		if Varies(base, Color) {
			emoji++
			if !Varies(base, Text) {
				t.Errorf("U+%04X has an emoji presentation, but no text presentation", base)
			}
		} else if Colored(base) && !Varies(base, Color) {
			t.Errorf("Varies(U+%04X, Color) = false, want true, since Colored is true", base)
		}
		for _, selector := range []rune{0x180b, 0x180c, 0x180d, 0xfe00, 0xfe01, 0xfe02, 0xfe03, 0xfe06} {
			if Varies(base, selector) {
				listed++
			}
		}
	}
	if han != 15290 || sequences != 29437 || emoji != 371 || listed != 1306 {
		t.Errorf("got %d ideographs with %d forms, %d emoji, %d standardized variants; want 15290, 29437, 371, 1306", han, sequences, emoji, listed)
	}
	if !strings.Contains(variantsData, "Unicode 17.0") {
		t.Error("variants.txt does not name Unicode 17.0 as its source")
	}
}

func TestJoinerShows(t *testing.T) {
	const nonJoiner, joiner = '\u200c', '\u200d'
	for _, c := range []struct {
		name          string
		joiner        rune
		before, after string
		want          bool
	}{
		{"Persian, between joining letters", nonJoiner, "می", "خواهم", true},
		{"past a mark", nonJoiner, "بِ", "ب", true},
		{"past four marks on each side", nonJoiner, "ب" + strings.Repeat("\u0650", 4), strings.Repeat("\u0650", 4) + "ب", true},
		{"past five marks before", nonJoiner, "ب" + strings.Repeat("\u0650", 5), "ب", false},
		{"past five marks after", nonJoiner, "ب", strings.Repeat("\u0650", 5) + "ب", false},
		{"after a letter that does not join", nonJoiner, "کار", "ها", false},
		{"at the end of a word", nonJoiner, "می", " ", false},
		{"Latin", nonJoiner, "Auf", "lage", false},
		{"Devanagari, after a virama", joiner, "क्", "ष", true},
		{"Devanagari, a non-joiner after a virama", nonJoiner, "क्", "ष", true},
		{"Bengali, before a virama", joiner, "র", "্য", true},
		{"Latin, joined", joiner, "a", "b", false},
		{"nothing around", joiner, "", "", false},
		{"not UTF-8 around", nonJoiner, "\xff", "\xff", false},
	} {
		if got := JoinerShows(c.joiner, c.before, c.after); got != c.want {
			t.Errorf("JoinerShows, %s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func BenchmarkLoadVariants(b *testing.B) {
	for b.Loop() {
		loadVariants()
	}
}
