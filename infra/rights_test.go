package main

import (
	"slices"
	"strings"
	"testing"

	"agentsocial/functions/toolgroups"
	"agentsocial/shared/app"
	"agentsocial/tables"
)

// rights returns the declared rights of each function.
func (s *service) rights() map[string]rights {
	may := map[string]rights{}
	for _, g := range s.groups {
		may[g.Name] = rightsOf(g)
	}
	for _, r := range s.readers {
		may[r.Name] = rightsOfReader(r)
	}
	for _, x := range s.schedules {
		may[x.Name] = rightsOfSchedule(x)
	}
	for _, m := range s.mail {
		may[m.Name] = rightsOfMail(m)
	}
	return may
}

// statements returns what a function's role allows, as lines "action on resource [if
// condition]".
func (s *service) statements(t *testing.T, name string) []string {
	t.Helper()
	_, f := s.function(t, name)
	role := s.Resources[strings.TrimSuffix(strings.TrimPrefix(plain(f.Properties["Role"]), "${"), ".Arn}")]
	role.expect(t, name, map[string]string{
		"ManagedPolicyArns":        "",
		"AssumeRolePolicyDocument": `{"Statement":[{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"Service":"lambda.amazonaws.com"}}],"Version":"2012-10-17"}`,
	})
	var lines []string
	for _, p := range role.Properties["Policies"].([]any) {
		document := p.(map[string]any)["PolicyDocument"].(map[string]any)
		for _, x := range document["Statement"].([]any) {
			st := x.(map[string]any)
			if st["Effect"] != "Allow" || st["NotAction"] != nil || st["NotResource"] != nil {
				t.Errorf("%s: got statement %v, want Allow of named actions and resources", name, st)
			}
			for _, action := range list(st["Action"]) {
				for _, resource := range list(st["Resource"]) {
					line := action + " on " + resource
					if c := st["Condition"]; c != nil {
						line += " if " + plain(c)
					}
					lines = append(lines, line)
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func TestRights(t *testing.T) {
	s := of(t, fake)
	const table = "${TableCD117FA1.Arn}"
	log := func(name string) []string {
		for id := range s.all("AWS::Logs::LogGroup") {
			if strings.HasPrefix(id, name+"Log") {
				return []string{"logs:CreateLogStream on ${" + id + ".Arn}", "logs:PutLogEvents on ${" + id + ".Arn}"}
			}
		}
		return nil
	}
	over := func(families string, actions ...string) (lines []string) {
		for _, a := range actions {
			lines = append(lines, "dynamodb:"+a+" on "+table+" if "+keysOf(strings.Fields(families)))
		}
		return lines
	}
	read := func(families string, indexes ...string) []string {
		lines := over(families, "BatchGetItem", "GetItem", "Query")
		for _, x := range indexes {
			lines = append(lines, "dynamodb:Query on "+table+"/index/"+x)
		}
		return lines
	}
	write := func(families string) []string {
		return over(families, "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem")
	}
	secret := []string{"secretsmanager:GetSecretValue on ${" + secretID + "}"}
	pepper := []string{"secretsmanager:GetSecretValue on ${" + pepperID + "}"}
	pay := []string{"secretsmanager:GetSecretValue on ${" + paymentsID + "}"}
	reader := []string{
		"dynamodb:DescribeStream on ${TableCD117FA1.StreamArn}", "dynamodb:GetRecords on ${TableCD117FA1.StreamArn}", "dynamodb:GetShardIterator on ${TableCD117FA1.StreamArn}",
		"dynamodb:ListStreams on *",
		"s3:ListBucket on ${FailedBatches983C92EC.Arn}", "s3:PutObject on ${FailedBatches983C92EC.Arn}/*",
	}
	dead, _ := s.only(t, "AWS::SQS::Queue")
	for name, want := range map[string][]string{
		"docs":    log("docs"),
		"history": slices.Concat(log("history"), read("A G H K N Q"), write("G N Q")),
		"posts":   slices.Concat(log("posts"), read("A C G H K N Q", "by_parent", "by_rank"), write("C G N Q"), secret),
		"codes":   slices.Concat(log("codes"), read("A G H K N Q"), write("G N Q"), secret, pepper, pay),
		"inbox":   slices.Concat(log("inbox"), read("A C", "by_author"), write("I"), reader),
		"tally":   slices.Concat(log("tally"), read("C"), write("A C"), reader),

		"deadlines": slices.Concat(log("deadlines"), []string{"dynamodb:Query on " + table + "/index/by_rank"}, []string{"sqs:SendMessage on ${" + dead + ".Arn}"}),
	} {
		slices.Sort(want)
		if got := s.statements(t, name); !slices.Equal(got, want) {
			t.Errorf("%s may\n  %s\nwant\n  %s", name, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
}

func TestDocsHasOnlyItsLog(t *testing.T) {
	s := of(t, ours)
	for _, line := range s.statements(t, "docs") {
		if !strings.HasPrefix(line, "logs:") {
			t.Errorf("docs may %s, want only the rights to its log", line)
		}
	}
	_, f := s.function(t, "docs")
	env := f.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
	for _, name := range []string{"TABLE", "SECRET_ARN", "PEPPER_ARN", "PAYMENTS_ARN"} {
		if env[name] != nil {
			t.Errorf("docs has %s in its environment, want it absent", name)
		}
	}
	routes := 0
	for _, r := range s.all("AWS::ApiGatewayV2::Route") {
		if s.functionBehind(strings.TrimSuffix(strings.TrimPrefix(plain(r.Properties["Target"]), "integrations/${"), "}")) == "docs" {
			routes++
		}
	}
	if routes != 27 { // GET and HEAD of 13 endpoints, and the default route
		t.Errorf("got %d routes to docs, want 27", routes)
	}
}

func TestMCPHasTheRightsOfItsGroups(t *testing.T) {
	s := of(t, ours)
	may := map[string]bool{}
	bare := func(line string) string { // TestNoExtraRights checks leading keys
		if strings.HasPrefix(line, "dynamodb:") {
			line, _, _ = strings.Cut(line, " if ")
		}
		return line
	}
	for _, n := range toolgroups.Groups() {
		for _, line := range s.statements(t, n(&app.App{}).Name) {
			may[bare(line)] = !strings.HasPrefix(line, "logs:")
		}
	}
	var got []string
	for _, line := range s.statements(t, "mcp") {
		if !strings.HasPrefix(line, "logs:") {
			got = append(got, line)
			if !may[bare(line)] {
				t.Errorf("mcp may %s, which none of its groups may", line)
			}
			delete(may, bare(line))
		}
	}
	for line, need := range may {
		if need {
			t.Errorf("mcp may not %s, which one of its groups may", line)
		}
	}
	_, f := s.function(t, "mcp")
	env := f.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
	for _, name := range []string{"TABLE", "SECRET_ARN", "PEPPER_ARN", "PAYMENTS_ARN"} {
		if env[name] == nil {
			t.Errorf("mcp lacks %s in its environment", name)
		}
	}
	var routes []string
	for _, r := range s.all("AWS::ApiGatewayV2::Route") {
		if s.functionBehind(strings.TrimSuffix(strings.TrimPrefix(plain(r.Properties["Target"]), "integrations/${"), "}")) == "mcp" {
			routes = append(routes, plain(r.Properties["RouteKey"]))
		}
	}
	if len(got) == 0 || !slices.Equal(routes, []string{"POST /mcp"}) {
		t.Errorf("got routes %q to mcp, with rights %q; want only POST /mcp, and some rights", routes, got)
	}
}

// keysOf returns the condition of [leading] for these families.
func keysOf(letters []string) string {
	var patterns []string
	for _, letter := range letters {
		patterns = append(patterns, `"`+letter+`#*"`)
	}
	return `{"ForAllValues:StringLike":{"dynamodb:LeadingKeys":[` + strings.Join(patterns, ",") + `]}}`
}

func TestNoExtraRights(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		may := s.rights()
		reads := []string{"dynamodb:BatchGetItem", "dynamodb:GetItem", "dynamodb:Query"}
		streams := []string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator", "dynamodb:ListStreams"}
		for name, r := range may {
			for _, line := range s.statements(t, name) {
				action, rest, _ := strings.Cut(line, " on ")
				resource, condition, _ := strings.Cut(rest, " if ")
				allowed := false
				switch {
				case strings.HasPrefix(action, "logs:"):
					allowed = strings.HasPrefix(resource, "${"+name+"Log")
				case slices.Contains(reads, action) && condition != "":
					allowed = condition == keysOf(r.Reads.Letters())
				case action == "dynamodb:Query":
					_, index, _ := strings.Cut(resource, "/index/")
					allowed = r.Reads.HasIndex(tables.Index(index))
				case slices.Contains(streams, action), strings.HasPrefix(action, "s3:"):
					allowed = r.Stream
				case strings.HasPrefix(action, "dynamodb:"):
					allowed = r.Writes != 0 && condition == keysOf(r.Writes.Letters())
				case action == "secretsmanager:GetSecretValue" && resource == "${"+pepperID+"}":
					allowed = r.Needs.Has(app.Pepper)
				case action == "secretsmanager:GetSecretValue" && resource == "${"+paymentsID+"}":
					allowed = r.Needs.Has(app.Payments)
				case action == "secretsmanager:GetSecretValue":
					allowed = r.Needs.Has(app.Secret)
				case action == "sqs:SendMessage":
					allowed = r.Dead && strings.HasPrefix(resource, "${DeadLetters")
				case action == "ses:SendEmail":
					allowed = r.Needs.Has(app.Mail) && condition == `{"StringEquals":{"ses:FromAddress":"`+mailFrom+`"}}`
				}
				if !allowed {
					t.Errorf("%s, declared with %+v, may %s; want no such right", name, r, line)
				}
			}
		}
		for _, kind := range []string{"AWS::IAM::Policy", "AWS::IAM::ManagedPolicy", "AWS::SecretsManager::ResourcePolicy"} {
			if more := s.all(kind); len(more) > 0 {
				t.Errorf("got %s %v, want none", kind, keys(more))
			}
		}
		if n := len(s.all("AWS::IAM::Role")); n != len(may)+len(s.schedules) {
			t.Errorf("got %d roles, want one for each of %d functions and %d schedules", n, len(may), len(s.schedules))
		}
	})
}

func TestDocsHasNoTable(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		for _, line := range s.statements(t, "docs") {
			if !strings.HasPrefix(line, "logs:") {
				t.Errorf("docs may %s, want no right beyond its log", line)
			}
		}
	})
}
