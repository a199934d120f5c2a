package transcripts

import (
	"encoding/json"
)

// JWT signs claims with the agent's key, as an assertion of RFC 7523.
func (a *Agent) JWT(claims map[string]any) string {
	part := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // cannot fail: claims are JSON values
		}
		return b64(b)
	}
	text := part(map[string]string{"alg": "EdDSA", "typ": "JWT", "kid": a.Pub()}) + "." + part(claims)
	return text + "." + a.Sign(text)
}
