// Package fetch gets small JSON documents from URLs that strangers name: the metadata of
// OAuth clients. It connects only to public addresses.
package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
)

// Public lets a function fetch documents from the public internet.
var Public = host.Part{
	Is:  app.Fetch,
	Add: func(_ host.Env, a *app.App) { a.Fetch = New(a.Now).Get },
}

const (
	most     = 5 << 10 // bytes of a document
	patience = 3 * time.Second
	keptFor  = time.Hour // at most
	keptMost = 256       // documents
	headMost = 16 << 10  // bytes of an answer's headers
	atOnce   = 8         // concurrent fetches; others are refused
)

// Fetcher fetches documents and caches them. It is safe for concurrent use.
type Fetcher struct {
	now      func() time.Time
	patience time.Duration
	client   *http.Client
	under    chan struct{} // one slot per fetch under way

	mu   sync.Mutex
	kept map[string]document
}

type document struct {
	body  []byte
	until time.Time
}

// New makes a Fetcher.
func New(now func() time.Time) *Fetcher {
	return fetcher(now, patience, net.DefaultResolver, nil, isPublic)
}

// fetcher makes a Fetcher that connects only to allowed addresses. It checks each address
// as it dials, because a name may resolve to another address each time.
func fetcher(now func() time.Time, patience time.Duration, names *net.Resolver, roots *x509.CertPool, allowed func(netip.Addr) bool) *Fetcher {
	dialer := &net.Dialer{
		Resolver: names,
		Control: func(_, address string, _ syscall.RawConn) error {
			to, err := netip.ParseAddrPort(address)
			switch {
			case err != nil || !allowed(to.Addr()):
				return errPrivate
			case to.Port() != 443 && to.Port() < 1024:
				return errPort
			}
			return nil
		},
	}
	transport := &http.Transport{
		DialContext:       dialer.DialContext, // no proxy, because a proxy would connect without these checks
		TLSClientConfig:   &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: headMost,
	}
	return &Fetcher{
		now: now, patience: patience, kept: map[string]document{}, under: make(chan struct{}, atOnce),
		client: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

var (
	errPrivate = errors.New("the address is not public")
	errPort    = errors.New("the port belongs to another protocol")
	errBusy    = errors.New("fetch: too many documents are being fetched")
)

// Get returns the JSON document at an https URL. It caches the document for an hour, or
// for less if the server says so. An error is not cached, and tells nothing that the owner
// of the URL does not know.
func (f *Fetcher) Get(ctx context.Context, at string) ([]byte, error) {
	if body, ok := f.had(at); ok {
		return body, nil
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, errors.New("fetch: not an https URL")
	}
	select {
	case f.under <- struct{}{}:
		defer func() { <-f.under }()
	default:
		return nil, errBusy
	}
	ctx, cancel := context.WithTimeout(ctx, f.patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "agentsocial")
	res, err := f.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	defer res.Body.Close()
	body, err := read(res)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	f.keep(at, body, freshFor(res.Header))
	return body, nil
}

func read(res *http.Response) ([]byte, error) {
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	ct, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil || ct != "application/json" && !strings.HasSuffix(ct, "+json") {
		return nil, errors.New("not JSON")
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	if err != nil {
		return nil, err
	}
	if len(body) > most {
		return nil, fmt.Errorf("more than %d bytes", most)
	}
	return body, nil
}

// freshFor returns how long an answer may be cached (RFC 9111 5.2.2), at most an hour.
func freshFor(h http.Header) time.Duration {
	fresh := keptFor
	for part := range strings.SplitSeq(strings.ToLower(strings.Join(h.Values("Cache-Control"), ",")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "no-store", "no-cache":
			return 0
		case "max-age":
			if n, err := strconv.Atoi(strings.Trim(value, `"`)); err == nil && n >= 0 && n < int(fresh.Seconds()) {
				fresh = time.Duration(n) * time.Second
			}
		}
	}
	return fresh
}

func (f *Fetcher) had(at string) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d, ok := f.kept[at]
	return d.body, ok && f.now().Before(d.until)
}

// keep caches a document. It empties a full cache, which only causes documents to be
// fetched again.
func (f *Fetcher) keep(at string, body []byte, fresh time.Duration) {
	if fresh <= 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.kept) >= keptMost {
		f.kept = map[string]document{}
	}
	f.kept[at] = document{body, f.now().Add(fresh)}
}
