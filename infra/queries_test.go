package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentsocial/shared/api"
)

func TestQueries(t *testing.T) {
	book, err := os.ReadFile("RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	s := of(t, ours)
	saved := s.all("AWS::Logs::QueryDefinition")
	if len(saved) != len(queries) {
		t.Errorf("got %d saved queries, want %d", len(saved), len(queries))
	}
	var groups, behind []string
	for id := range s.all("AWS::Logs::LogGroup") {
		name, _, _ := strings.Cut(id, "Log")
		switch {
		case slices.ContainsFunc(s.groups, func(g api.Group) bool { return g.Name == name }):
			groups = append(groups, "${"+id+"}")
		case !strings.HasPrefix(id, "AccessLog"):
			behind = append(behind, "${"+id+"}")
		}
	}
	slices.Sort(groups)
	slices.Sort(behind)
	access, _ := s.named(t, "AWS::Logs::LogGroup", "AccessLog")
	want := map[string][]string{"Turned": {"${" + access + "}"}, "Readers": behind}
	for _, name := range []string{"Problems", "CutOff", "Versions"} {
		want[name] = slices.Sorted(slices.Values(slices.Concat(groups, behind)))
	}
	for _, q := range queries {
		_, r := s.named(t, "AWS::Logs::QueryDefinition", "Queries"+q.ID)
		r.expect(t, q.ID, map[string]string{"Name": "agentsocial-prod/" + q.Name, "QueryString": q.Text})
		logs := want[q.ID]
		if logs == nil {
			logs = groups
		}
		if got := list(r.Properties["LogGroupNames"]); !slices.Equal(got, logs) {
			t.Errorf("%s reads %v, want %v", q.ID, got, logs)
		}
		if !strings.Contains(string(book), "`"+q.Name+"`") {
			t.Errorf("the runbook does not name the saved query `%s`", q.Name)
		}
	}
}

func TestQueriesReadWhatIsLogged(t *testing.T) {
	source, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields("filter msg fields coalesce as n stats sum pct by sort desc limit count latest max bin earliest and or ispresent " +
		"requests p99 reads writes example lines newest calls lag took at first level timestamp type platform report record status errorType log")
	for _, q := range queries {
		text := regexp.MustCompile(`"[^"]*"`).ReplaceAllString(q.Text, "")
		for _, name := range regexp.MustCompile(`[A-Za-z][A-Za-z_0-9]*`).FindAllString(text, -1) {
			if !slices.Contains(words, name) && accessLog[name] == "" && !strings.Contains(source, `"`+name+`"`) && name != "m" {
				t.Errorf("%s reads %s, which no line has", q.ID, name)
			}
		}
	}
}

func TestRunbookAsksTheSavedQuery(t *testing.T) {
	book, err := os.ReadFile("RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	flat := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, `"`, "'")), " ") }
	if want := flat(queries[0].Text); !strings.Contains(flat(string(book)), want) {
		t.Errorf("the runbook's function `requests` does not run the saved query %q: %s", queries[0].Name, want)
	}
}
