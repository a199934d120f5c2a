package table

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
	"agentsocial/tables"
)

// answers is an HTTP client that gives the same answer to each call.
type answers struct {
	status int
	err    error
}

func (a answers) Do(*http.Request) (*http.Response, error) {
	if a.err != nil {
		return nil, a.err
	}
	return &http.Response{StatusCode: a.status}, nil
}

func TestTraced(t *testing.T) {
	daemon, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	now := time.UnixMicro(1_700_000_000_250_000)
	a := &app.App{Now: func() time.Time { return now }, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)}
	const sampled = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=a:0"
	for _, c := range []struct {
		header string
		next   answers
		want   string // the flags of the document; "" for no document
	}{
		{sampled, answers{status: 200}, "false false false"},
		{sampled, answers{status: 400}, "false true false"},
		{sampled, answers{status: 429}, "false true true"},
		{sampled, answers{status: 500}, "true false false"},
		{sampled, answers{err: errors.New("no connection")}, "true false false"},
		{strings.Replace(sampled, "Sampled=1", "Sampled=0", 1), answers{status: 200}, ""},
		{"Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1", answers{status: 200}, ""},
		{"", answers{status: 200}, ""},
	} {
		client := newTraced(c.next, a, "eu-central-1", "agentsocial", daemon.LocalAddr().String())
		//lint:ignore SA1029 aws-lambda-go has this key, too
		ctx := context.WithValue(t.Context(), "x-amzn-trace-id", c.header)
		r, err := http.NewRequestWithContext(ctx, "POST", "https://dynamodb.example/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.Query")
		if res, err := client.Do(r); err != c.next.err || err == nil && res.StatusCode != c.next.status {
			t.Errorf("Do: got %v, %v; want status %d and error %v", res, err, c.next.status, c.next.err)
		}
		if err := daemon.SetReadDeadline(time.Now().Add(map[bool]time.Duration{true: 100 * time.Millisecond, false: 10 * time.Second}[c.want == ""])); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 4096)
		n, _, err := daemon.ReadFrom(b)
		if c.want == "" {
			if err == nil {
				t.Errorf("with the header %q: got trace %s, want none", c.header, b[:n])
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		head, document, _ := strings.Cut(string(b[:n]), "\n")
		var s subsegment
		if err := json.Unmarshal([]byte(document), &s); err != nil || head != `{"format":"json","version":1}` {
			t.Fatalf("trace: got %s, %v, want a header line and a JSON document", b[:n], err)
		}
		if fmt.Sprint(s.Fault, s.Error, s.Throttle) != c.want || s.Name != "DynamoDB" || len(s.ID) != 16 || s.TraceID != "1-5759e988-bd862e3fe1be46a994272793" || s.ParentID != "53995c3f42cd8ad8" ||
			s.Type != "subsegment" || s.Namespace != "aws" || s.Start != 1_700_000_000.25 || s.AWS.Operation != "Query" || s.AWS.Table != "agentsocial" || s.AWS.Region != "eu-central-1" {
			t.Errorf("after status %d, error %v: got %s, want a subsegment of the Query with the flags %s", c.next.status, c.next.err, document, c.want)
		}
	}
	if got := newTraced(answers{status: 200}, a, "", "", ""); got != (answers{status: 200}) {
		t.Errorf("without a daemon: got %v, want the client itself", got)
	}
}

func TestDynamoDBIsTraced(t *testing.T) {
	daemon, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer daemon.Close()
	service := httptest.NewServer(http.NotFoundHandler())
	defer service.Close()
	a := &app.App{Now: time.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)}
	DynamoDB.Add(host.Env{
		Table: "agentsocial", Region: "eu-central-1", DynamoDBURL: service.URL, AccessKey: "a", SecretKey: "s", XRayDaemon: daemon.LocalAddr().String(),
	}, a)
	//lint:ignore SA1029 aws-lambda-go has this key, too
	ctx := context.WithValue(t.Context(), "x-amzn-trace-id", "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1")
	if _, err := a.Table.Get(ctx, tables.Eventual, tables.PostKey("lounge", "po_1")); err == nil {
		t.Error("Get from a service that answers 404: got no error, want one")
	}
	if err := daemon.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 4096)
	n, _, err := daemon.ReadFrom(b)
	if err != nil || !strings.Contains(string(b[:n]), `"aws":{"operation":"GetItem","region":"eu-central-1","table_name":"agentsocial"}`) {
		t.Errorf("trace: got %s, %v; want the call GetItem", b[:n], err)
	}
}
