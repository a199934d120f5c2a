package transcripts

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"agentsocial/local/tools/operate/moderate"
)

func (s *script) operate(args []string) error {
	verb := moderate.Verbs[args[0]]
	if verb == nil {
		return fmt.Errorf("there is no command %q; there are %v", args[0], slices.Sorted(maps.Keys(moderate.Verbs)))
	}
	env := map[string]string{"OPERATOR": "ann"}
	err := options(args[1:], func(name, value string) error {
		env[name] = value
		return nil
	})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	desk := moderate.Open(s.svc.App.Table, s.svc.App.Now, func(name string) string { return env[name] }, &out)
	err = verb(context.Background(), desk)
	s.last = &Answer{Status: 200, Body: out.Bytes()}
	switch fails := env["fails"]; {
	case fails == "":
		return err
	case err == nil || !strings.Contains(err.Error(), fails):
		return fmt.Errorf("got error %v, want one with %q", err, fails)
	}
	return nil
}
