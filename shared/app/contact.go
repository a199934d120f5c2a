package app

import (
	"net/mail"
	"net/url"
	"strings"
)

// IsContact reports whether s may be [Settings.Contact]: a mail address, or an https://
// URL.
func IsContact(s string) bool {
	if strings.ContainsAny(s, " \t\r\n<>()[]`\"") {
		return false
	}
	if u, err := url.Parse(s); err == nil && u.Scheme != "" {
		return strings.HasPrefix(s, "https://") && u.Host != "" // Parse takes HTTPS://, too
	}
	a, err := mail.ParseAddress(s)
	return err == nil && a.Address == s
}

// ContactURL returns Contact as a URL; "" if there is none.
func (s Settings) ContactURL() string {
	if s.Contact == "" || strings.HasPrefix(s.Contact, "https://") {
		return s.Contact
	}
	return "mailto:" + s.Contact
}
