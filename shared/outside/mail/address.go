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

// Address is a normalised mail address. The service stores only hashes of it.
// [Address.Reveal] returns the text; printing, logging and encoding give a redacted form.
// Addresses compare with ==.
//
// fmt does not call the methods of unexported struct fields. So the text is behind a
// unique.Handle, which fmt prints as a pointer.
type Address struct{ h unique.Handle[string] }

// Limits of an address in octets (RFC 5321 4.5.3.1; RFC 1035 2.3.4; RFC 3696, erratum 1690).
const (
	addressMost = 254
	localMost   = 64
	labelMost   = 63
)

// localForm is a dot-atom (RFC 5322 3.2.3): no quoted strings, no comments.
var localForm = regexp.MustCompile("^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$")

var labelForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// nowhere lists top-level names that have no public mail server: RFC 6761,
// 6762, 7686, 9476 and ICANN's reservations. .test and .example are also
// reserved, but addresses on a laptop use them.
var nowhere = []string{"alt", "arpa", "internal", "invalid", "local", "localhost", "onion"}

// ParseAddress reads an address and normalises it: trimmed, lower case, the domain in
// punycode. It refuses display names, quoted strings, comments and address literals. An
// error is a predicate, such as "has no @", and repeats no part of the address.
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

// normalLocal returns a local part in lower case. It refuses non-ASCII first, because
// lower case turns the Kelvin sign into k, which would make somebody else's address.
func normalLocal(local string) (string, error) {
	if !ascii(local) {
		return "", errors.New("has non-ASCII characters before the @")
	}
	local = strings.ToLower(local)
	switch {
	case strings.HasPrefix(local, "-"), strings.ContainsAny(local, "%!|"), strings.Contains(local, "=?"):
		return "", errors.New("has a leading hyphen, a %, ! or |, or =? before the @, which some mail programs interpret")
	case local == "":
		return "", errors.New("has nothing before the @")
	case len(local) > localMost:
		return "", fmt.Errorf("has more than %d characters before the @", localMost)
	case !localForm.MatchString(local):
		return "", errors.New("may have before the @ only letters, digits and #$&'*+/=?^_`{}~-, and single dots between them")
	}
	return local, nil
}

// normalDomain returns a domain in lower case and punycode.
func normalDomain(domain string) (string, error) {
	switch {
	case domain == "":
		return "", errors.New("has nothing after the @")
	case strings.HasPrefix(domain, "["):
		return "", errors.New("has a network address after the @ instead of a domain")
	case strings.HasSuffix(domain, "."):
		return "", errors.New("ends in a dot")
	}
	// This is the form that is looked up: IDNA2008 as UTS 46 applies it. It is
	// non-transitional, so ß and ss are two domains, as in the DNS. A package variable
	// would link idna's tables into functions that parse no address.
	lookup := idna.New(idna.MapForLookup(), idna.BidiRule(), idna.Transitional(false), idna.VerifyDNSLength(true))
	domain, err := lookup.ToASCII(domain)
	if err != nil { // err names the domain
		return "", errors.New("has an invalid domain name after the @")
	}
	labels := strings.Split(domain, ".")
	last := labels[len(labels)-1]
	switch {
	case len(labels) < 2:
		return "", errors.New("has a domain without a dot")
	case slices.ContainsFunc(labels, func(l string) bool { return len(l) > labelMost || !labelForm.MatchString(l) }):
		return "", errors.New("has an invalid domain name after the @")
	case strings.Trim(last, "0123456789") == "":
		return "", errors.New("has a domain that ends in a number")
	case slices.Contains(nowhere, last):
		return "", errors.New("has a domain that cannot receive mail")
	}
	return domain, nil
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

// Reveal returns the address as mail is sent to it and as it is hashed. It is
// "" for the zero Address.
func (a Address) Reveal() string {
	if a == (Address{}) {
		return ""
	}
	return a.h.Value()
}

// Person returns one form for all addresses of the same mailbox. It drops the tag after a
// plus, and folds the address as the provider does. Mail is never sent to this form.
func (a Address) Person() string {
	local, domain, _ := strings.Cut(a.Reveal(), "@")
	if i := strings.LastIndexByte(local, '+'); i > 0 {
		local = local[:1+strings.IndexByte(local[1:], '+')] // a leading plus starts no tag
	}
	return foldingAt(domain).fold(local, domain)
}

// Domain returns the part after the @.
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
