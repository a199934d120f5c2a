package main

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"agentsocial/local/dynamodb/dynamodbtest"
	"agentsocial/local/failed"
	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/shared/id"
	"agentsocial/tables"
	"agentsocial/tables/dynamo"
)

const (
	bucketName = "agentsocial-prod-failedbatches-x1"
	karmaARN   = "arn:aws:lambda:eu-central-1:123456789012:function:agentsocial-prod-karmaFunctionB52A"
	inboxARN   = "arn:aws:lambda:eu-central-1:123456789012:function:agentsocial-prod-inboxFunction77C0"
)

// cloud stands in for AWS: DynamoDB is DynamoDB Local, which knows neither
// point-in-time recovery nor tags; of S3 and Lambda there is what is asked here.
type cloud struct {
	t      *testing.T
	config dynamo.Config
	local  *httputil.ReverseProxy
	call   reader // the functions

	mu      sync.Mutex // held while a request is answered
	objects map[string][]byte
	asked   map[string][]map[string]any // what DynamoDB was asked, by operation
	looks   int                         // at a table that is being restored, until it is
	last    int64                       // the newest second that can be restored
	from    map[string]map[string]any   // what tables were restored from, by name
	fails   bool                        // functions fail as a whole
	takes   int                         // bytes of an event, at most
}

// newCloud points the environment at it, as that of a person with credentials.
func newCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{t: t, config: dynamodbtest.Streaming(t), objects: map[string][]byte{}, asked: map[string][]map[string]any{}, from: map[string]map[string]any{}, takes: 6 << 20}
	target, err := url.Parse(c.config.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	c.local = httputil.NewSingleHostReverseProxy(target)
	table := &service.Table{Backend: dynamo.Open(c.config), Now: time.Now}
	if c.call, err = inProcess(job{Table: table, getenv: func(string) string { return "" }}); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": s.URL, "AWS_REGION": "eu-central-1", "AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": "/nowhere", "AWS_SHARED_CREDENTIALS_FILE": "/nowhere",
		"AWS_ENDPOINT_URL_DYNAMODB": "", "AWS_ENDPOINT_URL_S3": "", "AWS_ENDPOINT_URL_LAMBDA": "",
	} {
		t.Setenv(name, value)
	}
	return c
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	service := "s3"
	answer := c.s3
	switch target := r.Header.Get("X-Amz-Target"); {
	case target != "":
		service, answer = "dynamodb", c.dynamodb
	case strings.HasPrefix(r.URL.Path, "/2015-03-31/"):
		service, answer = "lambda", c.lambda
	}
	if by := r.Header.Get("Authorization"); !strings.Contains(by, "Credential=AKID/") || !strings.Contains(by, "/eu-central-1/"+service+"/aws4_request") {
		c.t.Errorf("%s %s is signed %q", r.Method, r.URL, by)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	answer(w, r)
}

