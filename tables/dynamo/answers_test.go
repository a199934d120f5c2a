package dynamo

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// script is a fake DynamoDB that gives prepared answers in order, then repeats the last.
type script struct {
	mu       sync.Mutex
	answers  []answer
	received []request
}

type request struct {
	api  string
	body map[string]any
}

// An answer with status 0 drops the connection.
type answer struct {
	status int
	code   string
	body   string
}

var (
	dropped    = answer{}
	fine       = answer{status: 200, body: "{}"}
	half       = answer{status: 200, body: `{"ConsumedCapacity":`}
	broken     = answer{status: 500, code: "InternalServerError"}
	throttled  = answer{status: 400, code: "ThrottlingException"}
	inProgress = answer{status: 400, code: "TransactionInProgressException"}
	failed     = answer{status: 400, code: "ConditionalCheckFailedException", body: `"Item":{"pk":{"S":"a"},"sk":{"S":"b"},"n":{"N":"7"}}`}
)

func cancelledFor(codes ...string) answer {
	var reasons []string
	for _, c := range codes {
		r := `{"Code":"` + c + `","Message":"secret"`
		if c == "ConditionalCheckFailed" {
			r += `,"Item":{"pk":{"S":"a"},"sk":{"S":"b"},"n":{"N":"7"}}`
		}
		reasons = append(reasons, r+"}")
	}
	return answer{status: 400, code: "TransactionCanceledException", body: `"CancellationReasons":[` + strings.Join(reasons, ",") + `]`}
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, _ := io.ReadAll(r.Body)
	q := request{api: strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810.")}
	json.Unmarshal(raw, &q.body)
	s.mu.Lock()
	a := s.answers[min(len(s.received), len(s.answers)-1)]
	s.received = append(s.received, q)
	s.mu.Unlock()

	if a.status == 0 {
		panic(http.ErrAbortHandler)
	}
	body := a.body
	if a.code != "" {
		body = `{"__type":"com.amazonaws.dynamodb.v20120810#` + a.code + `","message":"secret"`
		if a.body != "" {
			body += "," + a.body
		}
		body += "}"
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amzn-Requestid", "REQUEST")
	w.WriteHeader(a.status)
	io.WriteString(w, body)
}

// play opens a table on a script. The timeout is long, for a busy machine.
func play(t *testing.T, answers ...answer) (*DB, *script) {
	t.Helper()
	s := &script{answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return Open(Config{Table: "table", Region: "local", Endpoint: server.URL, Credentials: Credentials("id", "secret", ""), Timeout: time.Minute}), s
}

func (s *script) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.received
}
