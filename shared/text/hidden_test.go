package text

import "testing"

func TestHidden(t *testing.T) {
	const england = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
	for _, c := range []struct {
		name, s string
		ok      bool
	}{
		{"tags", "hi \U000e0049\U000e0047", false},
		{"England", "go " + england + "!", true},
		{"two flags", england + england, true},
		{"a tag after a flag", england + "\U000e0041", false},
		{"a flag with a sentence", "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e0067\U000e0067\U000e0067", false},
		{"variation selectors of the supplement", "a\U000e0100", false},
		{"annotation", "a\ufff9b", false},
		{"noncharacter", "a\ufffe", false},
		{"noncharacter of another plane", "a\U0001ffff", false},
		{"emoji with a selector", "❤\ufe0f", true},
		{"a family", "👨\u200d👩\u200d👧", true},
		{"a joiner in Persian", "می\u200cخواهم", true},
		{"three zero-width spaces", "a\u200b\u200b\u200bb", false},
		{"two zero-width spaces", "a\u200b\u200bb", true},
		{"selectors in a row", "hi\ufe00\ufe0f\ufe01", false},
		{"joiners of several kinds", "hi\u200b\u200c\u034f", false},
		{"fillers", "hi\u3164\u115f\u1160", false},
		{"Mongolian selectors", "hi\u180b\u180c\u180d", false},
		{"unassigned and ignorable", "hi\u2065\ufff0\ufff1", false},
		{"tags that spell no region", "\U0001f3f4\U000e0068\U000e0069", false},
		{"the end of tags alone", "\U0001f3f4\U000e007f", false},
		{"a flag and a joiner", "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f\u200da", true},
		{"a form of a Han character", "葛\U000e0100城", true},
		{"two selectors after a Han character", "葛\U000e0100\U000e0101", false},
		{"U+FFFD as written", "a\ufffdb", true},
	} {
		if err := Clean(c.s, 100); (err == nil) != c.ok {
			t.Errorf("%s: Clean = %v, want it accepted: %t", c.name, err, c.ok)
		}
	}
}
