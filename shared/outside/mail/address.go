package mail

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
	"unique"

	"golang.org/x/net/idna"
)

// Address is a mail address in its normalised form, of which the service keeps
// hashes only. It hides: whatever prints, logs or encodes it gets a redacted
// form, and [Address.Reveal] is the one way to what it says. It is held behind a
// handle, which fmt prints as a pointer, because methods are of no help to an
// unexported field of a struct that is printed. Addresses compare with ==.
type Address struct{ h unique.Handle[string] }

// Limits of an address in octets (RFC 5321 4.5.3.1, with erratum 1690).
const (
	addressMost = 254
	localMost   = 64
	labelMost   = 63
)

// localForm is a dot-atom (RFC 5322 3.2.3): no quoted strings, no comments.
var localForm = regexp.MustCompile("^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$")

var labelForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// nowhere are the ends of names that no mail server outside one's own network
// has: RFC 6761, 6762, 7686, 9476 and what ICANN set aside. Of those that RFC
// 6761 reserves, .test and .example stand for addresses on a laptop.
var nowhere = []string{"alt", "arpa", "internal", "invalid", "local", "localhost", "onion"}

// ParseAddress reads an address and normalises it: trimmed, in lower case as a
// whole, the domain in punycode. It takes what an internet mailbox has, a
// dot-atom at a domain name, and no display names, quoted strings, comments or
// address literals. An error says what the address is or has, as in "has no @",
// and repeats no part of it.
func ParseAddress(s string) (Address, error) {
	local, domain, found := strings.Cut(strings.TrimSpace(s), "@")
	switch {
	case !utf8.ValidString(s):
		return Address{}, errors.New("is not UTF-8")
	case !found:
		return Address{}, errors.New("has no @")
	case strings.Contains(domain, "@"):
		return Address{}, errors.New("has more than one @")
	}
	local, err := normalLocal(local)
	if err != nil {
		return Address{}, err
	}
	domain, err = normalDomain(domain)
	if err != nil {
		return Address{}, err
	}
	if len(local)+1+len(domain) > addressMost {
		return Address{}, fmt.Errorf("is longer than %d characters", addressMost)
	}
	return Address{unique.Make(local + "@" + domain)}, nil
}

// normalLocal is a local part in lower case. What is not ASCII is refused before
// that: some of it becomes ASCII in lower case (the Kelvin sign, a Turkish I),
// and would be another's address.
func normalLocal(local string) (string, error) {
	if !ascii(local) {
		return "", errors.New("has characters beyond ASCII before the @")
	}
	local = strings.ToLower(local)
	switch {
	case strings.HasPrefix(local, "-"), strings.ContainsAny(local, "%!|"), strings.Contains(local, "=?"):
		return "", errors.New("has something before the @ that mail programs may take for more than a name")
	case local == "":
		return "", errors.New("has nothing before the @")
	case len(local) > localMost:
		return "", fmt.Errorf("has more than %d characters before the @", localMost)
	case !localForm.MatchString(local):
		return "", errors.New("has before the @ what is neither a letter, a digit nor one of !#$%&'*+/=?^_`{|}~-, or a dot without one of these on both sides")
	}
	return local, nil
}

// normalDomain is a domain in lower case and punycode.
func normalDomain(domain string) (string, error) {
	switch {
	case domain == "":
		return "", errors.New("has nothing behind the @")
	case strings.HasPrefix(domain, "["):
		return "", errors.New("has a network address behind the @, and not a domain")
	case strings.HasSuffix(domain, "."):
		return "", errors.New("ends in a dot")
	}
	// The form in which it is looked up: IDNA2008 as UTS 46 applies it, not
	// transitional, so that ß and ss are two domains, as they are in the DNS. The
	// profile is made here for the sake of functions that parse no address: they
	// link no tables.
	lookup := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false), idna.VerifyDNSLength(true))
	domain, err := lookup.ToASCII(domain)
	if err != nil { // which would say what the domain is
		return "", errors.New("has behind the @ what is no domain name")
	}
	labels := strings.Split(domain, ".")
	last := labels[len(labels)-1]
	switch {
	case len(labels) < 2:
		return "", errors.New("has a domain without a dot")
	case slices.ContainsFunc(labels, func(l string) bool { return len(l) > labelMost || !labelForm.MatchString(l) }):
		return "", errors.New("has behind the @ what is no domain name")
	case strings.Trim(last, "0123456789") == "":
		return "", errors.New("has a domain that ends in a number")
	case slices.Contains(nowhere, last):
		return "", errors.New("has a domain that no mail can be sent to")
	}
	return domain, nil
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// Reveal is the address itself, in the form that mail goes to and that is
// hashed. It is "" for the zero Address, which stands for none.
func (a Address) Reveal() string {
	if a == (Address{}) {
		return ""
	}
	return a.h.Value()
}

// Person is the address without what lets one mailbox have many: the tag that
// many providers let its owner append (fox+jury@example.com is fox@example.com),
// and what some read as one besides. It tells people apart, and mail never goes
// to it.
func (a Address) Person() string {
	local, domain, _ := strings.Cut(a.Reveal(), "@")
	if i := strings.LastIndexByte(local, '+'); i > 0 {
		local = local[:1+strings.IndexByte(local[1:], '+')] // a plus in front is no tag's
	}
	return foldingAt(domain).fold(local, domain)
}

// Domain is what stands behind the @.
func (a Address) Domain() string {
	_, domain, _ := strings.Cut(a.Reveal(), "@")
	return domain
}

const redacted = "[address]"

func (Address) String() string   { return redacted }
func (Address) GoString() string { return redacted }

// Format prints the redacted form, whatever the verb.
func (Address) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

func (Address) LogValue() slog.Value         { return slog.StringValue(redacted) }
func (Address) MarshalText() ([]byte, error) { return []byte(redacted), nil }
func (Address) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
