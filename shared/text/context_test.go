package text

import (
	"strings"
	"testing"
)

// seed is 32 bytes in hexadecimal, and key is 32 bytes in base64url.
const (
	seed = hex32 + hex32
	key  = "Qm7xT2kVb9Zr4WnLc8DsJh5pYf3Gt6Ea1RuMvK0oXi9"
)

func TestSecretsNextToWords(t *testing.T) {
	spaces := func(n int) string { return strings.Repeat(" ", n) }
	dots := func(n int) string { return strings.Repeat(". ", n/2) + strings.Repeat(".", n%2) }
	member := `"d":"` + key + `"`
	d := func(value string) string { return `{"kty":"OKP","d":"` + value + `"}` }
	telegram := func(id string) string { return id + ":AA" + random36[:33] }
	url := func(password string) string { return "https://me:" + password + "@host.io" }
	aws := func(between string) string { return "secret_access_key" + between + aws40 }
	pem := func(between, value string) string { return "-----BEGIN PRIVATE KEY-----" + between + value }
	jwt := func(payload, signature int) string {
		return header + "." + strings.Repeat("eyJzdWIi", 1100)[:payload] + "." + random64[:signature]
	}
	for name, c := range map[string]struct {
		s    string
		want string
	}{
		"seed":                                   {"seed " + seed, "a private key or secret"},
		"seed after 59 characters":               {"seed" + spaces(59) + seed, "a private key or secret"},
		"seed after 60 characters":               {"seed" + spaces(60) + seed, ""},
		"seed after other words":                 {"seed of a fox " + seed, ""},
		"seed after an accent":                   {"seed é " + seed, ""},
		"seed after its name":                    {"the Private Key is 0x" + seed, "a private key or secret"},
		"seed, the name alone":                   {"a seed", ""},
		"seed, jury within 200 characters":       {"seed " + seed + dots(200-5-64-4) + "jury", ""},
		"seed, jury farther on":                  {"seed " + seed + dots(200-5-64-3) + "jury", "a private key or secret"},
		"seed, draw within 60 characters before": {"draw" + spaces(56) + "seed " + seed, ""},
		"seed, draw farther before":              {"draw" + spaces(57) + "seed " + seed, "a private key or secret"},

		"member of a key":                                {d(key), "a private key"},
		"member of 42 characters":                        {d(key[:42]), "a private key"},
		"member of 41 characters":                        {d(key[:41]), ""},
		"member of lower case":                           {d(strings.ToLower(key)), ""},
		"member, kty right before":                       {`kty` + member, "a private key"},
		"member, kty 2048 before":                        {"kty" + spaces(2048-4) + member, "a private key"},
		"member, kty farther before":                     {"kty" + spaces(2048-3) + member, ""},
		"member, crv 2048 on":                            {member + spaces(2048-2-len(member)) + "crv", "a private key"},
		"member, crv farther on":                         {member + spaces(2048-1-len(member)) + "crv", ""},
		"member, 42 characters of its value within 2048": {`kty "d"` + spaces(2048-3-42) + `"` + key + `"`, "a private key"},
		"member, 41 characters of its value within 2048": {`kty "d"` + spaces(2048-3-41) + `"` + key + `"`, ""},
		"member name without quotation marks":            {"kty d:" + key, ""},
		"member name in two kinds of quotation marks":    {`kty "d':"` + key + `"`, ""},
		"password":                                              {url(random20), "a password in a URL"},
		"password, scheme of one letter":                        {"a://me:" + random20 + "@host.io", "a password in a URL"},
		"password, no scheme":                                   {"://me:" + random20 + "@host.io", ""},
		"password, no scheme but a space":                       {"a ://me:" + random20 + "@host.io", ""},
		"password of 6 characters":                              {url("aB3x5f"), "a password in a URL"},
		"password of 5 characters":                              {url("aB3x5"), ""},
		"password of 4 different characters":                    {url("aB3x3x3x"), "a password in a URL"},
		"password of 3 different characters":                    {url("aB3B3B3B"), ""},
		"password, no host":                                     {"https://me:" + random20 + "@", ""},
		"password, host after 300":                              {url(random20 + strings.Repeat("x1", 138)), ""},
		"password, host until 300":                              {"https://me:" + random20 + strings.Repeat("x", 300-3-20-8) + "@host.io", "a password in a URL"},
		"password, @ after 300":                                 {"https://me:" + random20 + strings.Repeat("x", 300-3-20) + "@host.io", ""},
		"no user and no password":                               {"https://@host.io", ""},
		"Telegram, id of 8":                                     {telegram("12345678"), "a Telegram bot token"},
		"Telegram, id of 10":                                    {telegram("1234567890"), "a Telegram bot token"},
		"Telegram, id of 7":                                     {telegram("1234567"), ""},
		"Telegram, id of 11":                                    {telegram("12345678901"), ""},
		"Telegram, id in a word":                                {telegram("x1234567"), ""},
		"Telegram, key of 34":                                   {"12345678:AA" + random36[:32], ""},
		"Telegram, key of 36":                                   {"12345678:AA" + random36[:34], ""},
		"AWS secret after 23 characters":                        {aws(spaces(23)), "an AWS secret access key"},
		"AWS secret after 24 characters":                        {aws(spaces(24)), ""},
		"AWS secret of 41 characters":                           {aws("=") + "a", ""},
		"AWS secret, name alone":                                {"secret_access_key", ""},
		"AWS id":                                                {"AKIA" + "2E7QXJ5LMNWR4TPZ", "an AWS access key id"},
		"AWS id with a 1":                                       {"AKIA" + "1E7QXJ5LMNWR4TPZ", ""},
		"AWS id of 6 different characters":                      {"AKIA" + "2345672345672345", "an AWS access key id"},
		"AWS id of 6 different characters, the first only once": {"AKIA" + "Z234562345623456", "an AWS access key id"},
		"AWS id of 5 different characters":                      {"AKIA" + "2345623456234562", ""},
		"AWS id of 21 characters":                               {"AKIA" + "2E7QXJ5LMNWR4TPZA", ""},
		"PEM":                                                   {pem("\n", random64[:40]), "a private key"},
		"PEM with 39 characters":                                {pem("\n", random64[:39]), ""},
		"PEM that ends at 600":                                  {pem(strings.Repeat("\n", 600-27-40), random64[:40]), "a private key"},
		"PEM that ends after 600":                               {pem(strings.Repeat("\n", 600-27-39), random64[:40]), ""},
		"token, shortest parts":                                 {jwt(8, 32), "a JSON Web Token"},
		"token, short payload":                                  {jwt(7, 32), ""},
		"token, short signature":                                {jwt(8, 31), ""},
		"token, longest payload":                                {jwt(8192, 32), "a JSON Web Token"},
		"token, longer payload":                                 {jwt(8193, 32), ""},
		"token after a full stop":                               {"." + jwt(8, 32), "a JSON Web Token"},
		"token after a hyphen":                                  {"x-" + jwt(8, 32), ""},
		"link code after an underscore":                         {"_lc_twqnekcrjmpkhsskcpvw", "a link code of this service"},
		"link code of 8 different characters":                   {"lc_abcdefgh" + "aaaabbbbcccc", "a link code of this service"},
		"link code of 7 different characters":                   {"lc_abcdefga" + "aaaabbbbcccc", ""},
		"GitHub token after an escape":                          {`\nghp_` + random36, "a GitHub token"},
		"access token, as Markdown":                             {`ast\_` + random64 + random36, "an access token of this service"},
		"refresh token, as Markdown":                            {`asr\_` + random64, "a refresh token of this service"},
		"access token with three digits":                        {"ast_" + strings.Repeat("abcdefgHIJ", 8)[3:] + "123", "an access token of this service"},
		"access token with two digits":                          {"ast_" + strings.Repeat("abcdefgHIJ", 8)[2:] + "12", ""},
		"Ed25519 key without a digit":                           {"MC4CAQAwBQYDK2Vw" + strings.Repeat("abcdefgHIJ", 4), "a private key"},
		"private key on three lines":                            {"MHcCAQEEI" + random36[:25] + "\n" + random64[:34] + "\n" + random64[10:51], "a private key"},
		"token of a manual, in lower case":                      {"ast_" + strings.ToLower(random64+random36), ""},
	} {
		kind, found := Secrets(c.s)
		if kind != c.want || found != (c.want != "") {
			t.Errorf("Secrets of %s: got %q, found %t; want %q", name, kind, found, c.want)
		}
	}
}

