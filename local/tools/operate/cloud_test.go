package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentsocial/local/engines/dynamodb/dynamodbtest"
	"agentsocial/local/service"
	"agentsocial/local/service/failed"
	"agentsocial/tables"
	"agentsocial/tables/dynamo"
)

// cloud stands in for AWS: DynamoDB Local with point-in-time recovery and tags, and parts
// of S3 and Lambda.
type cloud struct {
	t      *testing.T
	config dynamo.Config
	local  *httputil.ReverseProxy
	call   reader // runs the functions

	mu      sync.Mutex // held while a request is answered
	objects map[string][]byte
	asked   map[string][]map[string]any // requests to DynamoDB, by operation
	looks   int                         // number of requests until a restored table is ready
	last    int64                       // the newest second that can be restored
	from    map[string]map[string]any   // what each restored table was made from, by its name
	fails   bool                        // functions fail every batch
	takes   int                         // bytes of the largest event that functions accept
}

// newCloud starts a cloud and points the environment at it.
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
		c.t.Errorf("%s %s: got the signature %q, want one by AKID for %s in eu-central-1", r.Method, r.URL, by, service)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	answer(w, c.here(r))
}

// here puts the test's own access key and region into a request. DynamoDB Local finds its
// tables by them, and checks no signature.
func (c *cloud) here(r *http.Request) *http.Request {
	own, err := c.config.Credentials.Retrieve(r.Context())
	if err != nil {
		c.t.Error(err)
	}
	by := strings.Replace(r.Header.Get("Authorization"), "Credential=AKID/", "Credential="+own.AccessKeyID+"/", 1)
	r.Header.Set("Authorization", strings.Replace(by, "/eu-central-1/", "/"+c.config.Region+"/", 1))
	return r
}

// locked calls the function do. Meanwhile no request is answered.
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
		c.t.Errorf("%s: got body %s, error %v; want a JSON object", op, body, err)
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
		if n > 1 { // at first the requested time cannot be restored yet
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
			c.t.Errorf("restored to %.f, want at most %d", at, c.last)
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
	case "DescribeTimeToLive": // DynamoDB does not restore it
		say(200, m{"TimeToLiveDescription": m{"TimeToLiveStatus": map[bool]string{false: "DISABLED", true: "ENABLED"}[len(c.asked["UpdateTimeToLive"]) > 0]}})
	case "TagResource", "UpdateTimeToLive":
		say(200, m{})
	default:
		if c.looks > 0 && in["TableName"] != c.config.Table {
			if c.looks--; op != "DescribeTable" {
				c.t.Errorf("got a %s of a table that is still being restored", op)
			}
			if c.looks == 2 { // at first DynamoDB does not know the table
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

// lambda lists mappings page by page, and calls functions.
func (c *cloud) lambda(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/2015-03-31/event-source-mappings" {
		if arn := r.URL.Query().Get("EventSourceArn"); !strings.HasPrefix(arn, c.tableARN(c.config.Table)) {
			c.t.Errorf("got a request for the mappings of %q, want the stream of the test's table", arn)
		}
		arn, next := inboxARN, `,"NextMarker":"2"`
		if r.URL.Query().Get("Marker") == "2" {
			arn, next = tallyARN, ""
		}
		fmt.Fprintf(w, `{"EventSourceMappings":[{"UUID":"u","FunctionArn":%q,"DestinationConfig":{"OnFailure":{"Destination":"arn:aws:s3:::%s"}}}]%s}`, arn, bucketName, next)
		return
	}
	arn := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/2015-03-31/functions/"), "/invocations")
	name := map[string]string{tallyARN: "tally", inboxARN: "inbox"}[arn]
	body, err := io.ReadAll(r.Body)
	if name == "" || err != nil {
		c.t.Errorf("got a call of %s with %d bytes, error %v; want a call of tally or inbox", arn, len(body), err)
	}
	if len(body) > c.takes {
		w.Header().Set("X-Amzn-Errortype", "RequestTooLargeException")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		fmt.Fprint(w, `{"Type":"User","Message":"Request must be smaller"}`)
		return
	}
	if c.fails {
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		fmt.Fprint(w, `{"errorMessage":"host: the first of 2 records failed"}`)
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

// s3 lists one object per page, and gets, puts and deletes objects.
func (c *cloud) s3(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != bucketName {
		c.t.Errorf("got a %s of bucket %q, want bucket %q", r.Method, bucket, bucketName)
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

// all returns the requests to an operation of DynamoDB.
func (c *cloud) all(op string) (asked []map[string]any) {
	c.locked(func() { asked = slices.Clone(c.asked[op]) })
	return asked
}

func (c *cloud) counts() map[string]int {
	n := map[string]int{}
	c.locked(func() {
		for op, asked := range c.asked {
			n[op] = len(asked)
		}
	})
	return n
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
