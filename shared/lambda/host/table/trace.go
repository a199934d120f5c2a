package table

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"agentsocial/shared/app"
)

// traced is an HTTP client for the table. It reports its calls to X-Ray's daemon if Lambda
// traces the invocation. aws-xray-sdk-go would do the same, but it is in maintenance, and
// starts slowly.
type traced struct {
	aws.HTTPClient
	app    *app.App
	region string
	table  string
	daemon func() (io.Writer, error)
}

// newTraced returns c with its calls traced, or c itself if daemon is "".
// daemon is AWS_XRAY_DAEMON_ADDRESS.
func newTraced(c aws.HTTPClient, a *app.App, region, table, daemon string) aws.HTTPClient {
	if daemon == "" {
		return c
	}
	return &traced{c, a, region, table, sync.OnceValues(func() (io.Writer, error) { return net.Dial("udp", daemon) })}
}

// subsegment is X-Ray's description of a call ("X-Ray segment documents" in its developer
// guide). Times are seconds since 1970.
type subsegment struct {
	Name      string  `json:"name"`
	ID        string  `json:"id"` // 16 hexadecimal digits
	TraceID   string  `json:"trace_id"`
	ParentID  string  `json:"parent_id"`
	Type      string  `json:"type"`
	Namespace string  `json:"namespace"`
	Start     float64 `json:"start_time"`
	End       float64 `json:"end_time"`
	Fault     bool    `json:"fault,omitempty"`
	Error     bool    `json:"error,omitempty"`
	Throttle  bool    `json:"throttle,omitempty"`
	AWS       struct {
		Operation string `json:"operation"`
		Region    string `json:"region"`
		Table     string `json:"table_name"`
	} `json:"aws"`
}

// Do implements [aws.HTTPClient].
func (t *traced) Do(r *http.Request) (*http.Response, error) {
	header, _ := r.Context().Value("x-amzn-trace-id").(string) // aws-lambda-go sets it
	root, parent, sampled := parse(header)
	if !sampled {
		return t.HTTPClient.Do(r)
	}
	begun := t.app.Now()
	res, err := t.HTTPClient.Do(r)
	s := subsegment{
		Name: "DynamoDB", TraceID: root, ParentID: parent, Type: "subsegment", Namespace: "aws",
		Start: seconds(begun), End: seconds(t.app.Now()), Fault: err != nil,
	}
	s.AWS.Region, s.AWS.Table = t.region, t.table
	_, s.AWS.Operation, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if res != nil {
		s.Fault, s.Error, s.Throttle = res.StatusCode >= 500, res.StatusCode/100 == 4, res.StatusCode == http.StatusTooManyRequests
	}
	if lost := t.send(s); lost != nil { // a lost trace does not fail the call
		t.app.Log.Debug("a trace was lost", "error", lost.Error())
	}
	return res, err
}

func (t *traced) send(s subsegment) error {
	id := make([]byte, 8)
	if _, err := io.ReadFull(t.app.Rand, id); err != nil {
		return err
	}
	s.ID = hex.EncodeToString(id)
	document, err := json.Marshal(s)
	if err != nil {
		return err
	}
	daemon, err := t.daemon()
	if err != nil {
		return err
	}
	_, err = daemon.Write(append([]byte(`{"format":"json","version":1}`+"\n"), document...))
	return err
}

// parse reads a tracing header, such as
// "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1".
func parse(header string) (root, parent string, sampled bool) {
	for _, field := range strings.Split(header, ";") {
		switch name, value, _ := strings.Cut(field, "="); name {
		case "Root":
			root = value
		case "Parent":
			parent = value
		case "Sampled":
			sampled = value == "1"
		}
	}
	return root, parent, sampled && root != "" && parent != ""
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
