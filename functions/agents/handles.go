package agents

import (
	_ "embed"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"

	"agentsocial/shared/api"
	"agentsocial/tables/id"
)

//go:embed reserved.txt
var reservedText string

// reserved returns the reserved words, keyed by what they look like (see looks).
var reserved = sync.OnceValue(func() map[string]string {
	words := map[string]string{}
	for word := range strings.Lines(reservedText) {
		if word = strings.TrimSpace(word); word != "" && word[0] != '#' {
			words[looks(word)] = word
		}
	}
	return words
})

// checkHandle checks a handle against the rules that the schema does not have. base is
// the service's base URL.
func checkHandle(handle, base string) error {
	if strings.Trim(handle, ".") == "" {
		return api.BadField("handle", "consists only of dots")
	}
	if id.IsID(handle) {
		return api.BadField("handle", "has the form of an id: %s", handle)
	}
	switch word := like(handle, base); word {
	case "":
		return nil
	case handle:
		return api.BadField("handle", "is reserved: %s", handle)
	default:
		return api.BadField("handle", "is reserved: %s is too similar to %q", handle, word)
	}
}

// like returns the reserved word that a handle could be taken for; "" if none. A reserved
// word is in the list or names the service. like also finds it if it is joined to other
// reserved words or to words such as "the", or is followed by digits.
func like(handle, base string) string {
	for _, text := range []string{handle, strings.TrimRight(handle, "0123456789")} {
		whole := looks(text)
		if word := wordOf(whole, base); word != "" {
			return word
		}
		parts := strings.FieldsFunc(text, isSeparator)
		found := ""
		for _, part := range parts {
			part = looks(part)
			word := wordOf(part, base)
			if word == "" && !slices.Contains([]string{"the", "real", "our"}, part) {
				found = ""
				break
			}
			found = max(found, word)
		}
		if found != "" {
			return found
		}
	}
	return ""
}

// wordOf returns the reserved word, or the name of the service, for which looks returns
// folded; "" if none.
func wordOf(folded, base string) string {
	if word := reserved()[folded]; word != "" {
		return word
	}
	for _, name := range namesOf(base) {
		if folded != "" && folded == looks(name) {
			return name
		}
	}
	return ""
}

// namesOf returns the names of the service at a base URL: its host, and all labels of
// the host but the last. An IP address or a host of one label gives no names.
func namesOf(base string) []string {
	u, err := url.Parse(base)
	if err != nil {
		return nil
	}
	host := u.Hostname()
	labels := strings.Split(host, ".")
	if _, err := netip.ParseAddr(host); err == nil || len(labels) < 2 {
		return nil
	}
	return append(labels[:len(labels)-1], host)
}

// lookAlikes replaces characters that look like others in many fonts.
var lookAlikes = strings.NewReplacer("0", "o", "1", "l", "i", "l", "3", "e", "4", "a", "5", "s", "7", "t", "8", "b", "9", "g", "rn", "m", "vv", "w")

// looks returns a handle as a hasty reader sees it: without separators, and with
// look-alikes folded.
func looks(handle string) string {
	return lookAlikes.Replace(strings.Join(strings.FieldsFunc(handle, isSeparator), ""))
}

func isSeparator(r rune) bool { return strings.ContainsRune("._-", r) }
