package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestEndpointsOfOtherStandards(t *testing.T) {
	type form struct {
		Resource string `query:"resource"`
		RawBody  []byte `contentType:"application/x-www-form-urlencoded"`
	}
	type text struct {
		RawBody []byte `contentType:"text/markdown"`
	}
	type said struct {
		Said string `json:"said"`
	}
	h := build(t, nil)
	h.Server = NewServer(h.app, Group{Name: "forms", Endpoints: []Endpoint{
		On(Endpoint{
			Route: "POST /token", Pure: true,
			Foreign: Foreign{
				LooseQuery: true, Media: []string{"application/x-www-form-urlencoded", "application/json"},
				Refuse: func(r *http.Request, e *Error) *Page {
					if r.Header.Get("Content-Type") == "application/json" {
						return nil
					}
					return &Page{ContentType: "application/json", Body: []byte(`{"error":"` + string(e.Code) + `"}`)}
				},
			},
		}, func(_ context.Context, in *form) (*said, error) {
			if len(in.RawBody) == 0 {
				return nil, Fail(BadJSON, "nothing")
			}
			return &said{string(in.RawBody) + " " + in.Resource}, nil
		}),
		OnPage(Endpoint{Route: "GET /away"}, func(context.Context, *struct{}) (*Page, error) {
			return &Page{Status: http.StatusFound, Location: "https://client.example/cb?code=1"}, nil
		}),
		On(Endpoint{Route: "PUT /memory", Pure: true, Body: 10, Foreign: Foreign{Media: []string{"text/markdown", "text/plain"}, Empty: true}}, func(_ context.Context, in *text) (*said, error) {
			return &said{string(in.RawBody)}, nil
		}),
		Serve(Endpoint{Route: "POST /rpc", Foreign: Foreign{Media: []string{"application/json"}}}, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusAccepted)
		}),
		Serve(Endpoint{Route: "DELETE /rpc", Auth: SigOrBearer("post")}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Agent", From(r.Context()).Agent.ID)
		}),
	}})
	send := func(method, target, ct, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", ct)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		method, target, ct, body string
		status                   int
		answer                   string
	}{
		{"POST", "/token?x=1&resource=a&resource=b", "application/x-www-form-urlencoded", "grant_type=refresh_token", 200, `{"said":"grant_type=refresh_token a"}`},
		{"POST", "/token", "application/json", `{"a":1}`, 200, `{"said":"{\"a\":1} "}`},
		{"POST", "/token", "application/x-www-form-urlencoded", "", 422, `{"error":"invalid"}`},
		{"POST", "/token", "text/html", "x", 415, `{"error":"unsupported_media_type"}`},
		{"PUT", "/memory", "text/markdown", "# I\n{", 200, `{"said":"# I\n{"}`},
		{"PUT", "/memory", "text/markdown", "12345678901", 413, ""},
		{"PUT", "/memory", "image/png", "x", 415, ""},
		{"PUT", "/memory", "text/plain; charset=UTF-8", "{", 200, `{"said":"{"}`},
		{"PUT", "/memory", "text/plain; charset=latin1", "x", 415, ""},
		{"PUT", "/memory", "", "x", 200, `{"said":"x"}`},
		{"PUT", "/memory", "application/x-www-form-urlencoded", "x", 200, `{"said":"x"}`},
		{"PUT", "/memory", "text/markdown", "", 200, `{"said":""}`},
		{"PUT", "/memory", "", "", 200, `{"said":""}`},
		{"POST", "/rpc", "application/json", "{", 202, ""},
	} {
		w := send(c.method, c.target, c.ct, c.body)
		if w.Code != c.status || c.answer != "" && strings.TrimSpace(w.Body.String()) != c.answer {
			t.Errorf("%s %s, type %q, body %q: got %d %s, want %d %s", c.method, c.target, c.ct, c.body, w.Code, w.Body, c.status, c.answer)
		}
	}
	// A body over the limit is not read to its end, with or without a Content-Length.
	for _, told := range []int64{11, 1 << 40, -1} {
		body := &endless{}
		r := httptest.NewRequest("PUT", "/memory", body)
		r.ContentLength = told
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusRequestEntityTooLarge || body.read > 4<<10 || told > 0 && body.read > 0 {
			t.Errorf("Content-Length %d: got status %d after %d bytes, want 413 after at most 4096, or 0 if the length is known", told, w.Code, body.read)
		}
	}
	if w := send("GET", "/away", "", ""); w.Code != http.StatusFound || w.Header().Get("Location") != "https://client.example/cb?code=1" {
		t.Errorf("GET /away: got %d %v, want 302 to the client", w.Code, w.Header())
	}
	if w, _ := h.answer(h.signed("DELETE", "/rpc", "")); w.Code != 200 || w.Header().Get("X-Agent") != h.agent {
		t.Errorf("DELETE /rpc: got %d %v, want 200 with X-Agent %s", w.Code, w.Header(), h.agent)
	}
	h.expect(httptest.NewRequest("DELETE", "/rpc", nil), 401, Unauthenticated)
}

type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	e.read += len(b)
	return len(b), nil
}

// A write that commits nothing leaves no record, so it could be carried out twice.
func TestAWriteMustCommit(t *testing.T) {
	type none struct{}
	h := build(t, nil)
	h.Server = NewServer(h.app, Group{Name: "careless", Endpoints: []Endpoint{
		OnWrite(Endpoint{Route: "POST /lost", Auth: SigOrBearer("post")},
			func(context.Context, *none) (*none, error) { return &none{}, nil },
			func(context.Context, *none, *none) (*none, error) { return &none{}, nil }),
	}})
	h.expect(h.signed("POST", "/lost", ""), 500, Internal)
	defer func() {
		if recover() == nil {
			t.Error("On accepted a POST that needs a credential and is not Pure, want a panic")
		}
	}()
	On(Endpoint{Route: "POST /x", Auth: Sig}, func(context.Context, *none) (*none, error) { return nil, nil })
}
