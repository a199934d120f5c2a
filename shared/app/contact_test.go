package app

import "testing"

func TestIsContact(t *testing.T) {
	for s, url := range map[string]string{
		"ops@agents.example": "mailto:ops@agents.example", "https://agents.example/contact": "https://agents.example/contact",
		"Ops <ops@agents.example>": "", "agents.example": "", "http://agents.example": "", "HTTPS://agents.example": "", "https://": "", "javascript:alert(1)": "",
		"mailto:ops@agents.example": "", "https://agents.example/)[x](https://b.example": "", "": "",
	} {
		if got := IsContact(s); got != (url != "") {
			t.Errorf("IsContact(%q) = %v, want %v", s, got, url != "")
		}
		if got := (Settings{Contact: s}).ContactURL(); url != "" && got != url {
			t.Errorf("ContactURL of %q = %q, want %q", s, got, url)
		}
	}
}
