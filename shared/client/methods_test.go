package client_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"agentsocial/functions"
	"agentsocial/shared/app"
	"agentsocial/shared/client"
	"agentsocial/shared/identity/auth"
)

// TestMethods checks every method that stands for one endpoint under /v1 against openapi.json.
// A new method needs no other test unless it does more than call an endpoint.
func TestMethods(t *testing.T) {
	doc := readDocument(t)
	key, err := client.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	sent := &recorder{routes: http.NewServeMux()}
	for _, g := range functions.Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			sent.routes.HandleFunc(e.Route, func(http.ResponseWriter, *http.Request) {})
		}
	}
	c := connect(t, "https://service.example", client.WithTransport(sent))
	n := 0
	for _, caller := range []any{c, c.As(key, "agt_1"), c.WithToken("ast_1")} {
		v := reflect.ValueOf(caller)
		for m := range v.NumMethod() {
			method, name := v.Method(m), v.Type().Elem().Name()+"."+v.Type().Method(m).Name
			if !mapsEndpoint(method.Type()) {
				continue
			}
			args, want := []reflect.Value{reflect.ValueOf(t.Context())}, []string{}
			for a := 1; a < method.Type().NumIn(); a++ {
				f := &filler{prefix: fmt.Sprintf("arg%d", a), number: int64(100 * a)}
				args = append(args, f.fill(method.Type().In(a)))
				if method.Type().In(a).Kind() != reflect.Pointer { // an object from the service: the request needs only a part of it
					want = append(want, f.leaves...)
				}
			}
			out := (&filler{prefix: "out", number: 900}).fill(method.Type().Out(0))
			if sent.answer, err = json.Marshal(out.Interface()); err != nil {
				t.Fatal(err)
			}
			invoke := method.Call
			if method.Type().IsVariadic() {
				invoke = method.CallSlice
			}
			results := invoke(args)
			if err := results[1].Interface(); err != nil {
				t.Errorf("%s = %v, want nil", name, err)
				continue
			}
			if got := encoded(t, results[0].Interface()); got != string(sent.answer) {
				t.Errorf("%s returned %s, want the answer %s", name, got, sent.answer)
			}
			if !strings.Contains(sent.route, " /v1/") {
				continue
			}
			n++
			called.Store(sent.route, true)
			for _, leaf := range want {
				if !strings.Contains(sent.request.URL.RequestURI()+string(sent.body), leaf) {
					t.Errorf("%s sends %s %s without its argument %s", name, sent.route, sent.body, leaf)
				}
			}
			for _, problem := range doc.compare(t, sent, method.Type().Out(0).Elem().Name()) {
				t.Errorf("%s: %s: %s", name, sent.route, problem)
			}
		}
	}
	if n < 60 {
		t.Errorf("got %d methods that stand for one endpoint, want at least 60", n)
	}
}

func mapsEndpoint(m reflect.Type) bool {
	if m.NumOut() != 2 || m.Out(0).Kind() != reflect.Pointer || !strings.HasSuffix(m.Out(0).Elem().PkgPath(), "shared/wire") {
		return false
	}
	return m.NumIn() > 0 && m.In(0) == reflect.TypeFor[context.Context]()
}

// recorder answers every request with status 200 and the body answer, and keeps the last
// request.
type recorder struct {
	routes  *http.ServeMux
	answer  []byte
	request *http.Request
	route   string
	body    []byte
}

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.request, r.body = req, nil
	_, r.route = r.routes.Handler(req)
	if req.Body != nil {
		var err error
		if r.body, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(r.answer)), Request: req}, nil
}

// filler makes values with recognizable leaves, and keeps the leaves as text.
type filler struct {
	prefix string
	number int64
	leaves []string
}

func (f *filler) fill(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	if t == reflect.TypeFor[ed25519.PrivateKey]() {
		key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
		f.leaves = append(f.leaves, client.PublicKey(key))
		return reflect.ValueOf(key)
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		v.SetBytes([]byte(`{}`))
		return v
	}
	f.number++
	switch t.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%s-%d", f.prefix, f.number))
		f.leaves = append(f.leaves, v.String())
	case reflect.Int, reflect.Int64:
		v.SetInt(f.number)
		f.leaves = append(f.leaves, fmt.Sprint(f.number))
	case reflect.Bool:
		v.SetBool(true)
		f.leaves = append(f.leaves, "true")
	case reflect.Pointer:
		v.Set(f.fill(t.Elem()).Addr())
	case reflect.Slice:
		v.Set(reflect.Append(v, f.fill(t.Elem())))
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(f.fill(t.Key()), f.fill(t.Elem()))
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && t.Field(i).Tag.Get("json") != "-" {
				v.Field(i).Set(f.fill(t.Field(i).Type))
			}
		}
	}
	return v
}

// document is a part of openapi.json.
type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]schema }
}

type operation struct {
	Parameters  []struct{ In, Name string }
	RequestBody struct {
		Content map[string]struct{ Schema schema }
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema schema }
	}
	Security []map[string][]string
}

type schema struct {
	Ref        string `json:"$ref"`
	Properties map[string]json.RawMessage
	Required   []string
}

func readDocument(t *testing.T) (d document) {
	t.Helper()
	b, err := os.ReadFile("../../functions/docs/openapi.json")
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d document) compare(t *testing.T, sent *recorder, result string) (problems []string) {
	t.Helper()
	differs := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	method, path, _ := strings.Cut(sent.route, " ")
	op, found := d.Paths[path][strings.ToLower(method)]
	if !found {
		return []string{"is not in openapi.json: run make golden"}
	}
	for name := range sent.request.URL.Query() {
		declared := slices.ContainsFunc(op.Parameters, func(p struct{ In, Name string }) bool { return p.In == "query" && p.Name == name })
		if !declared && name != "aud" { // any signed request may have an audience
			differs("the query has %s, which is not declared", name)
		}
	}
	body := op.RequestBody.Content["application/json"].Schema
	if body.Ref != "" {
		body = d.Components.Schemas[body.Ref[strings.LastIndexByte(body.Ref, '/')+1:]]
	}
	members := map[string]json.RawMessage{}
	if len(sent.body) > 0 {
		if err := json.Unmarshal(sent.body, &members); err != nil {
			differs("the body is not a JSON object: %v", err)
		}
	}
	for name := range members {
		if _, declared := body.Properties[name]; !declared {
			differs("the body has %s, which is not declared", name)
		}
	}
	for _, name := range body.Required {
		if _, has := members[name]; !has {
			differs("the body lacks %s", name)
		}
	}
	anonymous := slices.ContainsFunc(op.Security, func(s map[string][]string) bool { return len(s) == 0 })
	credential := sent.request.Header.Get(auth.HeaderSig) + sent.request.Header.Get("Authorization")
	if credential == "" && !anonymous {
		differs("the request lacks a credential")
	}
	for status, r := range op.Responses {
		for _, c := range r.Content {
			if ref := c.Schema.Ref; status < "300" && ref != "" && !strings.HasSuffix(ref, "/"+result) {
				differs("the method returns %s, the endpoint answers %s", result, ref)
			}
		}
	}
	return problems
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
