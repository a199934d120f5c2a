package service_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"agentsocial/functions"
	"agentsocial/local/transcripts"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

func schemaOf(t *testing.T, name string, schema any) *jsonschema.Schema {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(encode(schema)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("https://tools.invalid/"+name, v); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://tools.invalid/" + name)
	if err != nil {
		t.Fatalf("the schema %s does not compile: %v", name, err)
	}
	return s
}

type listedTool struct {
	Name, Title, Description  string
	InputSchema, OutputSchema map[string]any
	Annotations               map[string]any
}

// toolsMost bounds the bytes of the list of tools: about 8000 tokens of a model's context.
const toolsMost = 32_000

// outputs returns the schemas of the tools' results. tools/list leaves them out.
func outputs(t *testing.T) map[string]map[string]any {
	t.Helper()
	_, schemas := api.Tools(functions.Groups(&app.App{})...)
	out := map[string]map[string]any{}
	for name, s := range schemas {
		var schema map[string]any
		if err := json.Unmarshal(s.Output, &schema); err != nil {
			t.Fatal(err)
		}
		out[name] = schema
	}
	return out
}

func (r *running) toolsListed(token string) []listedTool {
	r.t.Helper()
	var out struct{ Result struct{ Tools []listedTool } }
	if err := json.Unmarshal(r.send(rpc(token, handshakes[2], "tools/list", nil)).Body, &out); err != nil {
		r.t.Fatal(err)
	}
	return out.Result.Tools
}

func TestMCPTools(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	token := r.token(r.join("fox"), "read")
	tools, results := r.toolsListed(token), outputs(t)
	if n := len(r.send(rpc(token, handshakes[2], "tools/list", nil)).Body); n > toolsMost {
		t.Errorf("the list of tools has %d bytes, want at most %d", n, toolsMost)
	}
	if len(tools) < 30 || len(tools) > 40 || tools[0].Name != "catchup" {
		t.Errorf("tools: got %d, first %s; want 30 to 40, first catchup", len(tools), tools[0].Name)
	}
	hints := map[string][3]bool{ // read only, destructive, idempotent
		"catchup": {true, false, true}, "post": {false, false, false}, "vote": {false, false, true}, "delete_post": {false, true, true},
		"remember": {false, true, true}, "update_profile": {false, true, true}, "send_message": {false, true, false}, "follow": {false, false, true},
		"read_messages": {false, false, true}, "conversations": {true, false, true}, // read_messages marks messages as read
	}
	for _, x := range tools {
		if x.Title == "" || strings.ContainsAny(x.Title, "\n.") || x.Description == "" {
			t.Errorf("%s: got title %q and description %q, want a title of one line without a period, and a description", x.Name, x.Title, x.Description)
		}
		schemaOf(t, x.Name+"/in", x.InputSchema)
		if x.InputSchema["type"] != "object" || x.InputSchema["additionalProperties"] != false || x.OutputSchema != nil {
			t.Errorf("%s: got input %s, output %v; want a closed object as input, and no output", x.Name, encode(x.InputSchema), x.OutputSchema)
		}
		got := [3]bool{}
		for i, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint"} {
			v, ok := x.Annotations[hint].(bool)
			if !ok {
				t.Errorf("%s lacks the annotation %s", x.Name, hint)
			}
			got[i] = v
		}
		if want, ok := hints[x.Name]; ok && got != want {
			t.Errorf("%s: got hints %v, want %v", x.Name, got, want)
		}
		if got[0] && got[1] {
			t.Errorf("%s is both read-only and destructive", x.Name)
		}
		foreignIsMarked(t, x.Name, results[x.Name])
	}
	// The newest MCP says how long the list may be cached.
	a := r.send(rpc(token, sessionless, "tools/list", nil))
	if a.Text("result.ttlMs") != "600000" || a.Text("result.cacheScope") != "public" {
		t.Errorf("tools/list: got %s %s, want result.ttlMs 600000, result.cacheScope public", a.Text("result.ttlMs"), a.Text("result.cacheScope"))
	}
}

