package mail

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseAddress_Normalises(t *testing.T) {
	long := strings.Repeat("l", localMost) + "@" + strings.Repeat(strings.Repeat("d", 61)+".", 3) + "net"
	if len(long) != addressMost {
		t.Fatalf("the longest address has %d characters, want %d", len(long), addressMost)
	}
	for in, want := range map[string]string{
		"fox@example.com":                        "fox@example.com",
		" \t\r\n FOX@Example.COM \u00a0":         "fox@example.com",
		"First.Last+Tag@mail.example.co.uk":      "first.last+tag@mail.example.co.uk",
		"a@b.de":                                 "a@b.de",
		"#$&'*+-/=^_`{}?~@example.com":           "#$&'*+-/=^_`{}?~@example.com",
		"1@2.3d":                                 "1@2.3d",
		"fox@4chan.example":                      "fox@4chan.example",
		"fox@den.test":                           "fox@den.test",
		"fox@MÜNCHEN.de":                         "fox@xn--mnchen-3ya.de",
		"fox@münchen.de":                         "fox@xn--mnchen-3ya.de", // decomposed ü
		"fox@XN--MNCHEN-3YA.de":                  "fox@xn--mnchen-3ya.de",
		"fox@straße.de":                          "fox@xn--strae-oqa.de", // not strasse.de
		"fox@strasse.de":                         "fox@strasse.de",
		"fox@例え。テスト":                             "fox@xn--r8jz45g.xn--zckzah",
		"fox@ｅxample.com":                        "fox@example.com",
		"fox@e\u00adxample.com":                  "fox@example.com", // a soft hyphen
		"fox@xn--80ak6aa92e.com":                 "fox@xn--80ak6aa92e.com",
		long:                                     long,
		"fox@" + strings.Repeat("d", 63) + ".de": "fox@" + strings.Repeat("d", 63) + ".de",
	} {
		if a, err := ParseAddress(in); err != nil || a.Reveal() != want {
			t.Errorf("ParseAddress(%q) = %q, %v, want %q", in, a.Reveal(), err, want)
		}
	}
}

