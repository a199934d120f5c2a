package contract

import (
	"net/http"
	"strings"
	"testing"
)

const document = `{
  "components": {
    "headers": {"ETag": {}},
    "schemas": {"Next": {"type": "object", "properties": {"do": {"type": "string"}, "tool": {"type": "string"}}, "required": ["do"]}}
  },
  "paths": {
    "/v1/fish": {"post": {"responses": {
      "201": {"content": {"application/json": {"schema": {
        "type": "object", "additionalProperties": false, "required": ["id", "next"],
        "properties": {"id": {"type": "string"}, "next": {"type": "array", "items": {"$ref": "#/components/schemas/Next"}}}
      }}}},
      "409": {"description": "` + "`busy`, `limit_reached`" + `", "content": {"application/json": {"schema": {"type": "object"}}}}
    }}},
    "/v1/fish/{id}": {"get": {"responses": {
      "200": {"headers": {"ETag": {}}, "content": {"text/plain": {"schema": {"type": "string", "minLength": 1}}}},
      "304": {"headers": {"ETag": {}}}
    }}}
  }
}`

func TestCheck(t *testing.T) {
	c, err := parse([]byte(document), map[string]string{"GET /v1/fish/{id}": "fish"})
	if err != nil {
		t.Fatal(err)
	}
	const json, text = "application/json", "text/plain; charset=utf-8"
	for _, a := range []struct {
		request     string
		status      int
		contentType string
		body        string
		wrong       string // part of the error; "" for none
	}{
		{"POST /v1/fish", 201, json, `{"id":"a","next":[]}`, ""},
		{"POST /v1/fish", 201, json, `{"id":"a","next":[{"do":"GET /v1/fish/a?all=true","tool":"fish"}]}`, ""},
		{"POST /v1/fish", 200, json, `{"id":"a","next":[]}`, "status"},
		{"POST /v1/fish", 201, text, `{"id":"a","next":[]}`, "text/plain"},
		{"POST /v1/fish", 201, "", `{"id":"a","next":[]}`, "content type"},
		{"POST /v1/fish", 201, json, `{"id":"a","next":[],"more":1}`, "more"},
		{"POST /v1/fish", 201, json, `{"id":"a","next":null}`, "null"},
		{"POST /v1/fish", 201, json, `{"id":"a"}`, "next"},
		{"POST /v1/fish", 201, json, `{"id":`, "EOF"},
		{"POST /v1/fish", 201, json, `{"id":"a","next":[{"why":"do"}]}`, "do"},
		{"POST /v1/fish", 201, json, `{"id":"a","next":[{"do":"GET /v1/fish/a"}]}`, `is "fish", want ""`},
		{"POST /v1/fish", 201, json, `{"id":"a","next":[{"do":"POST /v1/fish","tool":"add_fish"}]}`, "add_fish"},
		{"POST /v1/fish", 201, json, `{"id":"a","next":[{"do":"GET /v1/birds"}]}`, "/v1/birds"},
		{"POST /v1/fish", 409, json, `{"error":{"code":"limit_reached"}}`, ""},
		{"POST /v1/fish", 409, json, `{"error":{"code":"handle_taken"}}`, "handle_taken"},
		{"POST /v1/fish", 404, json, `{"error":{"code":"no_such_endpoint"}}`, "status"},
		{"GET /v1/fish/a", 200, text, "a fish", ""},
		{"GET /v1/fish/%61", 200, text, "", "minLength"},
		{"GET /v1/fish/a", 304, "", "", ""},
		{"GET /v1/fish/a", 304, "", "a fish", "body"},
		{"GET /v1//fish/a", 404, json, `{}`, ""},
		{"HEAD /v1/fish/a", 405, "", "", ""},
		{"HEAD /v1/fish/a", 200, text, "", ""},
		{"HEAD /v1/fish/a", 200, text, "a fish", "body"},
		{"HEAD /v1/fish", 200, json, "", "not in the document"},
		{"GET /v1/birds", 404, json, `{}`, ""},
		{"GET /v1/birds", 200, json, `{}`, "not in the document"},
		{"OPTIONS /v1/fish", 204, "", "", ""},
		{"GET /_local/mail", 200, json, `[]`, ""},
	} {
		method, target, _ := strings.Cut(a.request, " ")
		err := c.Check(method, target, a.status, http.Header{"Content-Type": {a.contentType}}, []byte(a.body))
		switch {
		case a.wrong == "" && err != nil:
			t.Errorf("%s %d %s: got error %v, want none", a.request, a.status, a.body, err)
		case a.wrong != "" && (err == nil || !strings.Contains(err.Error(), a.wrong)):
			t.Errorf("%s %d %s: got error %v, want one with %q", a.request, a.status, a.body, err, a.wrong)
		}
	}

	tagged := http.Header{"Content-Type": {json}, "Etag": {`"1"`}}
	if err := c.Check("POST", "/v1/fish", 201, tagged, []byte(`{"id":"a","next":[]}`)); err == nil {
		t.Error("POST /v1/fish with an undeclared ETag: got no error, want one")
	}
}

func TestLoad(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for route, o := range c.operations {
		for status, a := range o.answers {
			if status >= "400" && len(a.codes) == 0 {
				t.Errorf("%s %s: got no error codes, want at least one", route, status)
			}
		}
	}
}