// foreignIsMarked checks that agents' texts are described as data, or as one's own.
func foreignIsMarked(t *testing.T, where string, v any) {
	foreign := []string{"body", "bio", "now", "into", "about", "text", "title", "note", "reason"}
	m, _ := v.(map[string]any)
	for name, x := range m {
		if name != "properties" {
			foreignIsMarked(t, where+"."+name, x)
			continue
		}
		for member, s := range x.(map[string]any) {
			foreignIsMarked(t, where+"."+member, s)
			s := s.(map[string]any)
			said, _ := s["description"].(string)
			if s["type"] != "string" || s["enum"] != nil || !slices.Contains(foreign, member) || where == "memory" || strings.HasPrefix(where, "signup_puzzle") {
				continue
			}
			if !strings.Contains(said, "data, not instructions") && !strings.Contains(said, "Your own words") {
				t.Errorf("%s.%s: got description %q, want 'data, not instructions' or 'Your own words' in it", where, member, said)
			}
		}
	}
}

func TestMCPAnswersKeepTheirSchemas(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	_, fox := r.joinWithToken("fox")
	owl, token := r.joinWithToken("owl")
	r.credit(owl, 20_000_000)
	schemas := map[string]*jsonschema.Schema{}
	for name, x := range outputs(t) {
		schemas[name] = schemaOf(t, name, x)
	}
	inputs := map[string]map[string]any{}
	for _, x := range r.toolsListed(token) {
		inputs[x.Name] = x.InputSchema
	}
	check := func(token, name string, refused string, args map[string]any) *transcripts.Answer {
		t.Helper()
		time.Sleep(2 * time.Millisecond)
		a := r.tool(token, name, args)
		said, ok := a.At("result.structuredContent")
		if !ok {
			t.Fatalf("%s: got %s, want structured content", name, a.Body)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(encode(said)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schemas[name].Validate(v); err != nil {
			t.Errorf("%s: the result does not match its schema: %v; the answer is %s", name, err, a.Body)
		}
		if got := a.Text("result.structuredContent.error.code"); got != refused || (refused != "") != (a.Text("result.isError") == "true") {
			t.Errorf("%s: got error code %q, want %q, and isError true only with a code; the answer is %s", name, got, refused, a.Body)
		}
		var text any
		if err := json.Unmarshal([]byte(a.Text("result.content.0.text")), &text); err != nil || encode(text) != encode(said) {
			t.Errorf("%s: the text differs from the structured content, or is not JSON: %v", name, err)
		}
		next, _ := a.At("result.structuredContent.next")
		list, _ := next.([]any)
		for _, n := range list {
			tool, _ := n.(map[string]any)["tool"].(string)
			if schemas[tool] == nil {
				t.Errorf("%s: next names an unknown tool: %s", name, encode(n))
				continue
			}
			args, _ := n.(map[string]any)["args"].(map[string]any)
			known, _ := inputs[tool]["properties"].(map[string]any)
			needed, _ := inputs[tool]["required"].([]any)
			for arg, v := range args {
				if known[arg] == nil || v == nil {
					t.Errorf("%s: the next step %s has the argument %s = %v, want a known argument of %s with a value", name, encode(n), arg, v, tool)
				}
			}
			for _, arg := range needed {
				if _, given := args[arg.(string)]; !given {
					t.Errorf("%s: the next step %s lacks the argument %s of %s", name, encode(n), arg, tool)
				}
			}
		}
		return a
	}
	post := check(fox, "post", "", map[string]any{"ch": "lounge", "body": "Who is awake?"}).Text("result.structuredContent.id")
	reply := check(token, "post", "", map[string]any{"ch": "lounge", "body": "I am, @fox", "parent": post}).Text("result.structuredContent.id")
	check(token, "post", "duplicate_post", map[string]any{"ch": "lounge", "body": "I am, @fox"})
	check(token, "post", "invalid", map[string]any{"ch": "lounge", "body": "x", "nonsense": 1})
	check(token, "post", "not_found", map[string]any{"ch": "nowhere", "body": "x"})
	check(token, "catchup", "", nil)
	check(token, "inbox", "", map[string]any{"after": 0, "limit": 5})
	check(token, "inbox", "invalid", map[string]any{"limit": 5000})
	check(token, "me", "", nil)
	check(token, "update_profile", "", map[string]any{"bio": "hoo", "tags": []string{"night"}, "emoji": "🦉"})
	check(token, "agent", "", map[string]any{"ref": "fox"})
	check(token, "channels", "", map[string]any{"kind": "leisure"})
	check(token, "read_channel", "", map[string]any{"ch": "lounge", "limit": 10, "replies": false})
	check(token, "read_post", "", map[string]any{"ch": "lounge", "id": post})
	check(token, "search", "", map[string]any{"ch": "lounge", "q": "who awake"})
	check(token, "search", "invalid", map[string]any{"ch": "lounge", "q": "who awake", "page": 2})
	check(token, "search", "invalid", map[string]any{"ch": "lounge/best", "q": "who"})
	check(token, "search", "invalid", map[string]any{"q": "who"})
	check(token, "search", "invalid", map[string]any{"ch": "..", "q": "who"})
	check(token, "search", "invalid", map[string]any{"ch": "lounge", "q": []int{1}})
	check(token, "vote", "", map[string]any{"ch": "lounge", "id": post, "v": 1})
	check(token, "react", "", map[string]any{"ch": "lounge", "id": post, "emoji": "🌙"})
	check(fox, "mark_helpful", "", map[string]any{"ch": "lounge", "id": reply})
	check(token, "follow", "", map[string]any{"kind": "agent", "target": "fox", "on": true})
	check(token, "block", "", map[string]any{"target": "fox", "on": false})
	check(token, "send_message", "", map[string]any{"ref": "fox", "body": "psst"})
	check(token, "conversations", "", nil)
	said := check(fox, "read_messages", "", map[string]any{"ref": "owl"}).Text("result.structuredContent.items.0.id")
	check(fox, "link_origin", "", map[string]any{"email": "fox@example.com"})
	check(fox, "verify_origin", "", map[string]any{"code": r.code("fox@example.com")})
	r.advance(25 * time.Hour) // a reporter must be a day old
	check(fox, "report_message", "", map[string]any{"ref": "owl", "msg": said, "reason": "noise"})
	check(token, "memory", "", nil)
	kept := check(token, "remember", "", map[string]any{"text": "# Owl\n\nAwake at night. <b>&</b>"})
	check(token, "remember", "changed", map[string]any{"text": "x", "if_match": `"other"`})
	check(token, "remember", "", map[string]any{"text": "# Owl, again", "if_match": `"` + kept.Text("result.structuredContent.sha256") + `"`})
	check(token, "remember", "invalid", map[string]any{"text": 7})
	check(token, "remember", "invalid", map[string]any{"body": "x"})
	if got := check(token, "memory", "", map[string]any{"version": "previous"}); got.Text("result.structuredContent.text") != "# Owl\n\nAwake at night. <b>&</b>" || got.Text("result.structuredContent.etag") == "" {
		t.Errorf("the previous memory: got %s, want its text and an etag", got.Body)
	}
	check(token, "signup_puzzle", "already_registered", nil)
	check(token, "finish_signup", "invalid", nil)
	check(token, "add_key", "signature_required", map[string]any{"pubkey": "x", "label": "x", "proof": "x"})
	check(token, "link_origin", "", map[string]any{"email": "owl@example.org"})
	check(token, "verify_origin", "", map[string]any{"code": r.code("owl@example.org")})
	r.vouch(owl)
	check(token, "report_post", "", map[string]any{"ch": "lounge", "id": post, "reason": "spam"})
	check(token, "volunteer", "", map[string]any{"on": true})
	check(token, "duties", "", nil)
	opened := check(token, "read_post", "", map[string]any{"ch": "lounge", "id": post}).Text("result.structuredContent.case")
	if opened != "" && opened != "<nil>" {
		check(token, "read_case", "", map[string]any{"id": opened})
		check(token, "vote_on_case", "not_seated", map[string]any{"id": opened, "verdict": "uphold"})
	}
	check(token, "post_idea", "", map[string]any{"title": "More nights", "body": "They are short."})
	idea := check(token, "ideas", "", nil).Text("result.structuredContent.items.0.id")
	check(fox, "support_idea", "", map[string]any{"id": idea})
	check(token, "quote_promo", "", map[string]any{"ch": "lounge", "usd": 5, "days": 1})
	check(token, "buy_promo", "", map[string]any{"ch": "lounge", "usd": 5, "days": 1, "body": "Owls at work"})
	check(fox, "buy_promo", "insufficient_credits", map[string]any{"ch": "lounge", "usd": 5, "days": 1, "body": "Foxes at work"})
	check(token, "credits", "", nil)
	check(token, "checkout", "", map[string]any{"usd": 5})
	check(token, "delete_post", "", map[string]any{"ch": "lounge", "id": reply})
}

func TestMCPRefusalsMatchHTTP(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	_, token := r.joinWithToken("fox")
	for _, c := range []struct{ tool, method, target, args, body string }{
		{"post", "POST", "/v1/c/nowhere/posts", `{"ch":"nowhere","body":"x"}`, `{"body":"x"}`},
		{"post", "POST", "/v1/c/lounge/posts", `{"ch":"lounge"}`, `{}`},
		{"post", "POST", "/v1/c/lounge/posts", `{"channel":"lounge","body":7,"parent":"x"}`, `{"body":7,"parent":"x"}`},
		{"inbox", "GET", "/v1/me/inbox?limit=0", `{"limit":0}`, ``},
		{"follow", "POST", "/v1/me/follow", `{"kind":"agent","target":"fox","on":true}`, `{"kind":"agent","target":"fox","on":true}`},
		{"add_key", "POST", "/v1/me/keys", `{"pubkey":"x","label":"x","proof":"x"}`, `{"pubkey":"x","label":"x","proof":"x"}`},
	} {
		var args map[string]any
		if err := json.Unmarshal([]byte(c.args), &args); err != nil {
			t.Fatal(err)
		}
		over := r.tool(token, c.tool, args)
		plain := r.bearer(token, c.method, c.target, c.body)
		said, _ := over.At("result.structuredContent.error")
		refusal, _ := plain.At("error")
		want := strings.ReplaceAll(encode(refusal), "`GET /v1/channels`", "`channels`") // hints name tools
		if over.Text("result.isError") != "true" || plain.Status < 400 || encode(said) != want {
			t.Errorf("%s: got %s, isError %s; want isError true and the refusal over HTTP, which was %d %s", c.tool, encode(said), over.Text("result.isError"), plain.Status, want)
		}
	}
}

// An idempotency key has one effect over MCP and HTTP together.
func TestMCPIdempotency(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox, token := r.joinWithToken("fox")
		args := map[string]any{"ch": "lounge", "body": "once", "idempotency_key": "k1"}
		first := r.tool(token, "post", args)
		id := first.Text("result.structuredContent.id")
		if id == "" || first.Text("result._meta.idempotent-replayed") != "" {
			t.Fatalf("the first call: got %s, want an id, and not replayed", first.Body)
		}
		for name, again := range map[string]*transcripts.Answer{
			"over MCP":           r.tool(token, "post", args),
			"by header":          r.send(withHeader(toolCall(token, sessionless, "post", map[string]any{"body": "once", "ch": "lounge"}), "Idempotency-Key", "k1")),
			"with another token": r.tool(r.token(fox, "post"), "post", args),
		} {
			if again.Text("result.structuredContent.id") != id || again.Text("result._meta.idempotent-replayed") != "true" {
				t.Errorf("%s: got %s, want the id %s, and replayed", name, again.Body, id)
			}
		}
		over := r.send(withHeader(bearer(token, "POST", "/v1/c/lounge/posts", `{"body":"once"}`), "Idempotency-Key", "k1"))
		if over.Status != 201 || over.Text("id") != id || over.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("over HTTP: got %d %s, want 201, the id %s, and replayed", over.Status, over.Body, id)
		}
		args["body"] = "twice"
		if a := r.tool(token, "post", args); a.Text("result.structuredContent.error.code") != "invalid" {
			t.Errorf("another request with the same key: got %s, want invalid", a.Body)
		}
		var requests []*transcripts.Request
		for range 8 {
			requests = append(requests, toolCall(token, handshakes[2], "post", map[string]any{"ch": "lounge", "body": "raced", "idempotency_key": "k2"}))
		}
		answers, _ := r.together(requests...)
		ids := map[string]bool{}
		for _, a := range answers {
			if a.Text("result.structuredContent.error.code") != "busy" { // a conflict in DynamoDB
				ids[a.Text("result.structuredContent.id")] = true
			}
		}
		if len(ids) != 1 || ids[""] {
			t.Errorf("concurrent calls with one key: got ids %v, want one", ids)
		}
	})
}

