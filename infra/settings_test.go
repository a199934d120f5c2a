package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"agentsocial/shared/app"
)

func TestSettings(t *testing.T) {
	t.Run("nothing set", func(t *testing.T) {
		if s, err := ReadSettings(nil); err != nil || s != DefaultSettings() {
			t.Errorf("no settings: got %+v, %v; want the defaults", s, err)
		}
	})
	t.Run("from the command line", func(t *testing.T) {
		s, err := ReadSettings(map[string]any{
			"stage": "dev", "region": "eu-central-1", "account": "123456789012", "domain": "agents.example", "certificateArn": edgeCertificateARN, "hostedZone": "Z0123",
			"edge": "true", "webAcl": webACLARN, "edgeSecretVersion": edgeVersion,
			"powBits": "26", "pageBits": "20", "microUsdPerChar": "25", "limits": `{"posts_per_minute":3}`, "webOrigins": "https://a.example,https://b.example", "contact": "ops@agents.example", "index": "true",
			"throttleRate": "1", "throttleBurst": "500000", "tableReads": "100", "tableWrites": "10000000", "warmWrites": "4000",
			"accountConcurrency": "5000", "groupConcurrency": `{"feed":1000,"docs":0}`, "capacity": "provisioned", "tableClass": "infrequent-access", "capacityTarget": "70", "tableReadsLeast": "100", "tableWritesLeast": "4", "indexReadsLeast": "3", "indexWritesLeast": "2", "reservedConcurrency": "100", "budgetUsd": "1",
			"mailFrom": "no-reply@agents.example", "mailIdentity": "existing", "alarmMail": "ops@agents.example", "logRetentionDays": "3653",
			"logReads": "1", "canary": "true", "endpointMetrics": "true", "dashboard": "true", "xray": "true", "contributorInsights": "true", "restoredTable": restoredTable, "restoredStream": streamARN, "copyTo": vaultARN, "copyDays": "35", "existingSecrets": "true",
			"version": "v1.0.0", "previousVersion": "0123456789ab-dirty", "unprotected": "true", // make deploy's
			"aws:cdk:enable-path-metadata": true, "@aws-cdk/core:newStyleStackSynthesis": true, "cli-telemetry": false, // the CDK's own
		})
		want := Settings{
			Stage: "dev", Region: "eu-central-1", Account: "123456789012", Domain: "agents.example", CertificateARN: edgeCertificateARN, HostedZone: "Z0123",
			Edge: true, WebACL: webACLARN, EdgeSecretVersion: edgeVersion,
			PowBits: 26, PageBits: 20, MicroUSDPerChar: 25, Limits: limitsWith(t, `{"posts_per_minute":3}`), WebOrigins: "https://a.example,https://b.example", Contact: "ops@agents.example", Index: true,
			ThrottleRate: 1, ThrottleBurst: 500_000, TableReads: 100, TableWrites: 10_000_000, WarmWrites: 4000,
			AccountConcurrency: 5000, GroupConcurrency: `{"docs":0,"feed":1000}`, Capacity: "provisioned", TableClass: "infrequent-access", CapacityTarget: 70, TableReadsLeast: 100, TableWritesLeast: 4, IndexReadsLeast: 3, IndexWritesLeast: 2, Reserved: 100, BudgetUSD: 1,
			MailFrom: "no-reply@agents.example", MailIdentity: "existing", AlarmMail: "ops@agents.example", LogDays: 3653,
			LogReads: 1, Canary: true, EndpointMetrics: true, Dashboard: true, XRay: true, ContributorInsights: true, RestoredTable: restoredTable, RestoredStream: streamARN, CopyTo: vaultARN, CopyDays: 35, ExistingSecrets: true,
			passed: passed{Version: "v1.0.0", PreviousVersion: "0123456789ab-dirty", Unprotected: true},
		}
		if err != nil || s != want || !s.Disposable() {
			t.Errorf("got %+v, %v\nwant %+v, disposable", s, err, want)
		}
	})
	t.Run("from cdk.json", func(t *testing.T) {
		s, err := ReadSettings(map[string]any{"powBits": 20.0, "xray": true, "limits": map[string]any{"posts_per_minute": 3.0, "tokens_day": 1.0}})
		want := DefaultSettings()
		want.PowBits, want.XRay, want.Limits = 20, true, limitsWith(t, `{"posts_per_minute":3,"tokens_day":1}`)
		if err != nil || s != want {
			t.Errorf("got %+v, %v\nwant %+v", s, err, want)
		}
	})
}

