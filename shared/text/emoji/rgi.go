package emoji

import (
	_ "embed"
	"strings"
	"sync"
)

// data is the set RGI_Emoji ("recommended for general interchange", UTS #51
// section 1.4.3) of Unicode 17.0; generate.mjs tells how it is made. A version
// of Unicode that adds emoji needs only a new file.
//
//go:embed rgi.txt
var data string

const (
	variation = "\ufe0f" // VS16: show the character before as an emoji
	light     = '\U0001f3fb'
	other     = '\U0001f3fc'
	dark      = '\U0001f3ff'
)

// rgi is [load]ed when first asked for, so that starting costs nothing.
var rgi = sync.OnceValue(load)

// load maps emoji without their variation selectors and with their skin tones
// folded to how they are written in full.
func load() map[string]string {
	set := make(map[string]string, 2300)
	for line := range strings.Lines(data) {
		if line = strings.TrimSuffix(line, "\n"); !strings.HasPrefix(line, "//") {
			set[strings.ReplaceAll(line, variation, "")] = line
		}
	}
	return set
}

// qualify answers the fully-qualified form of one grapheme cluster, if that is
// an RGI emoji. Variation selectors may be missing or stand where none is
// needed: ❤ and ❤️ are the same emoji, hence the same string.
func qualify(cluster string) (full string, ok bool) {
	if bare[cluster] || strings.Contains(cluster, variation+variation) {
		return "", false
	}
	folded, tones := fold(strings.ReplaceAll(cluster, variation, ""))
	full, ok = rgi()[folded]
	if !ok || len(tones) == 0 {
		return full, ok
	}
	return strings.Map(func(r rune) rune {
		if tone(r) {
			r, tones = tones[0], tones[1:]
		}
		return r
	}, full), true
}

// bare are signs and a letter that writing uses as they are. They are emoji
// only with a variation selector that says so. (Digits, # and * become emoji
// only with a keycap around them, and are not in the set without it.)
var bare = map[string]bool{"©": true, "®": true, "™": true, "ℹ": true}

// fold replaces the first skin tone and its equals by the lightest, those that
// differ by the next, and answers the tones that stood there: of the forms with
// skin tones, 20 % are left. Some pairs exist only with two different tones
// (🫱🏻‍🫲🏿), so equal and different are told apart; no RGI emoji has three.
func fold(s string) (folded string, tones []rune) {
	if !strings.ContainsFunc(s, tone) {
		return s, nil
	}
	var b strings.Builder
	for _, r := range s {
		if tone(r) {
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

func tone(r rune) bool { return r >= light && r <= dark }
