package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"agentsocial/local/engines/dynamodb/dynamodbtest"
	"agentsocial/local/service"
	"agentsocial/local/service/failed"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
	"agentsocial/tables/dynamo"
	"agentsocial/tables/id"
)

const (
	bucketName = "agentsocial-prod-failedbatches-x1"
	tallyARN   = "arn:aws:lambda:eu-central-1:123456789012:function:agentsocial-prod-tallyFunctionB52A"
	inboxARN   = "arn:aws:lambda:eu-central-1:123456789012:function:agentsocial-prod-inboxFunction77C0"
)

var fox = id.Agent.Derive(time.UnixMilli(1_790_000_000_000), "fox")

// peopled writes an agent to a table, and a purchase that no reader has summed. It
// returns the purchase's stream record, and a record that cannot be read.
func peopled(t *testing.T, table tables.Backend) []tables.StreamRecord {
	t.Helper()
	profile := &tables.Profile{ID: fox, Handle: "fox", State: tables.StateActive, Epoch: 1}
	claim := tables.HandleKey("fox")
	writes := []tables.Write{
		tables.Put(profile.Item()),
		tables.Put(tables.Item{tables.AttrPK: claim.PK, tables.AttrSK: claim.SK, tables.AttrType: tables.TypeClaim, "agent": fox}),
	}
	writes = append(writes, transcripts.Credit(fox, 5_000_000, time.Now(), "cs_1")...)
	if err := table.Commit(t.Context(), tables.Tx{Writes: writes}); err != nil {
		t.Fatal(err)
	}
	movement := writes[2].Item
	poison := tables.Item{"pk": "A#x", "sk": "L#x", tables.AttrType: tables.TypeMovement, "micro_usd": "many"}
	return []tables.StreamRecord{
		{Shard: "shardId-1", Seq: "100", Event: "INSERT", At: time.Now(), Key: movement.Key(), New: movement},
		{Shard: "shardId-1", Seq: "101", Event: "INSERT", At: time.Now(), Key: poison.Key(), New: poison},
	}
}