func TestGather(t *testing.T) {
	piece := random20
	for name, c := range map[string]struct{ s, want string }{
		"one piece":                         {piece + " x", piece},
		"three pieces":                      {piece + "\n" + piece + "\n" + piece, piece + piece + piece},
		"four pieces":                       {piece + "\n" + piece + "\n" + piece + "\n" + piece, piece + piece + piece},
		"a short piece before a line break": {piece[1:] + "\n" + piece, piece[1:]},
		"quoted":                            {piece + "\"\n> + \"" + piece, piece + piece},
		"escaped":                           {piece + `\n` + piece, piece + piece},
		"indented to 20 characters":         {piece + "\n" + strings.Repeat(" ", 19) + piece, piece + piece},
		"indented further":                  {piece + "\n" + strings.Repeat(" ", 20) + piece, piece},
		"an empty line":                     {piece + "\n\n" + piece, piece},
		"no line break":                     {piece + " " + piece, piece},
		"no more than asked for":            {piece + "\n" + random64, piece + random64[:30]},
		"a piece that is a name":            {strings.ToLower(piece+piece) + "\n" + piece, strings.ToLower(piece + piece)},
	} {
		if got := gather(c.s, "", map[bool]int{true: 50, false: 400}[name == "no more than asked for"]); got != c.want {
			t.Errorf("gather of %s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestName(t *testing.T) {
	for _, c := range []struct {
		of   string
		n    int
		want bool
	}{
		{"abcdefgh1", 39, false}, {"abcdefgh1", 40, true}, {"ABCDEFGH1", 39, false}, {"ABCDEFGH1", 40, true},
		{"abcdEFGHi", 59, false}, {"abcdEFGHi", 60, true}, {"abcdEFGH1", 60, false},
	} {
		if got := name(strings.Repeat(c.of, 7)[:c.n]); got != c.want {
			t.Errorf("name of %d characters of %s: got %t, want %t", c.n, c.of, got, c.want)
		}
	}
}

func TestRandom(t *testing.T) {
	for s, want := range map[string]bool{
		"abcdefghijklmno1": true, "abcdefghijklmn1": false, "abcdefg1abcdefg1": true, "abcdef1aabcdef1a": false,
		"abcdefghijklmnop": false, "ABCDEFGHIJKLMNOP": false, "0123456789012345": false,
		"ABCDEFGHIJKLMNO1": true, "ABCDEFGHIJKLMNOp": true, "": false,
	} {
		if got := random(s); got != want {
			t.Errorf("random(%q) = %t, want %t", s, got, want)
		}
	}
	for s, want := range map[string]bool{"xxxxxxx": false, "xxxxxxxx": true, "axxxxxxx": false, "axxxxxxxx": true, "axxxxxxxxb": true, "": false} {
		if got := masked(s); got != want {
			t.Errorf("masked(%q) = %t, want %t", s, got, want)
		}
	}
	if got := longest("ab_cdef-ghij"); got != "cdef" {
		t.Errorf("longest part of ab_cdef-ghij: got %q, want cdef", got)
	}
	if got := longest("a`b_c"); got != "a`b" {
		t.Errorf("longest part of a`b_c: got %q, want a`b", got)
	}
}

func TestAlnum(t *testing.T) {
	const lowers, uppers, numbers = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"
	for i := range 256 {
		c := byte(i)
		is := func(of string) bool { return strings.IndexByte(of, c) >= 0 }
		if isLower(c) != is(lowers) || isUpper(c) != is(uppers) || isDigit(c) != is(numbers) || alnum(c) != is(lowers+uppers+numbers) {
			t.Errorf("%q: got lower %t, upper %t, digit %t, alnum %t; want %t, %t, %t, %t", c, isLower(c), isUpper(c), isDigit(c), alnum(c), is(lowers), is(uppers), is(numbers), is(lowers+uppers+numbers))
		}
		if want := strings.ToLower(string(rune(c))); c < 0x80 && string(rune(lower(c))) != want {
			t.Errorf("%q in lower case: got %q, want %q", c, lower(c), want)
		}
	}
	for s, want := range map[string]string{"SEcret": "cret", "se": "", "s": "no", "": "no", "ase": "no"} {
		after, ok := cutFold(s, "se")
		if !ok {
			after = "no"
		}
		if after != want {
			t.Errorf("%q without se: got %q, want %q", s, after, want)
		}
	}
}
