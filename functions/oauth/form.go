package oauth

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"agentsocial/shared/api"
)

// params holds the parameters of a request to the token or revocation endpoint. A
// parameter without a value counts as left out (RFC 6749 3.2).
type params map[string]string

// media lists the content types of a request: a form, as in the standards, or a JSON
// object.
var media = []string{"application/x-www-form-urlencoded", "application/json"}

// readParams reads JSON or a form, as the first character of the body says. request is a
// struct with the known members. Unknown members of a form are ignored (RFC 6749 3.2).
func readParams(body []byte, request any) (params, error) {
	known := membersOf(request)
	if b := bytes.TrimSpace(body); len(b) > 0 && strings.ContainsRune(`{["`, rune(b[0])) {
		return readObject(b, known)
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, api.Fail(api.InvalidRequest, "The body is not a form: a name or a value cannot be decoded, or pairs are separated by ; instead of &.")
	}
	a := params{}
	for _, name := range known {
		switch v := values[name]; {
		case name == "resource": // the only parameter that may be repeated (RFC 8707 2)
			a[name] = strings.Join(v, " ") // a URI has no spaces
		case len(v) > 1:
			return nil, api.Fail(api.InvalidRequest, "%s was sent %d times; send it once.", name, len(v))
		case len(v) == 1 && v[0] != "":
			a[name] = v[0]
		}
	}
	return a, nil
}

func membersOf(request any) (names []string) {
	t := reflect.TypeOf(request)
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func readObject(body []byte, known []string) (params, error) {
	var e *api.Error
	if err := api.CheckJSON(body); errors.As(err, &e) {
		return nil, api.Fail(api.InvalidRequest, "%s", e.Message)
	} else if err != nil {
		return nil, err
	}
	var members map[string]any
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, api.Fail(api.InvalidRequest, "The body is JSON, but not an object.")
	}
	a := params{}
	for name, v := range members {
		s, ok := v.(string)
		switch {
		case !slices.Contains(known, name):
			return nil, api.Fail(api.InvalidRequest, "The body has an unknown member %q. The known ones are %s.", clip(name), strings.Join(known, ", "))
		case !ok && v != nil:
			return nil, api.Fail(api.InvalidRequest, "%s must be a string.", name)
		case s != "":
			a[name] = s
		}
	}
	return a, nil
}

func (a params) need(names ...string) error {
	var missing []string
	for _, name := range names {
		if a[name] == "" {
			missing = append(missing, name)
		}
	}
	if missing == nil {
		return nil
	}
	return api.Fail(api.InvalidRequest, "Missing: %s.", strings.Join(missing, ", "))
}
