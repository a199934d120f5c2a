package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// size is an integer or a string.
type size struct{}

func (size) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Description: "A size.", OneOf: []*huma.Schema{{Type: huma.TypeInteger}, {Type: huma.TypeString}}}
}

func TestOpenAPI_InputRules(t *testing.T) {
	type kind struct {
		Q    string `query:"q" maxLength:"5"`
		Sort string `query:"sort" enum:"a,b"`
		Body struct {
			Name string   `json:"name" pattern:"^[a-z]+$" patternDescription:"of a-z only"`
			Note string   `json:"note,omitempty"`
			Mood string   `json:"mood,omitempty" enum:"good,bad"`
			Size size     `json:"size,omitempty"`
			List []string `json:"list,omitempty" nullable:"false"`
		}
	}
	raw, err := OpenAPI(Group{Name: "fish", Endpoints: []Endpoint{
		On(Endpoint{Route: "POST /v1/fish", Name: "add_fish", Pure: true, Doc: "Fish."}, func(context.Context, *kind) (*struct{}, error) { return nil, nil }),
	}})
	if err != nil {
		t.Fatal(err)
	}
	var doc part
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	op := at(doc, "paths", "/v1/fish", "post")
	for _, p := range op["parameters"].([]any) {
		if p := p.(part); p["name"] == "q" && fmt.Sprint(at(p, "schema")["minLength"]) != "1" || p["name"] == "sort" && at(p, "schema")["minLength"] != nil {
			t.Errorf("query member = %v, want minLength 1 for q only", p)
		}
	}
	body := at(doc, "components", "schemas", "AddFish", "properties")
	if name := at(body, "name"); name["x-pattern-description"] != "of a-z only" || name["patternDescription"] != nil || name["type"] != "string" {
		t.Errorf("name = %v, want type string, and x-pattern-description in place of patternDescription", name)
	}
	for member, want := range map[string]string{"note": "[string null]", "mood": "[string null]", "list": "[array null]"} {
		if got := fmt.Sprint(at(body, member)["type"]); got != want {
			t.Errorf("type of %s = %s, want %s", member, got, want)
		}
	}
	if enum := at(body, "mood")["enum"].([]any); !slices.Equal(enum, []any{"good", "bad", nil}) {
		t.Errorf("enum of mood = %v, want good, bad, null", enum)
	}
	if size := at(body, "size"); size["anyOf"] == nil || size["description"] == nil {
		t.Errorf("size = %v, want anyOf and a description", size)
	}
	again, err := OpenAPI(Group{Name: "fish", Endpoints: []Endpoint{
		On(Endpoint{Route: "POST /v1/fish", Name: "add_fish", Pure: true, Doc: "Fish."}, func(context.Context, *kind) (*struct{}, error) { return nil, nil }),
		On(Endpoint{Route: "POST /v1/whales", Pure: true, Doc: "Whales."}, func(context.Context, *kind) (*struct{}, error) { return nil, nil }),
	}})
	if err := json.Unmarshal(again, &doc); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(at(doc, "components", "schemas", "AddFish", "properties", "note")["type"]); err != nil || got != "[string null]" {
		t.Errorf("with another endpoint: type of note = %s, %v; want [string null]", got, err)
	}
}
