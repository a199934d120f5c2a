package embedded

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentsocial/tables"
)

func TestPack_RoundTrip(t *testing.T) {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{"a", "pk", "ag_01m85chbdks7psh5m9jqfpq7m3", strings.Repeat("xy", 5000)}),
		rapid.Custom(func(t *rapid.T) string {
			from := rapid.IntRange(0, len(dictionary)).Draw(t, "from")
			return dictionary[from:rapid.IntRange(from, len(dictionary)).Draw(t, "to")]
		}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) }))
	text := rapid.Map(rapid.SliceOfN(part, 0, 8), func(s []string) string { return strings.Join(s, "") })
	rapid.Check(t, func(t *rapid.T) {
		key, s := text.Draw(t, "key"), text.Draw(t, "item")
		packed := string(appendPacked(nil, key, s))
		got, err := unpacked(key, packed)
		if err != nil || got != s {
			t.Fatalf("unpacked(%q): got %q, %v; want %q", packed, got, err, s)
		}
		if most := len(s) + len(s)/mostLiteral + 5; len(packed) > most {
			t.Fatalf("packing %d bytes: got %d, want at most %d", len(s), len(packed), most)
		}
		if got, err := unpacked(key, packed[:rapid.IntRange(0, len(packed)-1).Draw(t, "cut")]); err == nil && got != s {
			t.Fatalf("unpacked accepted a truncated item: %q", got)
		}
	})
}

// Unpacking damaged bytes returns an error or the stated number of bytes.
func TestPack_Broken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringN(0, 20, -1).Draw(t, "key")
		packed := string(binary.AppendUvarint(nil, rapid.Uint64Range(0, 2*mostPacked).Draw(t, "size"))) + string(rapid.SliceOf(rapid.Byte()).Draw(t, "steps"))
		size, _ := binary.Uvarint([]byte(packed))
		if got, err := unpacked(key, packed); err == nil && uint64(len(got)) != size {
			t.Fatalf("unpacked(%q): got %d bytes, want %d", packed, len(got), size)
		}
	})
}

// Names of attributes, and text that is also in the key, take few bytes.
func TestPack_Small(t *testing.T) {
	const id = "po_01m882bzwpdc41jbsmwxp9annf"
	for most, item := range map[int]tables.Item{
		30: {"pk": "M#A#ag_01m85chbdks7psh5m9jqfpq7m3/PROFILE+", "sk": "ev_01m882ccp3evhrxv2d5bj6vazt", "type": "marker", "ttl": int64(1800000000)},
		60: {"pk": "C#lounge", "sk": "P#" + id + "+", "type": "post_counters", "helpful": int64(0), "replies": int64(0), "score": int64(0),
			"tallies": int64(0), "rank_pk": "BEST#lounge#2026-11-25", "rank_sk": "1000000000#" + id},
	} {
		s := storedOf(t, item)
		if got := len(s.pack(itemKey(item.Key()))); got > most {
			t.Errorf("%v: packing %d bytes: got %d, want at most %d", item, len(s.encoded), got, most)
		}
	}
}

// Existing files were packed with this dictionary.
func TestDictionary(t *testing.T) {
	const want = "0d9979d0a916355e1326959b9de5dfba6a0bc94b45288d18686fc0d27f896e20"
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(dictionary))); got != want {
		t.Errorf("dictionary of %d bytes: got digest %s, want %s: it must never change", len(dictionary), got, want)
	}
}
