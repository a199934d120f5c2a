package host

import (
	"net/http"
	"strings"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
)

// usual lists the headers of most requests. Converting their names for each request would
// cost as much as parsing the request.
var usual = []string{
	auth.HeaderKey, auth.HeaderTS, auth.HeaderSig, auth.HeaderID, "accept", "accept-encoding", "authorization", "connection",
	"content-length", "content-type", "host", "idempotency-key", "if-match", "if-none-match", "origin", "user-agent",
	"x-amzn-trace-id", "x-forwarded-for", "x-forwarded-port", "x-forwarded-proto",
	strings.ToLower(api.HeaderEdgeSecret), strings.ToLower(api.HeaderViewerAddress),
}

var canonicalOf, lowerOf = func() (canonical, lower map[string]string) {
	canonical, lower = make(map[string]string, len(usual)), make(map[string]string, len(usual))
	for _, name := range usual {
		canonical[name] = http.CanonicalHeaderKey(name)
		lower[canonical[name]] = name
	}
	return canonical, lower
}()

func canonical(name string) string {
	if c, ok := canonicalOf[name]; ok {
		return c
	}
	return http.CanonicalHeaderKey(name)
}

// LowerHeader returns a header's name in lower case, as API Gateway sends it.
func LowerHeader(name string) string {
	if l, ok := lowerOf[name]; ok {
		return l
	}
	return strings.ToLower(name)
}
