package oauth

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strings"

	"agentsocial/shared/api"
)

// standard returns a refusal in the format of RFC 6749 5.2, which RFC 7009 and RFC 7591
// use, too. Clients act on the error's name. A code that is no name in these standards
// gets the nearest name.
func standard(base string, e *api.Error) *api.Page {
	info, _ := api.Info(e.Code)
	name, status := string(e.Code), info.Status
	switch {
	case slices.Contains(ownNames, e.Code):
	case status == http.StatusUnauthorized:
		name = string(api.InvalidClient)
	case status == http.StatusInternalServerError:
		name = "server_error"
	case e.Code == api.Busy:
		name, status = "temporarily_unavailable", http.StatusServiceUnavailable
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		name = "temporarily_unavailable"
	case status == http.StatusUnprocessableEntity:
		name, status = string(api.InvalidRequest), http.StatusBadRequest
	default:
		name = string(api.InvalidRequest)
	}
	hint := e.Hint
	if hint == "" && e.Code != api.Invalid { // the hint of Invalid refers to fields, which this format lacks
		hint = info.Do
	}
	at := name
	if _, ok := api.Info(api.Code(name)); !ok { // a name of the standard that /docs/errors does not list
		at = string(e.Code)
	}
	body, err := json.Marshal(map[string]string{
		"error": name, "error_description": described(strings.TrimSpace(e.Message + " " + hint)), "error_uri": base + "/docs/errors#" + at,
	})
	if err != nil {
		panic(err) // only strings
	}
	return &api.Page{Status: status, ContentType: "application/json", Body: body}
}

// ownNames lists the codes that are also names of errors in OAuth's standards.
var ownNames = []api.Code{api.InvalidRequest, api.InvalidClient, api.InvalidGrant, api.InvalidScope, api.InvalidTarget, api.UnsupportedGrant, api.BadRedirect, api.BadMetadata}

// described replaces characters that an error_description must not have (RFC 6749
// 5.2).
func described(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '"', r == '\\':
			return '\''
		case r == '…':
			return '.'
		case r < ' ' || r > '~':
			return '?'
		}
		return r
	}, s)
}

// asAsked returns an [api.Refuse]. A request in JSON gets this service's envelope, and
// a form gets the standard's format.
func asAsked(base string) api.Refuse {
	return func(r *http.Request, e *api.Error) *api.Page {
		if isJSON(r.Header.Get("Content-Type")) {
			return nil
		}
		return standard(base, e)
	}
}

func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json"
}
