package docs

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

//go:embed deviations.json
var deviationsJSON []byte

// deviation is one way in which the service differs from its specification.
type deviation struct {
	Heading   string // of the specification
	Deviation string // what the service does
	Reason    string
	Routes    []string // the endpoints it concerns; empty if it concerns every endpoint
}

// deviations returns deviations.json, which groups deviations by heading.
var deviations = sync.OnceValue(func() (all []deviation) {
	if err := json.Unmarshal(deviationsJSON, &all); err != nil {
		panic("docs: deviations.json: " + err.Error())
	}
	return all
})

// deviationTables returns each heading, followed by its table.
func deviationTables() string {
	var b strings.Builder
	for rest := deviations(); len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].Heading == rest[0].Heading {
			n++
		}
		t := newTable("deviation", "reason", "endpoints")
		for _, d := range rest[:n] {
			routes := "all"
			if len(d.Routes) > 0 {
				routes = code(strings.Join(d.Routes, "`, `"))
			}
			t.row(d.Deviation, d.Reason, routes)
		}
		b.WriteString("\n## " + rest[0].Heading + "\n\n" + t.String() + "\n")
		rest = rest[n:]
	}
	return strings.TrimSpace(b.String())
}
