package search

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestWords(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"The fox, the FOX: a fox's den.", "the fox a s den"},
		{"x1 gpt4o 3.14 foo_bar a-b c++", "x1 gpt4o 3 14 foo bar a b c"},
		{"Straße STRASSE straẞe", "strasse"},
		{"İstanbul ISTANBUL ıstanbul istanbul", "istanbul"},
		{"Ｆｕｌｌｗｉｄｔｈ ﬁsh x² ①", "fullwidth fish x2 1"},
		{"café cafe\u0301 CAFÉ cafe", "cafe"},
		{"Łódź Ørsted Æsir œuvre smørrebrød", "lodz orsted aesir oeuvre smorrebrod"},
		{"z\u0301\u0302\u0303\u0304algo", "zalgo"},
		{"Ελλάδα ΕΛΛΑΔΑ ελλαδα ᾳ", "ελλαδα α"},
		{"ΟΔΟΣ οδος οδοσ", "οδοσ"},
		{"Ёлка елка ёлка", "елка"},
		{"йод и\u0306од", "иод"},
		{"كِتَاب كتاب كتـــاب", "كتاب"},
		{"שָׁלוֹם שלום", "שלום"},
		{"किताब की", "किताब की"},
		{"ক্ষ ক", "ক্ষ ক"},
		{"क्\u200dष क्ष", "क्ष"},
		{"می\u200cخواهم", "میخواهم"},
		{"soft\u00adhyphen zero\u200bwidth word\u2060joiner", "softhyphen zero width wordjoiner"},
		{"fox🦊hen 👩‍👩‍👧 🇩🇪 ❤️ 1️⃣2", "fox hen 12"},
		{"\u3164fox\u115fhen\xff\xfefog", "fox hen fog"},
		{"\u0301fox", "fox"},
		{"東京タワー", "東京 京タ タワ ワー ー"},
		{"京", "京"},
		{"東京 東京都", "東京 京 京都 都"},
		{"ｶﾞﾀﾞ か\u3099", "ガダ ダ が"},
		{"iPhoneを買う2台", "iphone を買 買う う 2 台"},
		{"서울에서", "서울 울에 에서 서"},
		{"서울", "서울 울"},
		{"ภาษาไทย", "ภา าษ ษา าไ ไท ทย ย"},
		{"ที่นี่", "ที่นี่ นี่"},
		{strings.Repeat("ab", 20), strings.Repeat("ab", 16)},
		{strings.Repeat("é", 40), strings.Repeat("e", 32)},
	} {
		if got := strings.Join(Words(test.text), " "); got != test.want {
			t.Errorf("Words(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestQuery(t *testing.T) {
	for _, test := range []struct{ q, want string }{
		{"fox", "fox"},
		{"The fox, THE FOX", "fox the"},
		{"a ab abc b", "abc b"},
		{"東京タワー", "タワ ワー 京タ 東京"},
		{"京", "京"},
		{"東京 京都 京", "京都 東京"},
		{"서", "서"},
		{"one two three four five six seven eight one", "eight five four one seven six three two"},
		{strings.Repeat("a", 32), strings.Repeat("a", 32)},
	} {
		terms, err := Query(test.q)
		var got []string
		for _, term := range terms {
			got = append(got, string(term))
		}
		if err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("Query(%q) = %q, %v, want %q", test.q, got, err, test.want)
		}
	}
	for q, want := range map[string]string{
		"":                               "has no word: letters or digits",
		" 🦊 !? \u200b":                   "has no word: letters or digits",
		"a b c d e f g h i":              "has more than 8 words",
		"fox " + strings.Repeat("a", 33): "has a word of 33 characters, at most 32 are allowed",
		strings.Repeat("京", 33):          "has a word of 33 characters, at most 32 are allowed",
	} {
		terms, err := Query(q)
		var e *QueryError
		if !errors.As(err, &e) || e.Problem != want || terms != nil {
			t.Errorf("Query(%q) = %v, %v, want %q", q, terms, err, want)
		}
	}
}

var letters = rapid.StringOfN(rapid.SampledFrom([]rune("abéßİıĳﬁøЙёΐςᾳكِـשָकि्\u200d\u200c\u200b\u0301東京タワーｶﾞ々〆서울ไทย่ที🦊👩_ .12²Ⅷ①\u3164\ufe0f\u034fｆ")), 0, 30, -1)

// A query finds a text by a piece that starts where a word starts. In scripts without
// spaces, the piece may start at any letter.
func TestPiecesAreFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := letters.Draw(t, "text")
		for _, r := range runs(fold(text)) {
			var piece string
			if r.dense {
				from := rapid.IntRange(0, len(r.units)-1).Draw(t, "from")
				piece = r.slice(from, rapid.IntRange(1, len(r.units)-from).Draw(t, "letters"))
			} else {
				chars := []rune(r.text)
				piece = string(chars[:rapid.IntRange(1, len(chars)).Draw(t, "characters")])
			}
			if terms, err := Query(piece); err == nil && !contains(text, terms) {
				t.Fatalf("%q is not found in %q: terms %q, words %q", piece, text, terms, Words(text))
			}
		}
	})
}