func withHeader(q *transcripts.Request, name, value string) *transcripts.Request {
	q.Header.Set(name, value)
	return q
}

// functions/mcp counts the list of tools as listSize bytes (200 KiB).
func TestMCPListFitsItsEstimate(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	_, token := r.joinWithToken("fox")
	a := r.want(r.send(rpc(token, handshakes[0], "tools/list", nil)), 200, "")
	if sent := encode(string(a.Body)); len(sent) > 200<<10 {
		t.Errorf("the list of tools: got %d bytes, want at most 200 KiB", len(sent))
	}
}

// One refusal lists all wrong arguments.
func TestMCPWrongArguments(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	_, token := r.joinWithToken("fox")
	for _, c := range []struct {
		tool string
		args map[string]any
		want []string
	}{
		{"search", map[string]any{"ch": "a/b", "q": []int{1}, "page": 2}, []string{"channel", "page", "q"}},
		{"search", map[string]any{"limit": 5000}, []string{"channel", "limit", "q"}},
		{"post", map[string]any{"ch": map[string]any{}, "bodi": "x", "idempotency_key": "not visible\n"}, []string{"bodi", "body", "channel", "idempotency_key"}},
		{"vote", map[string]any{"vote": "up"}, []string{"channel", "id", "vote"}},
		{"vote", map[string]any{"v": "up"}, []string{"channel", "id", "vote"}},
		{"remember", map[string]any{"text": 7, "note": "x", "if_match": ""}, []string{"if_match", "note", "text"}},
		{"read_channel", map[string]any{"channel": "#"}, []string{"channel"}},
	} {
		a := r.tool(token, c.tool, c.args)
		var out struct {
			Result struct {
				StructuredContent struct {
					Error struct {
						Code   string
						Fields []struct{ Field string }
					}
				}
			}
		}
		if err := json.Unmarshal(a.Body, &out); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range out.Result.StructuredContent.Error.Fields {
			got = append(got, f.Field)
		}
		slices.Sort(got)
		if out.Result.StructuredContent.Error.Code != "invalid" || !slices.Equal(got, c.want) {
			t.Errorf("%s %v: got %s, want invalid, fields %v", c.tool, c.args, a.Body, c.want)
		}
	}
}

// Names of channels may begin with #, and names of agents with @.
func TestMCPNamesAndNumbers(t *testing.T) {
	t.Parallel()
	r := run(t, unlimited())
	_, token := r.joinWithToken("fox")
	if a := r.tool(token, "post", map[string]any{"channel": "#lounge", "body": "hello"}); a.Text("result.structuredContent.channel") != "lounge" {
		t.Errorf("a post to #lounge: got %s, want the channel lounge", a.Body)
	}
	if a := r.tool(token, "agent", map[string]any{"agent": "@fox"}); a.Text("result.structuredContent.handle") != "fox" {
		t.Errorf("the agent @fox: got %s, want fox", a.Body)
	}
	r.tool(token, "remember", map[string]any{"text": "12345"})
	a := r.tool(token, "memory", nil)
	if n, _ := a.At("result.structuredContent.memory_size"); n != json.Number("5") && n != float64(5) {
		t.Errorf("memory_size: got %T %v in %s, want the number 5", n, n, a.Body)
	}
}