// locked has something done to it while nothing is asked.
func (c *cloud) locked(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

func (c *cloud) tableARN(name string) string {
	return "arn:aws:dynamodb:ddblocal:000000000000:table/" + name
}

func (c *cloud) dynamodb(w http.ResponseWriter, r *http.Request) {
	_, op, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	body, err := io.ReadAll(r.Body)
	var in map[string]any
	if err != nil || json.Unmarshal(body, &in) != nil {
		c.t.Errorf("%s: %s %v", op, body, err)
	}
	c.asked[op] = append(c.asked[op], in)
	n := len(c.asked[op])
	say := func(status int, v any) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	type m = map[string]any
	switch op {
	case "DescribeContinuousBackups":
		c.last = time.Now().Add(-time.Hour).Unix()
		if n > 1 { // at first, what is asked for cannot be restored yet
			c.last = time.Now().Add(time.Hour).Unix()
		}
		say(200, m{"ContinuousBackupsDescription": m{"ContinuousBackupsStatus": "ENABLED", "PointInTimeRecoveryDescription": m{
			"PointInTimeRecoveryStatus":  "ENABLED",
			"EarliestRestorableDateTime": time.Now().Add(-35 * 24 * time.Hour).Unix(), "LatestRestorableDateTime": c.last,
		}}})
	case "RestoreTableToPointInTime":
		to := c.config
		to.Table = in["TargetTableName"].(string)
		if at := in["RestoreDateTime"].(float64); at > float64(c.last) {
			c.t.Errorf("restored as it is at %.f, and %d is the last", at, c.last)
		}
		c.looks = 3
		c.from[to.Table] = map[string]any{"SourceTableArn": c.tableARN(c.config.Table), "RestoreDateTime": in["RestoreDateTime"], "RestoreInProgress": false}
		if err := dynamo.CreateTable(r.Context(), to.Client(), to.Table, false); err != nil {
			c.t.Error(err)
		}
		if err := pour(r.Context(), dynamo.Open(c.config), dynamo.Open(to)); err != nil {
			c.t.Error(err)
		}
		say(200, m{"TableDescription": m{"TableStatus": "CREATING"}})
	case "UpdateContinuousBackups":
		if n == 1 {
			say(400, m{"__type": "com.amazonaws.dynamodb.v20120810#ContinuousBackupsUnavailableException"})
			return
		}
		say(200, m{})
	case "ListTagsOfResource":
		if in["NextToken"] == nil {
			say(200, m{"Tags": []m{{"Key": "project", "Value": "agentsocial"}, {"Key": "aws:cloudformation:stack-name", "Value": "agentsocial-prod"}}, "NextToken": "more"})
			return
		}
		say(200, m{"Tags": []m{{"Key": "stage", "Value": "prod"}}})
	case "DescribeTimeToLive": // DynamoDB restores without
		say(200, m{"TimeToLiveDescription": m{"TimeToLiveStatus": map[bool]string{false: "DISABLED", true: "ENABLED"}[len(c.asked["UpdateTimeToLive"]) > 0]}})
	case "TagResource", "UpdateTimeToLive":
		say(200, m{})
	default:
		if c.looks > 0 && in["TableName"] != c.config.Table {
			if c.looks--; op != "DescribeTable" {
				c.t.Errorf("%s of a table that is being restored", op)
			}
			if c.looks == 2 { // at first DynamoDB does not know of it
				say(400, m{"__type": "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"})
				return
			}
			say(200, m{"Table": m{"TableStatus": "CREATING"}})
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		name, _ := in["TableName"].(string)
		if op != "DescribeTable" || c.from[name] == nil {
			c.local.ServeHTTP(w, r)
			return
		}
		var out struct{ Table m }
		local := httptest.NewRecorder()
		c.local.ServeHTTP(local, r)
		if err := json.Unmarshal(local.Body.Bytes(), &out); err != nil {
			c.t.Errorf("%s: %v", local.Body, err)
		}
		out.Table["RestoreSummary"] = c.from[name]
		say(200, out)
	}
}

// lambda lists mappings, page by page, and calls functions.
func (c *cloud) lambda(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/2015-03-31/event-source-mappings" {
		if arn := r.URL.Query().Get("EventSourceArn"); !strings.HasPrefix(arn, c.tableARN(c.config.Table)) {
			c.t.Errorf("mappings of %q", arn)
		}
		arn, next := inboxARN, `,"NextMarker":"2"`
		if r.URL.Query().Get("Marker") == "2" {
			arn, next = karmaARN, ""
		}
		fmt.Fprintf(w, `{"EventSourceMappings":[{"UUID":"u","FunctionArn":%q,"DestinationConfig":{"OnFailure":{"Destination":"arn:aws:s3:::%s"}}}]%s}`, arn, bucketName, next)
		return
	}
	arn := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/2015-03-31/functions/"), "/invocations")
	name := map[string]string{karmaARN: "karma", inboxARN: "inbox"}[arn]
	body, err := io.ReadAll(r.Body)
	if name == "" || err != nil {
		c.t.Errorf("a call of %s with %d bytes, %v", arn, len(body), err)
	}
	if len(body) > c.takes {
		w.Header().Set("X-Amzn-Errortype", "RequestTooLargeException")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		fmt.Fprint(w, `{"Type":"User","Message":"Request must be smaller"}`)
		return
	}
	if c.fails {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		fmt.Fprint(w, `{"errorMessage":"host: the first of 2 records cannot be worked off"}`)
		return
	}
	records, err := recordsOf(body)
	if err != nil {
		c.t.Error(err)
	}
	n, err := c.call(r.Context(), &failed.Batch{Request: failed.Request{FunctionARN: name}}, records)
	if err != nil {
		c.t.Error(err)
	}
	switch {
	case n == len(records):
		fmt.Fprint(w, `{"batchItemFailures":[]}`)
	case n == 0 && len(records) > 1:
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		fmt.Fprint(w, `{"errorMessage":"host"}`)
	default:
		fmt.Fprintf(w, `{"batchItemFailures":[{"itemIdentifier":%q}]}`, records[n].seq)
	}
}

// s3 lists one object a page, gives, takes and removes.
func (c *cloud) s3(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != bucketName {
		c.t.Errorf("%s of bucket %q", r.Method, bucket)
	}
	switch {
	case r.Method == http.MethodGet && key == "":
		type object struct{ Key string }
		var list struct {
			XMLName               xml.Name `xml:"ListBucketResult"`
			IsTruncated           bool
			NextContinuationToken string `xml:",omitempty"`
			Contents              []object
		}
		var keys []string
		for k := range c.objects {
			if strings.HasPrefix(k, r.URL.Query().Get("prefix")) && k > r.URL.Query().Get("continuation-token") {
				keys = append(keys, k)
			}
		}
		slices.Sort(keys)
		if len(keys) > 0 {
			list.Contents = []object{{keys[0]}}
			list.IsTruncated, list.NextContinuationToken = len(keys) > 1, keys[0]
		}
		_ = xml.NewEncoder(w).Encode(list)
	case r.Method == http.MethodGet && c.objects[key] != nil:
		_, _ = w.Write(c.objects[key])
	case r.Method == http.MethodPut:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			c.t.Error(err)
		}
		c.objects[key] = body
	case r.Method == http.MethodDelete:
		delete(c.objects, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// all that DynamoDB was asked by an operation.
func (c *cloud) all(op string) (asked []map[string]any) {
	c.locked(func() { asked = slices.Clone(c.asked[op]) })
	return asked
}

func (c *cloud) keys() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var keys []string
	for k := range c.objects {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// leave puts a batch into the bucket, as Lambda does.
func (c *cloud) leave(function, name string, records []tables.StreamRecord) {
	c.t.Helper()
	b, err := failed.New("x", 11, time.Now(), records)
	if err != nil {
		c.t.Fatal(err)
	}
	b.Request.FunctionARN, b.Place.Stream = function, c.tableARN(c.config.Table)+"/stream/2026-11-22T00:00:00.000"
	text, err := json.Marshal(b)
	if err != nil {
		c.t.Fatal(err)
	}
	c.locked(func() { c.objects[failed.Prefix+"aaaa-uuid/"+name] = text })
}

var fox = id.Agent.Derive(time.UnixMilli(1_790_000_000_000), "fox")

// peopled puts an agent and a purchase that no reader has added up into a table,
// and gives the records of that: the last cannot be read.
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

// Everything works against a deployed table too.
func TestDeployed(t *testing.T) {
	c := newCloud(t)
	records := peopled(t, dynamo.Open(c.config))
	env := map[string]string{"TABLE": "aws:" + c.config.Table, "HANDLE": "fox"}
	name := c.config.Table

	out, err := makes(t, "operator", env)
	says(t, out, err, "the DynamoDB table "+name+" in eu-central-1", "@fox ("+fox+") is an operator")
	out, err = makes(t, "audit", env)
	says(t, out, err, "movements   1, of which 1 wait", "agents          5.000000 USD  1 of them")

	const whole, part = "shardId-1/2026/11/22/2026-11-22T01.00.00-b", "shardId-2/2026/11/21/2026-11-21T01.00.00-z"
	c.leave(karmaARN, whole, records[:1])
	c.leave(karmaARN, part, records)
	c.locked(func() {
		c.objects["access-log"] = []byte("is no batch, and not where they are")
		c.fails = true
	})
	if out, err := makes(t, "redrive", env); !errors.Is(err, errStay) || !strings.Contains(out, "0 of 2 failed") || len(c.keys()) != 3 {
		t.Errorf("functions that fail: %s %v", out, err)
	}
	c.locked(func() { c.fails = false })
	out, err = makes(t, "redrive", env)
	if !errors.Is(err, errStay) || len(c.keys()) != 2 {
		t.Errorf("%v %v", err, c.keys())
	}
	says(t, out, nil, "s3://"+bucketName, "passed      aws/lambda/aaaa-uuid/"+whole, part+": 1 of its 2 records fail again", "1 of 2 failed")
	if strings.Index(out, part) > strings.Index(out, whole) {
		t.Errorf("the oldest is not the first:\n%s", out)
	}
	out, err = makes(t, "audit", env)
	says(t, out, err, "movements   1, of which 0 wait")
	c.locked(func() {
		delete(c.objects, failed.Prefix+"aaaa-uuid/"+part)
		c.objects[failed.Prefix+"foreign"] = []byte("{}")
	})
	if out, err := makes(t, "redrive", env); !errors.Is(err, errStay) || !strings.Contains(out, "it is no failed batch") {
		t.Errorf("%s %v", out, err)
	}
	c.locked(func() { delete(c.objects, failed.Prefix+"foreign") })

	// What a batch names is not what is called: a function of the reader, whatever it
	// was called when it gave the batch up.
	c.leave("arn:aws:lambda:eu-central-1:123456789012:function:payroll", whole, records[:1])
	if out, err := makes(t, "redrive", env); !errors.Is(err, errStay) || !strings.Contains(out, "function:payroll is none of this table's readers") {
		t.Errorf("%s %v", out, err)
	}
	// And it is halved if it is too large.
	c.leave(karmaARN+"OLD:$LATEST", whole, []tables.StreamRecord{records[0], records[0], records[0]})
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
		err := verbs[verb](t.Context(), job{
			Table: table, getenv: func(name string) string { return vars[name] }, out: &said,
			look: time.Millisecond, patience: 100 * time.Millisecond,
		})
		return said.String(), err
	}
	out, err = does("restore-drill", time.Time{})
	says(t, out, err, "restoring   "+name+"-drill-", "items stood unchanged", "come to zero", "the backup is good, and removed")
	if asked := c.all("RestoreTableToPointInTime"); len(asked) != 1 || asked[0]["SourceTableName"] != name || asked[0]["RestoreDateTime"] == nil {
		t.Errorf("%v", asked)
	}
	if d := c.all("DeleteTable"); len(d) != 1 || !strings.HasPrefix(d[0]["TableName"].(string), name+"-drill-") {
		t.Errorf("%v", d)
	}

	// What is restored for good can be written to, read and restored like the one
	// it is made from, and what its readers may have missed is kept.
	for _, at := range []time.Time{time.Now().Add(2 * time.Hour), time.Now().Add(-40 * 24 * time.Hour)} {
		if _, err := does("restore", at); err == nil || !strings.Contains(err.Error(), "can be had as it was from") {
			t.Errorf("%s: %v", at, err)
		}
	}
	at := time.Now().Add(2 * time.Minute) // DynamoDB Local's streams know minutes
	out, err = does("restore", at)
	restored := c.all("RestoreTableToPointInTime")[1]["TargetTableName"].(string)
	t.Cleanup(func() {
		protect(restored, false)
		if err := remove(context.Background(), c.config.Client(), restored); err != nil {
			t.Error(err)
		}
	})
	says(t, out, err,
		`"restoredTable": "`+restored+`"`, `"restoredStream": "`+c.tableARN(restored)+"/stream/", "make redrive TABLE=aws:"+restored+" AT=20", "come to zero", "replay      2 batches",
	)
	if strings.Index(out, `"restoredTable"`) > strings.Index(out, "come to zero") {
		t.Errorf("what the table is for is said after hours of reading:\n%s", out)
	}
	for op, want := range map[string]string{
		"UpdateTimeToLive":        `{"TableName":"R","TimeToLiveSpecification":{"AttributeName":"ttl","Enabled":true}}`,
		"UpdateContinuousBackups": `{"PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true},"TableName":"R"}`,
		"TagResource":             `{"ResourceArn":"` + c.tableARN("R") + `","Tags":[{"Key":"project","Value":"agentsocial"},{"Key":"stage","Value":"prod"}]}`,
		"UpdateTable":             `{"DeletionProtectionEnabled":true,"TableName":"R"}`,
	} {
		asked := c.all(op)
		last, err := json.Marshal(asked[len(asked)-1])
		if got := strings.ReplaceAll(string(last), restored, "R"); err != nil || got != want {
			t.Errorf("%s: %s, want %s", op, got, want)
		}
	}

	// One that was broken off is gone on with, and what is done is not done again.
	updates := func() int { return len(c.all("UpdateTable")) + len(c.all("UpdateTimeToLive")) }
	n := updates()
	vars["RESTORED"] = restored
	out, err = does("restore", at)
	says(t, out, err, `"restoredTable": "`+restored+`"`, `"restoredStream": "`+c.tableARN(restored)+"/stream/", "come to zero")
	if updates() != n || len(c.all("RestoreTableToPointInTime")) != 2 {
		t.Errorf("%d updates, and were %d; restored %v", updates(), n, c.all("RestoreTableToPointInTime"))
	}
	for _, x := range []struct {
		name string
		at   time.Time
		says string
	}{{restored, at.Add(-time.Second), "is not restored from"}, {name, at, "is not restored from"}, {name + "-none", at, "ResourceNotFoundException"}} {
		vars["RESTORED"] = x.name
		if out, err := does("restore", x.at); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %s %v", x.name, out, err)
		}
	}
	out, err = makes(t, "redrive", env)
	says(t, out, err, "failed batches passed")
	out, err = does("replay", time.Now().Add(2*time.Minute))
	says(t, out, err, "replay      2 batches")
	out, err = does("replay", time.Now().Add(-24*time.Hour))
	says(t, out, err, "the stream has forgotten", "replay      0 batches")
	c.leave(karmaARN, part, records)

	// The restored table takes of the other's batches what was written by the moment
	// that they have in common, if that is said. The rest stays, for a way back.
	env["TABLE"] = "aws:" + restored
	out, err = makes(t, "redrive", env)
	if !errors.Is(err, errStay) || strings.Count(out, "it is of another table, "+name+":") != 3 || len(c.keys()) != 4 {
		t.Errorf("%s %v", out, err)
	}
	env["AT"] = time.Now().Add(-time.Hour).Format(time.RFC3339) // before all of it, poison included
	out, err = makes(t, "redrive", env)
	says(t, out, err, part+": 2 of its 2 records were written later", "0 of 3 failed batches passed")
	if len(c.keys()) != 4 {
		t.Errorf("%v", c.keys())
	}
	c.leave(karmaARN, part, records[:1])
	env["AT"] = at.UTC().Format(time.RFC3339)
	out, err = makes(t, "redrive", env)
	says(t, out, err, "3 of 3 failed batches passed")
	if keys := c.keys(); !slices.Equal(keys, []string{"access-log"}) {
		t.Errorf("%v", keys)
	}
}

// DynamoDB Local is looked after in the same way. It is one process's: here each
// verb has the one table.
func TestDynamoDBLocal(t *testing.T) {
	dynamodbtest.Config(t) // or the test is skipped
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "dynamodb-local"), 0o700); err != nil { // as a run leaves it
		t.Fatal(err)
	}
	table, err := service.OpenTable(t.Context(), "dynamodb-local", dir)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	records := peopled(t, table)
	b, err := failed.New("karma", 10, time.Now(), records[:1])
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
		{"audit", []string{"movements   1, of which 1 wait"}},
		{"redrive", []string{"1 of 1 failed batches passed"}},
		{"audit", []string{"movements   1, of which 0 wait"}},
		{"restore-drill", []string{"items stood unchanged", "the backup is good, and removed"}},
		{"restore-drill", []string{"items stood unchanged", "the backup is good, and removed"}},
	} {
		var out bytes.Buffer
		j := job{Table: table, out: &out, getenv: func(name string) string { return map[string]string{"HANDLE": "fox"}[name] }}
		err := verbs[x.verb](t.Context(), j)
		says(t, out.String(), err, x.says...)
	}
	items, err := table.Get(t.Context(), tables.Strong, tables.ProfileKey(fox))
	if err != nil || !items[0].Bool("operator") {
		t.Errorf("%v %v", items, err)
	}
}