func TestDeployed(t *testing.T) {
	c := newCloud(t)
	records := peopled(t, dynamo.Open(c.config))
	env := map[string]string{"TABLE": "aws:" + c.config.Table, "HANDLE": "fox"}
	name := c.config.Table

	out, err := makes(t, "operator", env)
	says(t, out, err, "the DynamoDB table "+name+" in eu-central-1", "@fox ("+fox+") is an operator")
	out, err = makes(t, "audit", env)
	says(t, out, err, "movements   1, of which 1 are not summed", "agents          5.000000 USD  1 agents")

	const whole, part = "shardId-1/2026/11/22/2026-11-22T01.00.00-b", "shardId-2/2026/11/21/2026-11-21T01.00.00-z"
	c.leave(tallyARN, whole, records[:1])
	c.leave(tallyARN, part, records)
	c.locked(func() {
		c.objects["access-log"] = []byte("is no batch, and not where they are")
		c.fails = true
	})
	if out, err := makes(t, "redrive", env); !errors.Is(err, errStay) || !strings.Contains(out, "0 of 2 failed") || len(c.keys()) != 3 {
		t.Errorf("with failing functions: got output %s, error %v, objects %q; want errStay, 0 of 2 passed and 3 objects", out, err, c.keys())
	}
	c.locked(func() { c.fails = false })
	out, err = makes(t, "redrive", env)
	if !errors.Is(err, errStay) || len(c.keys()) != 2 {
		t.Errorf("a batch with an unreadable record: got error %v, objects %q; want errStay and 2 objects", err, c.keys())
	}
	says(t, out, nil, "s3://"+bucketName, "passed      aws/lambda/aaaa-uuid/"+whole, part+": 1 of its 2 records failed again", "1 of 2 failed")
	if strings.Index(out, part) > strings.Index(out, whole) {
		t.Errorf("the oldest batch is not first:\n%s", out)
	}
	out, err = makes(t, "audit", env)
	says(t, out, err, "movements   1, of which 0 are not summed")
	c.locked(func() {
		delete(c.objects, failed.Prefix+"aaaa-uuid/"+part)
		c.objects[failed.Prefix+"foreign"] = []byte("{}")
	})
	if out, err := makes(t, "redrive", env); !errors.Is(err, errStay) || !strings.Contains(out, "not a failed batch") {
		t.Errorf("a foreign object: got output %s, error %v; want errStay and \"not a failed batch\"", out, err)
	}
	c.locked(func() { delete(c.objects, failed.Prefix+"foreign") })

	// The command calls only readers of the table, whatever a batch names.
	c.leave("arn:aws:lambda:eu-central-1:123456789012:function:payroll", whole, records[:1])
	if out, err := makes(t, "redrive", env); !errors.Is(err, errStay) || !strings.Contains(out, "function:payroll is not a reader of this table") {
		t.Errorf("a foreign function: got output %s, error %v; want errStay, and that it is not a reader", out, err)
	}
	// A batch that is too large is halved.
	c.leave(tallyARN+"OLD:$LATEST", whole, []tables.StreamRecord{records[0], records[0], records[0]})
	c.locked(func() {
		b, err := failed.Read(c.objects[failed.Prefix+"aaaa-uuid/"+whole])
		if err != nil {
			t.Fatal(err)
		}
		c.takes = len(b.Event) - 1
	})
	out, err = makes(t, "redrive", env)
	says(t, out, err, whole+": 3 records", "1 of 1 failed")
	c.locked(func() { c.takes = 6 << 20 })

	var said bytes.Buffer
	protect := func(table string, is bool) {
		t.Helper()
		_, err := c.config.Client().UpdateTable(context.Background(), &dynamodb.UpdateTableInput{TableName: &table, DeletionProtectionEnabled: &is})
		if err != nil {
			t.Error(err)
		}
	}
	protect(name, true)
	t.Cleanup(func() { protect(name, false) })
	table, err := service.OpenTable(t.Context(), env["TABLE"], "")
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{}
	does := func(verb string, at time.Time) (string, error) {
		said.Reset()
		vars["AT"] = at.UTC().Format(time.RFC3339)
		before := c.counts()
		err := verbs[verb](t.Context(), job{
			Table: table, getenv: func(name string) string { return vars[name] }, out: &said,
			look: time.Millisecond, patience: time.Second,
		})
		for op, n := range c.counts() {
			if n > before[op] && !granted(t, verb)[op] {
				t.Errorf("make %s calls %s, which the runbook's table of permissions does not grant", verb, op)
			}
		}
		return said.String(), err
	}
	out, err = does("restore-drill", time.Time{})
	says(t, out, err, "restoring   "+name+"-drill-", "items were the same", "sum to zero", "the copy is good, and was removed")
	if asked := c.all("RestoreTableToPointInTime"); len(asked) != 1 || asked[0]["SourceTableName"] != name || asked[0]["RestoreDateTime"] == nil {
		t.Errorf("got restores %v, want one of the table to a time", asked)
	}
	if d := c.all("DeleteTable"); len(d) != 1 || !strings.HasPrefix(d[0]["TableName"].(string), name+"-drill-") {
		t.Errorf("got deletions %v, want one of the drill's table", d)
	}

	// A restored table is set up like its source, and missed changes become failed batches.
	for _, at := range []time.Time{time.Now().Add(2 * time.Hour), time.Now().Add(-40 * 24 * time.Hour)} {
		if _, err := does("restore", at); err == nil || !strings.Contains(err.Error(), "can be restored to times from") {
			t.Errorf("AT=%s: got error %v, want the possible times", at, err)
		}
	}
	at := time.Now().Add(2 * time.Minute) // DynamoDB Local cuts the times in its streams to the minute
	out, err = does("restore", at)
	restored := c.all("RestoreTableToPointInTime")[1]["TargetTableName"].(string)
	t.Cleanup(func() {
		protect(restored, false)
		if err := remove(context.Background(), c.config.Client(), restored); err != nil {
			t.Error(err)
		}
	})
	says(t, out, err,
		`"restoredTable": "`+restored+`"`, `"restoredStream": "`+c.tableARN(restored)+"/stream/", "\"Restore\", from step 4", "then save the failed batches (step 6), and run `make redrive TABLE=aws:"+restored+" AT=20", "sum to zero", "replay      2 batches",
	)
	if strings.Index(out, `"restoredTable"`) > strings.Index(out, "sum to zero") {
		t.Errorf("the settings come after the long read, want them before:\n%s", out)
	}
	c.setUp(restored)

	// An interrupted restore continues.
	updates := func() int { return len(c.all("UpdateTable")) + len(c.all("UpdateTimeToLive")) }
	n := updates()
	vars["RESTORED"] = restored
	out, err = does("restore", at)
	says(t, out, err, `"restoredTable": "`+restored+`"`, `"restoredStream": "`+c.tableARN(restored)+"/stream/", "sum to zero")
	if updates() != n || len(c.all("RestoreTableToPointInTime")) != 2 {
		t.Errorf("restore again: got %d updates, want %d; restores %v, want 2", updates(), n, c.all("RestoreTableToPointInTime"))
	}
	for _, x := range []struct {
		name string
		at   time.Time
		says string
	}{{restored, at.Add(-time.Second), "is not a restore of"}, {name, at, "is not a restore of"}, {name + "-none", at, "ResourceNotFoundException"}} {
		vars["RESTORED"] = x.name
		if out, err := does("restore", x.at); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("RESTORED=%s: got output %s, error %v; want %q", x.name, out, err, x.says)
		}
	}
	out, err = makes(t, "redrive", env)
	says(t, out, err, "failed batches passed")
	out, err = does("replay", time.Now().Add(2*time.Minute))
	says(t, out, err, "replay      2 batches", "then run `make redrive`")
	out, err = does("replay", time.Now().Add(-24*time.Hour))
	says(t, out, err, "the stream no longer has", "replay      no changes were found", "there is nothing to redrive")
	if strings.Contains(out, "make redrive") {
		t.Errorf("a replay of nothing: got output\n%s\nwant no advice to redrive", out)
	}
	c.leave(tallyARN, part, records)

	// With AT, the restored table processes the other table's records up to that time.
	// Later records stay, in case the operator goes back to the other table.
	env["TABLE"] = "aws:" + restored
	out, err = makes(t, "redrive", env)
	if !errors.Is(err, errStay) || strings.Count(out, "it belongs to another table, "+name+":") != 3 || len(c.keys()) != 4 {
		t.Errorf("batches of another table: got output %s, error %v, objects %q; want errStay, 3 batches of another table and 4 objects", out, err, c.keys())
	}
	env["AT"] = time.Now().Add(-time.Hour).Format(time.RFC3339) // before all records, including the one that cannot be read
	out, err = makes(t, "redrive", env)
	says(t, out, err, part+": 2 of its 2 records were written after AT", "0 of 3 failed batches passed")
	if len(c.keys()) != 4 {
		t.Errorf("redrive with an early AT: got objects %q, want 4", c.keys())
	}
	c.leave(tallyARN, part, records[:1])
	env["AT"] = at.UTC().Format(time.RFC3339)
	out, err = makes(t, "redrive", env)
	says(t, out, err, "3 of 3 failed batches passed")
	if keys := c.keys(); !slices.Equal(keys, []string{"access-log"}) {
		t.Errorf("redrive with AT: got objects %q, want only the access log", keys)
	}
}

