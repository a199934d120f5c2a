package text

import "strings"

// nameWords are the words after which 32 bytes in hexadecimal or base64 are taken for a
// key.
var nameWords = []string{"seed", "secret", "private"}

// fillWords may stand between a word of nameWords and the bytes.
var fillWords = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`key keys seed secret private is was are value in as of my the its raw here this
		hex hexadecimal base64 base64url b64 b64url bytes b from fromhex buffer string str ed25519 x25519 agent 0x`) {
		words[w] = true
	}
	return words
}()

// named reports whether a word of nameWords begins at i and is followed by 32 bytes in
// hexadecimal or base64. Hashes pass, because the name of a hash may not stand in between.
// The seed of a jury's draw passes, too, because it is public.
func named(s string, i int) bool {
	rest := ""
	for _, w := range nameWords {
		if after, ok := cutFold(s[i:], w); ok {
			rest = after
		}
	}
	if rest == "" {
		return false
	}
	const window = 60
	for seen := 0; seen < window && rest != ""; {
		n := run(rest, "+/-_", 128)
		if n == 0 {
			if strings.IndexByte(" \t\r\n:=\"'`()[]{}<>,.\\*|#$", rest[0]) < 0 {
				return false
			}
			rest, seen = rest[1:], seen+1
			continue
		}
		if is32Bytes(rest[:n]) {
			return !published(rest[:n]) && !ofDraw(s, i)
		}
		for part := range strings.FieldsFuncSeq(rest[:n], func(r rune) bool { return strings.ContainsRune("+/-_", r) }) {
			if !fillWords[strings.ToLower(part)] {
				return false
			}
		}
		rest, seen = rest[n:], seen+n
	}
	return false
}

// is32Bytes reports whether s is 32 random bytes in hexadecimal, or in base64 without
// padding.
func is32Bytes(s string) bool {
	hex := strings.TrimPrefix(s, "0x")
	switch {
	case len(hex) == 64:
		return strings.Trim(hex, "0123456789abcdefABCDEF") == "" && random(hex)
	case len(s) == 43:
		return mixed(s)
	}
	return false
}

// mixed reports whether s looks random and has lower case, upper case and digits, as long
// base64 has.
func mixed(s string) bool {
	return generated(s) && strings.ContainsAny(s, "0123456789") &&
		strings.ToLower(s) != s && strings.ToUpper(s) != s
}

// ofDraw reports whether the words around i are about a jury's draw.
func ofDraw(s string, i int) bool {
	after, _, _ := strings.Cut(s[i:min(len(s), i+200)], "\n\n")
	around := strings.ToLower(s[max(0, i-60):i] + after)
	return strings.Contains(around, "draw") || strings.Contains(around, "commitment") || strings.Contains(around, "jury")
}

// privateMember reports whether the d at i is the name of the private member of a JSON
// Web Key (RFC 7518 section 6, RFC 8037) whose value looks random.
func privateMember(s string, i int) bool {
	const near = 2048
	if i == 0 || s[i-1] != '"' && s[i-1] != '\'' {
		return false
	}
	rest := strings.TrimPrefix(s[i+1:min(len(s), i+near)], `\`)
	if rest == "" || rest[0] != s[i-1] {
		return false
	}
	value := strings.TrimLeft(rest[1:], " \t\r\n:\\\"'")
	value = value[:run(value, "-_", len(value))]
	if len(value) < 42 || !mixed(value) || published(value) {
		return false
	}
	around := s[max(0, i-near):min(len(s), i+near)]
	return strings.Contains(around, "kty") || strings.Contains(around, "crv")
}

// colon looks for a credential whose middle is the colon at i.
func colon(s string, i int) (kind string, found bool) {
	switch rest := s[i+1:]; {
	case strings.HasPrefix(rest, "//"):
		password := passwordIn(rest[2:])
		if password == "" || i == 0 || !alnum(s[i-1]) {
			return "", false
		}
		if kind, found := starting(password); found {
			return kind, true
		}
		return "a password in a URL", true
	case strings.HasPrefix(rest, "AA"):
		return "a Telegram bot token", telegram(s, i)
	}
	return "", false
}

// telegram matches a bot's id of 8 to 10 digits, a colon, and 35 characters.
func telegram(s string, at int) bool {
	digits := len(s[:at]) - len(strings.TrimRight(s[:at], "0123456789"))
	key := s[at+1:]
	return digits >= 8 && digits <= 10 && has(key, "-_", 35) && generated(key[:35])
}

// placeholders are passwords that manuals use as examples.
const placeholders = " pass password passwd pwd passw0rd p4ssw0rd p@ssword p@ssw0rd secret mysecretpassword changeme example token user username yourpassword your_password your-password admin root postgres guest test foobar foobared "

// passwordIn returns the password of an authority (RFC 3986 section 3.2). It returns ""
// for a reserved host, and for a harmless password such as a placeholder.
func passwordIn(s string) string {
	const most = 300
	s = s[:min(len(s), most)]
	if end := strings.IndexAny(s, "/?# \t\r\n\"'`<>\\|{}[]()$"); end >= 0 {
		s = s[:end]
	}
	at := strings.LastIndexByte(s, '@')
	if at == -1 {
		return ""
	}
	user, password, _ := strings.Cut(s[:at], ":")
	host, _, _ := strings.Cut(strings.ToLower(s[at+1:]), ":")
	if len(password) < 6 || password == user || distinct(password) < 4 || host == "" || reserved(host) ||
		strings.Contains(placeholders, " "+strings.ToLower(strings.TrimRight(password, "0123456789!"))+" ") ||
		strings.Contains(placeholders, " "+strings.ToLower(password)+" ") {
		return ""
	}
	words := strings.Trim(password, "abcdefghijklmnopqrstuvwxyz-_") == "" || strings.Trim(password, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
	if words {
		return ""
	}
	return password
}

// reserved reports whether a host is this machine, or a name for examples (RFC 2606).
func reserved(host string) bool {
	if host == "localhost" || host == "host" || strings.HasPrefix(host, "127.") {
		return true
	}
	for _, name := range []string{"example", "example.com", "example.org", "example.net", "test", "invalid"} {
		if host == name || strings.HasSuffix(host, "."+name) {
			return true
		}
	}
	return false
}