func limitsWith(t *testing.T, object string) app.Limits {
	t.Helper()
	l, err := app.DefaultSettings().Limits.With(object)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const (
	restoredTable = "agentsocial-dev-TableCD117FA1-1A2B-restored-20260102T030405Z"
	streamARN     = "arn:aws:dynamodb:eu-central-1:123456789012:table/" + restoredTable + "/stream/2026-01-02T03:04:05.678"
)

func TestSettingsAreDocumented(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(readme), "| setting | default | what it is | it must be |\n|---|---|---|---|\n")
	if !ok {
		t.Fatal("the README has no table of settings")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	context := contextOf(t)
	if s, err := ReadSettings(context); err != nil || s != DefaultSettings() {
		t.Errorf("settings of cdk.json: got %+v, %v; want the defaults", s, err)
	}
	rows, settings := strings.Split(table, "\n"), new(Settings).all()
	if len(rows) != len(settings) || len(context) != len(settings) {
		t.Errorf("got %d settings, %d rows in the README and %d names in cdk.json, want equal numbers", len(settings), len(rows), len(context))
	}
	for i, s := range settings[:min(len(rows), len(settings))] {
		by, err := json.Marshal(context[s.Name])
		if err != nil {
			t.Fatal(err)
		}
		byDefault := "`" + strings.Trim(string(by), `"`) + "`"
		if byDefault == "``" || byDefault == "`null`" {
			byDefault = ""
		}
		cells := strings.Split(strings.Trim(rows[i], "|"), "|")
		if len(cells) != 4 || strings.TrimSpace(cells[0]) != "`"+s.Name+"`" || strings.TrimSpace(cells[1]) != byDefault ||
			len(cells[2]) < 10 || strings.ReplaceAll(strings.TrimSpace(cells[3]), "`", "") != s.Want {
			t.Errorf("the README's row is\n%s\nwant\n| `%s` | %s | what it is | %s |", rows[i], s.Name, byDefault, s.Want)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	for name, values := range map[string][]any{
		"version":             {"", "v1 0", "-v1", "v1\n", 1.0},
		"stage":               {"", "Prod", "a_b", "seventeen-letters", "ünique", 1.0, true},
		"region":              {"eu", "eu-central", "EU-central-1", "eu-central-1a", 1.0},
		"account":             {"12345678901", "1234567890123", "12345678901x", 123456789012.0},
		"domain":              {"https://agents.example", "agents.example/", "agents.example:8443", "Agents.example", "agents", "*.agents.example", "-a.example", "a..example", "a_b.example", 7.0},
		"certificateArn":      {"12345678-90ab-cdef-1234-567890abcdef", "arn:aws:iam::123456789012:server-certificate/x", certificateARN + "/", 1.0},
		"hostedZone":          {"agents.example", "/hostedzone/Z0123", 1.0},
		"powBits":             {7.0, 27.0, 18.5, "x", "", "18.0", true, -18.0, 1e300},
		"pageBits":            {7.0, 21.0, 14.5, "x"},
		"edge":                {"", "on", 1.0},
		"webAcl":              {"Own", "arn:aws:wafv2:eu-central-1:123456789012:regional/webacl/mine/01234567-89ab-cdef-0123-456789abcdef", true},
		"edgeSecretVersion":   {"1", edgeVersion + "}}", 1.0},
		"logRetentionDays":    {0.0, 31.0, "29", "forever"},
		"throttleRate":        {0.0, 1000001.0, "1e3"},
		"throttleBurst":       {0.0, 500001.0, []any{1.0}},
		"tableReads":          {1.0, 99.0, -1.0, "10000001"},
		"tableWrites":         {1.0, 99.0, -1.0, "10000001"},
		"warmReads":           {1.0, 11999.0, -1.0, "10000001"},
		"warmWrites":          {1.0, 3999.0, -1.0, "10000001"},
		"accountConcurrency":  {1.0, 9.0, -1.0, 100001.0, ""},
		"groupConcurrency":    {"[]", "{", "null", 1.0, `{"inbox":1}`, `{"feed":-1}`, `{"feed":1.5}`, `{"feed":"1"}`, map[string]any{"feed": 100001.0}},
		"reservedConcurrency": {-1.0, 100001.0, ""},
		"budgetUsd":           {-1.0, 0.5, "1000001"},
		"microUsdPerChar":     {0.0, 1000001.0, "0.5"},
		"contact":             {"agents.example", "http://agents.example", "Agents <a@agents.example>", "mailto:a@agents.example", 1.0},
		"webOrigins":          {"https://a.example/", "a.example", "https://a.example, https://b.example", "https://a.example,", "*,https://a.example", "null", "http://a.example", "https://u@a.example", 1.0},
		"alarmMail":           {"ops", "Ops@agents.example", "ops@localhost", true},
		"mailFrom":            {"agents.example", "No-Reply@agents.example", " a@agents.example", "a@localhost", "a@münchen.de", "Agents <a@agents.example>", "a@b.de,c@d.de", 1.0},
		"mailIdentity":        {"", "Domain", "agents.example", true},
		"capacity":            {"", "On-Demand", true},
		"tableClass":          {"", "Standard", "STANDARD_INFREQUENT_ACCESS", true},
		"capacityTarget":      {19.0, 91.0, "0.6"},
		"tableReadsLeast":     {0.0, "1000001"},
		"tableWritesLeast":    {0.0, "1000001"},
		"indexReadsLeast":     {0.0, "1000001"},
		"indexWritesLeast":    {0.0, "1000001"},
		"logReads":            {0.0, 1.5, "1000001"},
		"dashboard":           {"", "yes"},
		"endpointMetrics":     {"", "no", "False", 0.0},
		"xray":                {"", "yes", "True", 1.0},
		"contributorInsights": {"on", 0.0},
		"restoredTable":       {"ab", "a/b", 1.0},
		"copyTo":              {"eu-west-1", "agentsocial-copies", "arn:aws:backup:eu-west-1:123456789012:backup-vault:*", "arn:aws:s3:::copies", true},
		"copyDays":            {0.0, 36.0, "7 days"},
		"existingSecrets":     {"", "yes"},
		"restoredStream":      {"2026-01-02T03:04:05.678", "arn:aws:dynamodb:eu-central-1:123456789012:table/a.table", 1.0},
	} {
		for _, v := range values {
			_, err := ReadSettings(map[string]any{name: v})
			if err == nil || !strings.Contains(err.Error(), "setting "+name+" is ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s = %#v: got error %v, want one line that names it", name, v, err)
			}
		}
	}
	for _, v := range []any{"", "{}", map[string]any{}, "[]", "off", `{"posts":1}`, map[string]any{"posts_per_hour": 0.5}, 1.0} {
		_, err := ReadSettings(map[string]any{"limits": v})
		if none := v == "" || fmt.Sprint(v) == "{}" || fmt.Sprint(v) == "map[]"; none != (err == nil) || err != nil && !strings.Contains(err.Error(), "limit") {
			t.Errorf("limits = %#v: got error %v, want %s", v, err, map[bool]string{true: "none", false: `one with "limit"`}[none])
		}
	}
}

func TestSettingsThatConflict(t *testing.T) {
	const zone, table, stream = "Z0123", restoredTable, streamARN
	for want, context := range map[string]map[string]any{
		"domain is \"agents.example\" and certificateArn is \"\"": {"domain": "agents.example"},
		"domain is \"\" and certificateArn is":                    {"certificateArn": certificateARN},
		"certificateArn is \"" + certificateARN + "\"; like the API, it must be in the region \"us-east-1\"": {
			"domain": "agents.example", "certificateArn": certificateARN, "region": "us-east-1"},
		"certificateArn is \"" + certificateARN + "\"; like the API, it must be in the account \"210987654321\"": {
			"domain": "agents.example", "certificateArn": certificateARN, "account": "210987654321"},
		"with edge it must be in the region \"us-east-1\": CloudFront takes certificates from that region only": {
			"edge": true, "domain": "agents.example", "certificateArn": certificateARN, "region": "eu-central-1"},
		"with edge it must be in the region \"us-east-1\" and the account \"210987654321\": CloudFront takes": {
			"edge": true, "domain": "agents.example", "certificateArn": edgeCertificateARN, "account": "210987654321"},
		"webAcl is \"own\" and edge is false":              {"webAcl": "own", "region": "us-east-1"},
		"webAcl is \"own\" and region is \"eu-central-1\"": {"edge": true, "webAcl": "own", "region": "eu-central-1"},
		"webAcl is \"own\" and region is \"\"; CloudFront takes web ACLs from us-east-1 only: set region to us-east-1 and": {"edge": true, "webAcl": "own"},
		"the shares that groups and readers have by default together reserve 1246":                                         {"accountConcurrency": 1000.0, "groupConcurrency": `{"feed": 580}`},
		"edgeSecretVersion is \"" + edgeVersion + "\" and edge is":                                                         {"edgeSecretVersion": edgeVersion},
		"hostedZone is \"Z0123\" and domain is empty":                                                                      {"hostedZone": zone},
		"and restoredTable is empty":                                                                                       {"restoredStream": stream},
		"it must belong to the table \"" + table + "2\"":                                                                   {"stage": "dev", "restoredTable": table + "2", "restoredStream": stream},
		"it must be in the region \"eu-west-1\"":                                                                           {"stage": "dev", "restoredTable": table, "restoredStream": stream, "region": "eu-west-1"},
		"it must be in the account \"210987654321\"":                                                                       {"stage": "dev", "restoredTable": table, "restoredStream": stream, "account": "210987654321"},
		"for the stage \"prod\" it must begin with agentsocial-prod-Table":                                                 {"restoredTable": table, "restoredStream": stream},
		"for the stage \"de\" it must begin with agentsocial-de-Table":                                                     {"stage": "de", "restoredTable": table},
		"copyTo is \"" + vaultARN + "\" and region is empty":                                                               {"copyTo": vaultARN},
		"copyTo is \"" + vaultARN + "\"; it must be in another region than \"eu-west-1\" or":                               {"copyTo": vaultARN, "region": "eu-west-1"},
		"it must be in another region than \"eu-west-1\" or, if account is set, in another account":                        {"copyTo": vaultARN, "region": "eu-west-1", "account": "210987654321"},
		"mailFrom is \"no-reply@gmail.com\" and mailIdentity is \"domain\"":                                                {"mailFrom": "no-reply@gmail.com"},
		`groupConcurrency is {"feed":1} and accountConcurrency is 0`:                                                       {"groupConcurrency": `{"feed": 1}`},
		"reserve 80 and accountConcurrency is 10; Lambda requires that 100 stay unreserved: reserve at most 0":             {"accountConcurrency": 10.0, "reservedConcurrency": 10.0},
		"reserve 1246 and accountConcurrency is 1000; Lambda requires that 100 stay unreserved: reserve at most 900":       {"accountConcurrency": 1000.0, "groupConcurrency": `{"feed": 580}`},
		"warmReads is 20000 and tableReads is 12000":                                                                       {"warmReads": 20000.0, "tableReads": 12000.0},
		"warmWrites is 5000 and tableWrites is 4500":                                                                       {"warmWrites": 5000.0, "tableWrites": 4500.0},
		"setting tableReads is 0 and tableReadsLeast is 25":                                                                {"capacity": "provisioned", "tableWrites": 100.0},
		"setting tableWrites is 100 and indexWritesLeast is 101":                                                           {"capacity": "provisioned", "tableReads": 100.0, "tableWrites": 100.0, "indexWritesLeast": 101.0},
		"there is no setting powbits; use one of stage, region":                                                            {"powbits": 20.0},
		"there is no setting baseUrl":                                                                                      {"baseUrl": "https://agents.example"},
	} {
		if _, err := ReadSettings(context); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", context, err, want)
		}
	}
	for where, context := range map[string]map[string]any{
		"another region":                     {"region": "eu-central-1"},
		"another region of the same account": {"region": "eu-central-1", "account": "210987654321"},
		"another account of the same region": {"region": "eu-west-1", "account": "123456789012"},
	} {
		context["copyTo"] = vaultARN
		if _, err := ReadSettings(context); err != nil {
			t.Errorf("copies to %s: got %v, want no error", where, err)
		}
	}
	if _, err := ReadSettings(map[string]any{"mailFrom": "no-reply@gmail.com", "mailIdentity": "address"}); err != nil {
		t.Errorf("a provider's mailbox with mailIdentity address: got %v, want no error", err)
	}
}

func TestSettingsReportEveryError(t *testing.T) {
	_, err := ReadSettings(map[string]any{"stage": "PROD", "powBits": 99.0, "logRetentionDays": "31", "limits": `{"posts_per_hour": 0}`, "log": 1.0,
		"domain": "agents.example", "mailFrom": "no-reply@gmail.com",
		// A refused setting is not also reported as missing.
		"hostedZone": "agents.example", "restoredTable": restoredTable, "restoredStream": "latest"})
	want := `setting stage is "PROD"; it must be 1 to 16 of a-z, 0-9 and -
setting hostedZone is "agents.example"; it must be the id of a Route 53 hosted zone, or empty
setting powBits is 99; it must be 8 to 26
limit posts_per_hour is 0; it must be a whole number from 1 to 1000000000
setting logRetentionDays is "31"; it must be one of 1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653
setting restoredStream is "latest"; it must be the ARN of a table's stream, or empty
there is no setting log; use one of stage, `
	const unfit = `
setting domain is "agents.example" and certificateArn is ""; set both or neither
setting mailFrom is "no-reply@gmail.com" and mailIdentity is "domain"; gmail.com belongs to a mail provider, so you cannot add its DNS records: set mailIdentity to address`
	if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), unfit) {
		t.Errorf("got\n%v\nwant\n%s…%s", err, want, unfit)
	}
}
