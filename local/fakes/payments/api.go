package payments

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// problem is an error in the API's form (https://docs.stripe.com/api/errors).
type problem struct {
	status  int
	Type    string `json:"type"`
	Code    string `json:"code,omitempty"`
	Param   string `json:"param,omitempty"`
	Message string `json:"message"`
}

func (p *problem) Error() string { return p.Message }

func badRequest(code, param, format string, args ...any) *problem {
	return &problem{http.StatusBadRequest, "invalid_request_error", code, param, fmt.Sprintf(format, args...)}
}

// bodyMost bounds a call's body, in bytes.
const bodyMost = 1 << 20

// api declares the calls. Handlers are called with s.mu held.
func (s *StandIn) api() {
	call := func(route string, h func(*http.Request, url.Values) (any, *problem)) {
		s.mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Request-Id", "req_"+s.random())
			status, body, replayed := s.answer(r, h)
			if replayed {
				w.Header().Set("Idempotent-Replayed", "true")
			}
			w.WriteHeader(status)
			_, _ = w.Write(body) // the caller may be gone
		})
	}
	call("POST /v1/checkout/sessions", s.createSession)
	call("GET /v1/checkout/sessions", s.listSessions)
	call("POST /v1/checkout/sessions/{id}/expire", s.expireSession)
	call("GET /v1/refunds", s.listRefunds)
	call("/v1/", func(r *http.Request, _ url.Values) (any, *problem) {
		return nil, &problem{http.StatusNotFound, "invalid_request_error", "", "", fmt.Sprintf("Unrecognized request URL (%s: %s).", r.Method, r.URL.Path)}
	})
}

// answer makes a call after it has checked the API key and the idempotency key. As with
// Stripe, a call that is refused for its parameters is not stored under its idempotency key.
func (s *StandIn) answer(r *http.Request, h func(*http.Request, url.Values) (any, *problem)) (status int, body []byte, replayed bool) {
	refuse := func(p *problem) (int, []byte, bool) {
		b, err := json.Marshal(map[string]*problem{"error": p})
		if err != nil {
			panic(err)
		}
		return p.status, b, false
	}
	if p := s.authorize(r); p != nil {
		return refuse(p)
	}
	params, p := paramsOf(r)
	if p != nil {
		return refuse(p)
	}
	key := r.Header.Get("Idempotency-Key")
	if r.Method == http.MethodGet {
		key = "" // Stripe ignores the key of a GET
	}
	if len(key) > 255 {
		return refuse(badRequest("", "", "Idempotency keys must be 255 characters or fewer."))
	}
	made := r.URL.Path + "?" + params.Encode()
	s.mu.Lock()
	defer s.mu.Unlock()
	if key != "" {
		if before, ok := s.kept.Answers[key]; ok {
			if before.Call != made {
				return refuse(&problem{http.StatusBadRequest, "idempotency_error", "", "", fmt.Sprintf(
					"Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '%s' if you meant to execute a different request.", key)})
			}
			return before.Status, before.Body, true
		}
	}
	v, p := h(r, params)
	if p != nil {
		return refuse(p)
	}
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if key != "" {
		s.kept.Answers[key] = answer{made, http.StatusOK, body}
	}
	if err := s.save(); err != nil {
		return refuse(&problem{http.StatusInternalServerError, "api_error", "", "", err.Error()})
	}
	return http.StatusOK, body, false
}

func (s *StandIn) authorize(r *http.Request) *problem {
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case key == "" || scheme != "Bearer":
		return &problem{http.StatusUnauthorized, "invalid_request_error", "", "",
			"You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth."}
	case subtle.ConstantTimeCompare([]byte(key), []byte(s.kept.Key)) != 1:
		return &problem{http.StatusUnauthorized, "invalid_request_error", "", "", "Invalid API Key provided."}
	}
	return nil
}

// paramsOf returns a call's parameters. A parameter that occurs twice is an error.
func paramsOf(r *http.Request) (url.Values, *problem) {
	text := r.URL.RawQuery
	if r.Method == http.MethodPost {
		if r.URL.RawQuery != "" {
			return nil, badRequest("", "", "Send the parameters of a POST in its body.")
		}
		if ct := r.Header.Get("Content-Type"); ct != "application/x-www-form-urlencoded" {
			return nil, badRequest("", "", "Invalid request (check that your POST content type is application/x-www-form-urlencoded); it is %q.", ct)
		}
		b, err := io.ReadAll(io.LimitReader(r.Body, bodyMost))
		if err != nil {
			return nil, badRequest("", "", "The body ended early.")
		}
		text = string(b)
	}
	params, err := url.ParseQuery(text)
	if err != nil {
		return nil, badRequest("", "", "Invalid encoding of parameters.")
	}
	for name, values := range params {
		if len(values) > 1 {
			return nil, badRequest("", name, "The parameter %s occurs %d times.", name, len(values))
		}
	}
	return params, nil
}

// only returns an error for a parameter that is not in known. In known, [*] matches any key
// and [#] any number.
func only(params url.Values, known ...string) *problem {
	for _, name := range slices.Sorted(keysOf(params)) {
		if !slices.ContainsFunc(known, func(k string) bool { return fits(name, k) }) {
			return badRequest("parameter_unknown", name, "Received unknown parameter: %s", name)
		}
	}
	return nil
}

func keysOf(params url.Values) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range params {
			if !yield(name) {
				return
			}
		}
	}
}

// fits reports whether a parameter matches a form of [only].
func fits(name, form string) bool {
	n, f := strings.Split(name, "["), strings.Split(form, "[")
	if len(n) != len(f) {
		return false
	}
	for i := range n {
		inner, closed := strings.CutSuffix(n[i], "]")
		switch {
		case f[i] == n[i]:
		case f[i] == "*]" && closed && inner != "":
		case f[i] == "#]" && closed:
			if _, err := strconv.ParseUint(inner, 10, 16); err != nil {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func required(params url.Values, names ...string) *problem {
	for _, name := range names {
		if params.Get(name) == "" {
			return badRequest("parameter_missing", name, "Missing required param: %s.", name)
		}
	}
	return nil
}

func number(params url.Values, name string) (int64, *problem) {
	n, err := strconv.ParseInt(params.Get(name), 10, 64)
	if err != nil {
		return 0, badRequest("parameter_invalid_integer", name, "Invalid integer: %s", params.Get(name))
	}
	return n, nil
}

// metadata returns an object's metadata (https://docs.stripe.com/api/metadata).
func metadata(params url.Values, name string) (map[string]string, *problem) {
	m := map[string]string{}
	for p, v := range params {
		key, ok := strings.CutPrefix(p, name+"[")
		if !ok {
			continue
		}
		key = strings.TrimSuffix(key, "]")
		switch {
		case len([]rune(key)) > 40:
			return nil, badRequest("", p, "Metadata keys can be at most 40 characters.")
		case len([]rune(v[0])) > 500:
			return nil, badRequest("", p, "Metadata values can be at most 500 characters.")
		case v[0] != "":
			m[key] = v[0]
		}
	}
	if len(m) > 50 {
		return nil, badRequest("", name, "Metadata can have at most 50 keys.")
	}
	return m, nil
}