func TestParseAddress_Refuses(t *testing.T) {
	for in, want := range map[string]string{
		"":                                       "has no @",
		"fox":                                    "has no @",
		"fox＠example.com":                        "has no @",
		"fox@den@example.com":                    "more than one @",
		`"fox@den"@example.com`:                  "more than one @",
		"@example.com":                           "nothing before the @",
		"fox@":                                   "nothing after the @",
		strings.Repeat("l", 65) + "@b.de":        "more than 64 characters",
		"-oq@example.com":                        "some mail programs interpret",
		"dog%den@example.com":                    "some mail programs interpret",
		"den!dog@example.com":                    "some mail programs interpret",
		"|sh@example.com":                        "some mail programs interpret",
		"=?utf-8?q?x?=@example.com":              "some mail programs interpret",
		"füchsin@example.com":                    "non-ASCII",
		"ſ@example.com":                          "non-ASCII", // upper-cases to S
		"\u212aay@example.com":                   "non-ASCII", // the Kelvin sign
		"\u0130ris@example.com":                  "non-ASCII", // a Turkish I
		"fo\u200dx@example.com":                  "non-ASCII",
		"fox\xff@example.com":                    "is not UTF-8",
		".fox@example.com":                       "only letters, digits",
		"fox.@example.com":                       "only letters, digits",
		"f..x@example.com":                       "only letters, digits",
		"f x@example.com":                        "only letters, digits",
		"f\nx@example.com":                       "only letters, digits",
		"fox\r\nBcc: dog@example.com":            "only letters, digits",
		"f\x00x@example.com":                     "only letters, digits",
		`"fox"@example.com`:                      "only letters, digits",
		`f\x@example.com`:                        "only letters, digits",
		"fox(den)@example.com":                   "only letters, digits",
		"Fox <fox@example.com>":                  "only letters, digits",
		"<fox@example.com>":                      "only letters, digits",
		"a,b@example.com":                        "only letters, digits",
		"fox:den@example.com":                    "only letters, digits",
		"fox@[192.0.2.1]":                        "a network address",
		"fox@[IPv6:2001:db8::1]":                 "a network address",
		"fox@192.0.2.1":                          "ends in a number",
		"fox@example.com.":                       "ends in a dot",
		"fox@example。":                           "invalid domain name",
		"fox@localhost":                          "without a dot",
		"fox@com":                                "without a dot",
		"fox@den.localhost":                      "cannot receive mail",
		"fox@printer.local":                      "cannot receive mail",
		"fox@DEN.Invalid":                        "cannot receive mail",
		"fox@den.internal":                       "cannot receive mail",
		"fox@example..com":                       "invalid domain name",
		"fox@.example.com":                       "invalid domain name",
		"fox@-den.com":                           "invalid domain name",
		"fox@den-.com":                           "invalid domain name",
		"fox@den_1.com":                          "invalid domain name",
		"fox@den com":                            "invalid domain name",
		"fox@den.com/path":                       "invalid domain name",
		"fox@den.com:25":                         "invalid domain name",
		"fox@den.com>":                           "invalid domain name",
		"fox@den.com\r\nBcc: x":                  "invalid domain name",
		"fox@xn--a-.com":                         "invalid domain name",
		"fox@xn--strasse-.de":                    "invalid domain name", // another spelling of strasse.de
		"fox@xn--abc.com":                        "invalid domain name",
		"fox@\u0301x.com":                        "invalid domain name",
		"fox@x\u200d.com":                        "invalid domain name",
		"fox@den.\xff":                           "is not UTF-8",
		"fox@" + strings.Repeat("d", 64) + ".de": "invalid domain name",
		"f@" + strings.Repeat(strings.Repeat("d", 49)+".", 5) + "net":     "longer than 254",
		strings.Repeat("l", 64) + "@" + strings.Repeat("dd.", 62) + "net": "", // exactly 254 is accepted
	} {
		a, err := ParseAddress(in)
		if want == "" {
			if err != nil {
				t.Errorf("ParseAddress(%q): got error %v, want none", in, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || a != (Address{}) {
			t.Errorf("ParseAddress(%q) = %q, %v, want no address, and an error with %q", in, a.Reveal(), err, want)
			continue
		}
		silent(t, in, err)
	}
}

// silent fails the test if err repeats a word of the address with five or more bytes.
func silent(t interface{ Errorf(string, ...any) }, address string, err error) {
	text := " " + strings.ToLower(err.Error()) + " "
	for _, part := range strings.FieldsFunc(strings.ToLower(address), func(r rune) bool { return strings.ContainsRune(" @.<>\"", r) }) {
		if len(part) > 4 && strings.Contains(text, " "+part+" ") {
			t.Errorf("the error for %q reveals %q: %v", address, part, err)
		}
	}
}

func TestPersonAndDomain(t *testing.T) {
	for in, want := range map[string][2]string{
		"Fox@Example.com":          {"fox@example.com", "example.com"},
		"fox+jury@example.com":     {"fox@example.com", "example.com"},
		"fox+a+b@example.com":      {"fox@example.com", "example.com"},
		"fox+@example.com":         {"fox@example.com", "example.com"},
		"+fox@example.com":         {"+fox@example.com", "example.com"}, // a name, not a tag
		"+fox+jury+a@example.com":  {"+fox@example.com", "example.com"},
		"f.o.x-y@mail.example.com": {"f.o.x-y@mail.example.com", "mail.example.com"},
		"fox@MÜNCHEN.de":           {"fox@xn--mnchen-3ya.de", "xn--mnchen-3ya.de"},
		"F.o.x+a.b@Gmail.com":      {"fox@gmail.com", "gmail.com"},
		"fo.x@GoogleMail.com":      {"fox@gmail.com", "googlemail.com"},
		"f.o.x@notgmail.com":       {"f.o.x@notgmail.com", "notgmail.com"},

		"f.o_x-y+a@protonmail.com":   {"foxy@proton.me", "protonmail.com"},
		"foxy@pm.me":                 {"foxy@proton.me", "pm.me"},
		"fox@protonmail.ch":          {"fox@proton.me", "protonmail.ch"},
		"_@proton.me":                {"_@proton.me", "proton.me"},
		"red-fox+a@yandex.com":       {"red.fox@yandex.ru", "yandex.com"},
		"red.fox@ya.ru":              {"red.fox@yandex.ru", "ya.ru"},
		"red_fox@yandex.kz":          {"red_fox@yandex.ru", "yandex.kz"},
		"fox@me.com":                 {"fox@icloud.com", "me.com"},
		"f.ox@mac.com":               {"f.ox@icloud.com", "mac.com"},
		"fox@daum.net":               {"fox@hanmail.net", "daum.net"},
		"fox-shop@yahoo.co.uk":       {"fox@yahoo.co.uk", "yahoo.co.uk"},
		"f.o.x@yahoo.com":            {"f.o.x@yahoo.com", "yahoo.com"},
		"f.o-x_y@outlook.com":        {"f.o-x_y@outlook.com", "outlook.com"},
		"f.o-x_y@yandex.example.com": {"f.o-x_y@yandex.example.com", "yandex.example.com"},
	} {
		a, err := ParseAddress(in)
		if err != nil || a.Person() != want[0] || a.Domain() != want[1] {
			t.Errorf("Person and Domain of %s = %q, %q, %v, want %q", in, a.Person(), a.Domain(), err, want)
		}
	}
	if none := (Address{}); none.Reveal() != "" || none.Domain() != "" {
		t.Errorf("Reveal and Domain of the zero address = %q, %q, want both empty", none.Reveal(), none.Domain())
	}
}

func TestRegistered(t *testing.T) {
	for in, want := range map[string]string{
		"fox@example.com":                     "example.com",
		"fox@a.b.example.com":                 "example.com",
		"fox@mail.example.co.uk":              "example.co.uk",
		"fox@a.mail.xn--mnchen-3ya.de":        "xn--mnchen-3ya.de",
		"fox@one.duckdns.org":                 "duckdns.org", // a public suffix, but not a registry's
		"fox@duckdns.org":                     "duckdns.org",
		"fox@a.one.two.compute.amazonaws.com": "amazonaws.com",
		"fox@den.example.test":                "example.test", // .test is not in the public suffix list
		"fox@co.uk":                           "co.uk",
		"fox@a.city.kawasaki.jp":              "city.kawasaki.jp", // an exception in the list
		"fox@a.b.ck":                          "a.b.ck",           // a wildcard in the list
	} {
		if a, err := ParseAddress(in); err != nil || a.Registered() != want {
			t.Errorf("Registered of %s = %q, %v, want %q", in, a.Registered(), err, want)
		}
	}
}

func TestAddressesCompare(t *testing.T) {
	parse := func(s string) Address {
		a, err := ParseAddress(s)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if parse("FOX@example.com") != parse("fox@example.com ") || parse("fox@example.com") == parse("dog@example.com") {
		t.Error("== of two addresses differs from == of their normalised forms")
	}
}

func TestAddressDoesNotLeak(t *testing.T) {
	a, err := ParseAddress("reynard@foxden.example")
	if err != nil {
		t.Fatal(err)
	}
	type inside struct {
		hidden  Address
		pointer *Address
		Shown   Address
		List    []Address
		Of      map[Address]Address
		mail    *Message
		Mail    Message
	}
	m := OriginCode(a, "https://social.example", "fox", "K7QM2XPD", 1)
	for _, v := range []any{a, &a, []Address{a}, map[Address]int{a: 1}, [1]any{a}, m, &m, fmt.Errorf("no: %v", a),
		inside{a, &a, a, []Address{a}, map[Address]Address{a: a}, &m, m}, &inside{hidden: a, mail: &m}} {
		var said []string
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t", "%c", "%U", "%b", "%20v", "%-9.3s", "%T", "%p", "%w"} {
			said = append(said, fmt.Sprintf(verb, v))
		}
		if b, err := json.Marshal([]any{a, &a, map[string]Address{"to": a}, map[Address]bool{a: true}}); err == nil {
			said = append(said, string(b))
		}
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Info("sent", "to", v)
		slog.New(slog.NewTextHandler(&log, nil)).Info("sent", "to", v, slog.Group("in", "to", v))
		said = append(said, log.String())
		for _, s := range said {
			if lower := strings.ToLower(s); strings.Contains(lower, "reynard") || strings.Contains(lower, "foxden") ||
				strings.Contains(lower, fmt.Sprintf("%x", "reynard")) {
				t.Errorf("%T shows the address: %s", v, s)
			}
		}
	}
	for what, s := range map[string]string{"String": a.String(), "GoString": a.GoString(), "%v": fmt.Sprint(a)} {
		if s != redacted {
			t.Errorf("%s = %q, want %q", what, s, redacted)
		}
	}
	if b, err := json.Marshal(a); err != nil || string(b) != `"[address]"` {
		t.Errorf("Marshal = %s, %v, want %q", b, err, redacted)
	}
	if b, err := a.MarshalText(); err != nil || string(b) != redacted {
		t.Errorf("MarshalText = %s, %v, want %s", b, err, redacted)
	}
}

func TestMessageDoesNotLeak(t *testing.T) {
	m := OriginCode(Address{}, "https://social.example", "fox", "K7QM2XPD", 1)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("sent", "mail", m, "again", &m)
	slog.New(slog.NewTextHandler(&log, nil)).Info("sent", "mail", m, "again", &m)
	if s := fmt.Sprintf("%v %+v %#v %s", m, &m, m, []Message{m}) + log.String(); strings.Contains(s, "K7QM") {
		t.Errorf("a message reveals its code: %s", s)
	}
}

// drawn generates addresses as people and attackers write them.
var drawn = rapid.OneOf(rapid.StringMatching(`[a-zA-Z][a-zA-Z0-9]{0,8}([.+_-][a-zA-Z0-9]{1,4})?@[a-zA-Z0-9]{1,8}\.[a-z]{2,3}`), rapid.Custom(func(t *rapid.T) string {
	label := rapid.OneOf(rapid.StringMatching(`[a-zA-Z0-9-]{1,8}`), rapid.StringN(1, 6, -1),
		rapid.SampledFrom([]string{"xn--mnchen-3ya", "MÜNCHEN", "straße", "ΣΊΣΥΦΟΣ", "例え", "إختبار", "xn--", "K", "com"}))
	domain := strings.Join(rapid.SliceOfN(label, 1, 4).Draw(t, "labels"), rapid.SampledFrom([]string{".", ".", ".", "。"}).Draw(t, "dot"))
	local := rapid.OneOf(rapid.StringMatching("[a-zA-Z0-9.+_'-]{1,12}"), rapid.StringN(0, 8, -1)).Draw(t, "local")
	return local + "@" + domain
}))

func TestParseAddress_Idempotent(t *testing.T) {
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		s := drawn.Draw(t, "address")
		if checkParsed(t, s) {
			taken++
		}
	})
	if taken == 0 {
		t.Error("none of the generated addresses was valid")
	}
}

func checkParsed(t interface{ Errorf(string, ...any) }, s string) bool {
	a, err := ParseAddress(s)
	if err != nil {
		return false
	}
	n := a.Reveal()
	if again, err := ParseAddress(n); err != nil || again != a {
		t.Errorf("%q normalises to %q, and that to %q, %v; want no change", s, n, again.Reveal(), err)
	}
	if upper, err := ParseAddress(strings.ToUpper(n)); err != nil || upper != a {
		t.Errorf("%q in upper case normalises to %q, %v; want %[1]q", n, upper.Reveal(), err)
	}
	local, domain, _ := strings.Cut(n, "@")
	if !ascii(n) || n != strings.ToLower(n) || len(n) > 254 || len(local) > 64 || local == "" || strings.ContainsAny(n, " \t\r\n\"<>(),:;[]\\\x00") ||
		!strings.Contains(domain, ".") || domain != a.Domain() {
		t.Errorf("%q normalises to the invalid %q", s, n)
	}
	person, of, _ := strings.Cut(a.Person(), "@")
	f := foldingAt(domain)
	if again := f.fold(person, of); again != a.Person() || person == "" || len(person) > len(local) || strings.LastIndexByte(person, '+') > 0 {
		t.Errorf("Person of %q = %q, want a form that fold keeps, with a local part of 1 to %d bytes and without a tag", n, a.Person(), len(local))
	}
	if len(f.domains) == 0 && (of != domain || !strings.HasPrefix(local, person)) {
		t.Errorf("Person of %q = %q, want a prefix of the local part, at %s", n, a.Person(), domain)
	}
	return true
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"fox@example.com", " Fox+Tag@MÜNCHEN.de", "a@xn--a-.com", "\u212a@b.c", "f@[::1]", "a.b@c。d", "\"q\"@x.y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkParsed(t, s) })
}
