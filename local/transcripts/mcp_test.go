package transcripts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

func (s *script) mcp(args []string) error {
	params := "{}"
	if len(args) > 2 {
		params = args[2]
	}
	if !json.Valid([]byte(params)) {
		return fmt.Errorf("%s is not JSON", params)
	}
	id := `"id":1,`
	if strings.HasPrefix(args[1], "notifications/") {
		id = ""
	}
	return s.send(s.named(&Request{
		Method: http.MethodPost, Target: "/mcp",
		Header: http.Header{"Authorization": {"Bearer " + args[0]}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}},
		Body:   fmt.Appendf(nil, `{"jsonrpc":"2.0",%s"method":%q,"params":%s}`, id, args[1], params),
	}))
}

func (s *script) tool(args []string) error {
	refused := ""
	if last := len(args) - 1; strings.HasPrefix(args[last], "refused=") {
		refused, args = strings.TrimPrefix(args[last], "refused="), args[:last]
	}
	input := "{}"
	if len(args) > 2 {
		input = args[2]
	}
	if err := s.mcp([]string{args[0], "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, args[1], input)}); err != nil {
		return err
	}
	result, ok := s.last.At("result.structuredContent")
	if s.last.Status != http.StatusOK || !ok {
		return fmt.Errorf("%s: got status %d, structured content: %t; want 200 with structured content", args[1], s.last.Status, ok)
	}
	body, err := json.Marshal(result)
	if err != nil {
		return err
	}
	isError := s.last.Text("result.isError") == "true"
	a := &Answer{Status: s.last.Status, Header: s.last.Header, Body: body, value: result}
	if text := s.last.Text("result.content.0.text"); !sameJSON([]byte(text), body) {
		return fmt.Errorf("the text differs from the structured content: %s", text)
	}
	s.last = a
	if got := a.Text("error.code"); got != refused || isError != (refused != "") {
		return fmt.Errorf("%s: got error code %q, isError %t; want %q, %t", args[1], got, isError, refused, refused != "")
	}
	return nil
}

func sameJSON(a, b []byte) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	p, _ := json.Marshal(x)
	q, _ := json.Marshal(y)
	return bytes.Equal(p, q)
}
