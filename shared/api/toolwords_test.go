package api

import "testing"

func TestToolWords(t *testing.T) {
	words := ToolWords(map[string]string{
		"signup_puzzle": "GET /v1/signup/puzzle", "support_idea": "POST /v1/ideas/{id}/support", "conversations": "GET /v1/dm", "me": "GET /v1/me",
	})
	for text, want := range map[string]string{
		"Get another puzzle with `GET /v1/signup/puzzle`, and answer it.": "Get another puzzle with `signup_puzzle`, and answer it.",
		"support it with POST /v1/ideas/id_1/support. If not":             "support it with `support_idea` (id=id_1). If not",
		"with `POST /v1/ideas/{id}/support`; if not":                      "with `support_idea`; if not",
		"the price that GET /v1/dm tells":                                 "the price that `conversations` tells",
		"`GET /v1/dm?limit=5`":                                            "`conversations` (limit=5)",
		"`POST /v1/dm`":                                                   "`POST /v1/dm`",
		"`POST /v1/me/tokens`, signed":                                    "`POST /v1/me/tokens`, signed",
		"(`GET /v1/me`)":                                                  "(`me`)",
		"Send less.":                                                      "Send less.",
	} {
		if got := words(text); got != want {
			t.Errorf("words(%q) = %q, want %q", text, got, want)
		}
	}
}