func TestAdopt(t *testing.T) {
	c := newCloud(t)
	restored := c.config
	restored.Table += "-copy"
	client := c.config.Client()
	if err := dynamo.CreateTable(t.Context(), client, restored.Table, false); err != nil {
		t.Fatal(err)
	}
	protect := func(table string, is bool) {
		t.Helper()
		if _, err := client.UpdateTable(context.Background(), &dynamodb.UpdateTableInput{TableName: &table, DeletionProtectionEnabled: &is}); err != nil {
			t.Error(err)
		}
	}
	protect(c.config.Table, true)
	t.Cleanup(func() {
		protect(c.config.Table, false)
		protect(restored.Table, false)
		if err := remove(context.Background(), client, restored.Table); err != nil {
			t.Error(err)
		}
	})
	peopled(t, dynamo.Open(restored))
	at := time.Now()
	env := map[string]string{"TABLE": "aws:" + c.config.Table, "RESTORED": restored.Table}
	c.locked(func() { c.from[restored.Table] = map[string]any{"SourceTableArn": c.tableARN(c.config.Table)} })
	for name, want := range map[string]string{"": "RESTORED is empty", restored.Table + "-none": "ResourceNotFoundException", c.config.Table: "restore the copy to another name", restored.Table: "was not restored from a backup"} {
		if _, err := makes(t, "adopt", map[string]string{"TABLE": env["TABLE"], "RESTORED": name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("RESTORED=%s: got error %v, want %q", name, err, want)
		}
	}
	c.locked(func() {
		c.from[restored.Table] = map[string]any{"SourceBackupArn": "arn:aws:backup:eu-west-1:123456789012:recovery-point:1", "RestoreDateTime": at.Unix(), "RestoreInProgress": false}
	})
	table, err := service.OpenTable(t.Context(), env["TABLE"], "")
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	var out bytes.Buffer
	before := c.counts()
	err = adopt(t.Context(), job{Table: table, getenv: func(name string) string { return env[name] }, out: &out, look: time.Millisecond, patience: time.Second})
	says(t, out.String(), err, "replay      1 batches", `"restoredTable": "`+restored.Table+`"`, `"restoredStream": "`+c.tableARN(restored.Table)+"/stream/",
		"then run `make redrive TABLE=aws:"+restored.Table+" AT=20", "movements   1, of which 1 are not summed", "sum to zero")
	for op, n := range c.counts() {
		if n > before[op] && !granted(t, "adopt")[op] {
			t.Errorf("make adopt calls %s, which the runbook's table of permissions does not grant", op)
		}
	}
	c.setUp(restored.Table)

	// The stage now uses the restored table.
	redrive := map[string]string{"TABLE": "aws:" + restored.Table, "AT": time.Now().Add(time.Minute).UTC().Format(time.RFC3339)}
	if c.call, err = inProcess(job{Table: &service.Table{Backend: dynamo.Open(restored), Now: time.Now}, getenv: func(string) string { return "" }}); err != nil {
		t.Fatal(err)
	}
	said, err := makes(t, "redrive", redrive)
	says(t, said, err, "1 of 1 failed batches passed")
	said, err = makes(t, "audit", redrive)
	says(t, said, err, "movements   1, of which 0 are not summed", "sum to zero")
}

func TestPrefixOf(t *testing.T) {
	for table, want := range map[string]string{"agentsocial-prod-TableCD117FA1-1A2B": "agentsocial-prod-Table", "agentsocial": ""} {
		if got := prefixOf(table); got != want {
			t.Errorf("prefixOf(%q): got %q, want %q", table, got, want)
		}
	}
}

// Only one process can run DynamoDB Local on a folder, so all commands share one table
// here.
func TestDynamoDBLocal(t *testing.T) {
	dynamodbtest.Config(t) // skips the test without Java
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dynamodb-local"), 0o700); err != nil { // make run leaves this folder
		t.Fatal(err)
	}
	table, err := service.OpenTable(t.Context(), "dynamodb-local", dir)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	records := peopled(t, table)
	b, err := failed.New("tally", 10, time.Now(), records[:1])
	if err == nil {
		err = failed.Folder(filepath.Join(dir, "failed", "dynamodb-local")).Put(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		verb string
		says []string
	}{
		{"operator", []string{"@fox (" + fox + ") is an operator"}},
		{"audit", []string{"movements   1, of which 1 are not summed"}},
		{"redrive", []string{"1 of 1 failed batches passed"}},
		{"audit", []string{"movements   1, of which 0 are not summed"}},
		{"restore-drill", []string{"items were the same", "the copy is good, and was removed"}},
		{"restore-drill", []string{"items were the same", "the copy is good, and was removed"}},
	} {
		var out bytes.Buffer
		j := job{Table: table, out: &out, getenv: func(name string) string { return map[string]string{"HANDLE": "fox"}[name] }}
		err := verbs[x.verb](t.Context(), j)
		says(t, out.String(), err, x.says...)
	}
	items, err := table.Get(t.Context(), tables.Strong, tables.ProfileKey(fox))
	if err != nil || !items[0].Bool("operator") {
		t.Errorf("operator: got items %v, error %v; want the profile of an operator", items, err)
	}
}

// granted returns the actions that the runbook's table of permissions has for a command. A
// row may refer to another ("those of `make replay`"), and may leave an action out ("without").
func granted(t *testing.T, verb string) map[string]bool {
	t.Helper()
	book, err := os.ReadFile("../../../infra/RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	_, row, ok := strings.Cut(string(book), "\n| `make "+verb+"` | ")
	if !ok {
		t.Fatalf("the runbook's table of permissions has no row for make %s", verb)
	}
	row, _, _ = strings.Cut(row, "\n")
	actions := map[string]bool{}
	for _, other := range regexp.MustCompile("`make ([a-z-]+)`").FindAllStringSubmatch(row, -1) {
		maps.Copy(actions, granted(t, other[1]))
	}
	for _, action := range regexp.MustCompile("(without )?`(?:[a-z0-9]+:)?([A-Z][A-Za-z]+)`").FindAllStringSubmatch(row, -1) {
		actions[action[2]] = action[1] == ""
	}
	return actions
}

// setUp checks that the last requests set a restored table up like its source.
func (c *cloud) setUp(restored string) {
	c.t.Helper()
	for op, want := range map[string]string{
		"UpdateTimeToLive":        `{"TableName":"R","TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}}`,
		"UpdateContinuousBackups": `{"PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true},"TableName":"R"}`,
		"TagResource":             `{"ResourceArn":"` + c.tableARN("R") + `","Tags":[{"Key":"project","Value":"agentsocial"},{"Key":"stage","Value":"prod"}]}`,
		"UpdateTable":             `{"DeletionProtectionEnabled":true,"TableName":"R"}`,
	} {
		asked := c.all(op)
		last, err := json.Marshal(asked[len(asked)-1])
		if got := strings.ReplaceAll(string(last), restored, "R"); err != nil || got != want {
			c.t.Errorf("%s: got %s, want %s", op, got, want)
		}
	}
}
