package oauth

import (
	"slices"
	"strings"
	"testing"
)

func TestConsentPage_NamesClientAndWarns(t *testing.T) {
	const (
		named = "The program chose its own name."
		mixes = "The name mixes letters of several alphabets that look alike, and may imitate another name."
		site  = "Connect only if you have just started this yourself and know the site that you go back to."
		local = "Any program on this computer could have asked. Connect only if you started it."
	)
	for _, c := range []struct {
		a           asked
		asks, place string
		warnings    []string
	}{
		{asked{Redirect: "http://127.0.0.1:7/cb"}, "a program on this computer", "a program on this computer (127.0.0.1:7)", []string{local}},
		{asked{Redirect: "com.den:/cb", Name: "Den"}, "a program on this computer", "the program that opens com.den:// on this computer", []string{named, local}},
		{asked{Redirect: "https://den.example/cb", Name: "Лес"}, "den.example", "den.example", []string{named, site}},
		{asked{Redirect: "https://den.example/cb", Name: "Dеn", Host: "other.example"}, "other.example", "den.example", []string{named, mixes, site}},
		{asked{Redirect: "https://den.example/cb", Name: "Dеν 7"}, "den.example", "den.example", []string{named, mixes, site}},
		{asked{Redirect: "https://den.example/cb", Name: "森 7"}, "den.example", "den.example", []string{named, site}},
	} {
		if got := c.a.asks(); got != c.asks {
			t.Errorf("asks() of %+v: got %q, want %q", c.a, got, c.asks)
		}
		if got := placeOf(c.a.Redirect); got != c.place {
			t.Errorf("place of %s: got %q, want %q", c.a.Redirect, got, c.place)
		}
		if got := c.a.warnings(); !slices.Equal(got, c.warnings) {
			t.Errorf("%+v: got warnings\n%s\nwant\n%s", c.a, strings.Join(got, "\n"), strings.Join(c.warnings, "\n"))
		}
	}
	for base, want := range map[string]string{"https://social.example": "social.example", "social.example": "social.example"} {
		if got := hostOf(base); got != want {
			t.Errorf("hostOf(%q): got %q, want %q", base, got, want)
		}
	}
}
