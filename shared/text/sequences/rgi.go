package sequences

import (
	_ "embed"
	"strings"
	"sync"
)

// rgiData is the set RGI_Emoji ("recommended for general interchange", UTS #51 section
// 1.4.3) of Unicode 17.0. rgi.mjs writes it.
//
//go:embed rgi.txt
var rgiData string

const (
	variation = "\ufe0f" // VS16
	light     = '\U0001f3fb'
	other     = '\U0001f3fc'
	dark      = '\U0001f3ff'
)

var rgi = sync.OnceValue(load)

// load maps emoji, without variation selectors and with folded skin tones, to
// their fully qualified form.
func load() map[string]string {
	set := make(map[string]string, 2300)
	for line := range strings.Lines(rgiData) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "//") {
			set[strings.ReplaceAll(line, variation, "")] = line
		}
	}
	return set
}

// Emoji returns the fully qualified form of one grapheme cluster, if it is an
// RGI emoji. Variation selectors may be missing or superfluous: ❤ and ❤️ give the
// same string. Only ©, ®, ™ and ℹ need theirs.
func Emoji(cluster string) (full string, ok bool) {
	if bare[cluster] || strings.Contains(cluster, variation+variation) {
		return "", false
	}
	folded, tones := fold(strings.ReplaceAll(cluster, variation, ""))
	full, ok = rgi()[folded]
	if !ok || len(tones) == 0 {
		return full, ok
	}
	return strings.Map(func(r rune) rune {
		if Tone(r) {
			r, tones = tones[0], tones[1:]
		}
		return r
	}, full), true
}

// bare holds signs of ordinary writing that are emoji only with a variation selector.
var bare = map[string]bool{"©": true, "®": true, "™": true, "ℹ": true}

// fold replaces the first skin tone, wherever it occurs, by the lightest one, and any
// other tone by the second-lightest. So rgi.txt lists only 350 of the 2035 emoji with
// skin tones. Equal and different tones give different results, because some pairs exist
// only with two different tones (🫱🏻‍🫲🏿).
func fold(s string) (folded string, tones []rune) {
	if !strings.ContainsFunc(s, Tone) {
		return s, nil
	}
	var b strings.Builder
	for _, r := range s {
		if Tone(r) {
			tones = append(tones, r)
			if r == tones[0] {
				r = light
			} else {
				r = other
			}
		}
		b.WriteRune(r)
	}
	return b.String(), tones
}

// Tone reports whether r is a skin tone (Emoji_Modifier, UTS #51).
func Tone(r rune) bool { return r >= light && r <= dark }