func checkWords(t rapid.TB, text string) {
	folded := fold(text)
	if again := fold(folded); again != folded {
		t.Fatalf("%q folds to %q, which folds to %q, want the same", text, folded, again)
	}
	words := Words(text)
	if upper := Words(strings.ToUpper(folded)); utf8.ValidString(text) && isASCII(folded) && !slices.Equal(upper, words) {
		t.Fatalf("%q has words %q, but in upper case %q", text, words, upper)
	}
	for i, w := range words {
		if n := utf8.RuneCountInString(w); n < 1 || n > MaxWord || len(w) > 4*MaxWord || slices.Contains(words[:i], w) {
			t.Fatalf("%q has a word that is repeated, empty or too long: %q", text, words)
		}
		if strings.ContainsAny(w, " .,_-\n") {
			t.Fatalf("%q has the word %q with a separator", text, w)
		}
	}
}

func TestContains(t *testing.T) {
	mixed := rapid.Custom(func(t *rapid.T) string {
		var parts []string
		for range rapid.IntRange(0, 6).Draw(t, "parts") {
			part := rapid.OneOf(letters, rapid.StringOf(rapid.SampledFrom([]rune("aaAbBzZ019 ._-'=<\n\x00\x7f\u0301\u0338\u0345\u200d\u3099éǆﷺ東ก🦊"))))
			parts = append(parts, part.Draw(t, "part"))
		}
		return strings.Join(parts, "")
	})
	rapid.Check(t, func(t *rapid.T) {
		text := mixed.Draw(t, "text")
		words := Words(text)
		query := rapid.StringOfN(rapid.SampledFrom([]rune("abAz09é ")), 1, 8, -1).Draw(t, "query")
		if len(words) > 0 && rapid.Bool().Draw(t, "a word of it") {
			query = rapid.SampledFrom(words).Draw(t, "word")
		}
		terms, err := Query(query)
		if err != nil {
			return
		}
		want := true
		for _, term := range terms {
			want = want && slices.ContainsFunc(words, term.begins)
		}
		if got := contains(text, terms); got != want {
			t.Fatalf("contains(%q, %q) = %v, want %v", text, terms, got, want)
		}
	})
}

func TestFolding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkWords(t, letters.Draw(t, "text")) })
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"The fox", "Straße ẞ", "東京タワー", "ที่นี่", "क्\u200dष", "\xff\xfe", "ͅΐ", "서울", "\u0344\u1fd3ﬗ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkWords(t, text)
		if terms, err := Query(text); err == nil && !contains(text, terms) {
			t.Errorf("%q does not find itself: terms %q, words %q", text, terms, Words(text))
		}
	})
}

// A post's length must bound the cost of searching it.
func TestFoldingIsBounded(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		if n := utf8.RuneCountInString(fold(string(r))); n > 6 {
			t.Errorf("%U folds to %d characters, want at most 6", r, n)
		}
	}
	for text, want := range map[string][]string{"محمدﷺ": {"محمد", "صلعم"}, "ﷺ": {"صلعم"}, "ﷻ": {"جل"}} {
		if got := Words(text); !slices.Equal(got, want) {
			t.Errorf("Words(%s) = %q, want %q", text, got, want)
		}
	}
}
