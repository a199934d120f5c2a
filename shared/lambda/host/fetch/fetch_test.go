package fetch

import (
	"context"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// isServers allows connections to the tests' servers.
func isServers(a netip.Addr) bool { return a == netip.MustParseAddr("127.0.0.1") }

// long is enough patience for any answer.
const long = time.Minute

// serving starts an https server, and a fetcher that trusts it.
func serving(t *testing.T, h http.HandlerFunc) (url string, f *Fetcher, now *atomic.Int64) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	now = new(atomic.Int64)
	now.Store(time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	clock := func() time.Time { return time.UnixMilli(now.Load()) }
	return s.URL, fetcher(clock, long, net.DefaultResolver, roots, isServers), now
}

func jsonOf(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body)) // the fetcher may have hung up
	}
}

func TestGet_CachesForAnHour(t *testing.T) {
	var calls atomic.Int32
	url, f, now := serving(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if r.Header.Get("Accept") != "application/json" || r.Header.Get("Accept-Encoding") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("request headers = %v, want Accept: application/json, and neither Accept-Encoding nor Cookie", r.Header)
		}
		jsonOf(`{"a":1}`)(w, r)
	})
	for range 3 {
		if body, err := f.Get(t.Context(), url+"/x"); err != nil || string(body) != `{"a":1}` {
			t.Fatalf("Get = %s, %v; want the document", body, err)
		}
	}
	if calls.Load() != 1 {
		t.Errorf("got %d requests within the hour, want 1", calls.Load())
	}
	now.Add(time.Hour.Milliseconds())
	if _, err := f.Get(t.Context(), url+"/x"); err != nil || calls.Load() != 2 {
		t.Errorf("Get after an hour: got %d requests in all, error %v; want 2, no error", calls.Load(), err)
	}
}

func TestFreshFor_AtMostAnHour(t *testing.T) {
	for control, want := range map[string]time.Duration{
		"": keptFor, "max-age=60": time.Minute, "public, Max-Age=60": time.Minute, "max-age=0": 0, "no-store": 0, "max-age=600, no-cache": 0,
		"max-age=86400": keptFor, "max-age=-1": keptFor, "max-age=x": keptFor, "max-age=99999999999999999999": keptFor,
	} {
		if got := freshFor(http.Header{"Cache-Control": {control}}); got != want {
			t.Errorf("freshFor(%q) = %v, want %v", control, got, want)
		}
	}
}

func TestCacheIsBounded(t *testing.T) {
	f := New(time.Now)
	for i := range 3 * keptMost {
		f.keep(strings.Repeat("x", i+1), []byte("{}"), time.Hour)
		if len(f.kept) > keptMost {
			t.Fatalf("cache holds %d documents, want at most %d", len(f.kept), keptMost)
		}
	}
}

func TestGet_RefusesTooManyAtOnce(t *testing.T) {
	arrived, goOn := make(chan struct{}, 2*atOnce), make(chan struct{})
	url, f, _ := serving(t, func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-goOn
		jsonOf("{}")(w, r)
	})
	var all sync.WaitGroup
	for i := range atOnce {
		all.Go(func() {
			if _, err := f.Get(t.Context(), url+"/"+strings.Repeat("x", i)); err != nil {
				t.Errorf("Get: got error %v, want the document", err)
			}
		})
	}
	for range atOnce {
		<-arrived
	}
	if _, err := f.Get(t.Context(), url+"/more"); !errors.Is(err, errBusy) {
		t.Errorf("Get with %d fetches under way = %v, want errBusy", atOnce, err)
	}
	close(goOn)
	all.Wait()
	if _, err := f.Get(t.Context(), url+"/more"); err != nil {
		t.Errorf("Get after the other fetches: got error %v, want the document", err)
	}
}

func TestGet_RefusesPortsOfOtherProtocols(t *testing.T) {
	f := fetcher(time.Now, long, net.DefaultResolver, nil, isServers)
	for port, refused := range map[string]bool{"22": true, "80": true, "1023": true, "443": false, "1024": false} {
		if _, err := f.Get(t.Context(), "https://127.0.0.1:"+port+"/x"); errors.Is(err, errPort) != refused {
			t.Errorf("Get from port %s = %v, want errPort: %v", port, err, refused)
		}
	}
}

// Refusals are not cached, so the second call makes another request.
func TestRefused(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"status 404": func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) },
		"status 204": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
		"status 302": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) },
		"status 307": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://169.254.169.254/", http.StatusTemporaryRedirect)
		},
		"not JSON":             func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"more than 5120 bytes": jsonOf(`"` + strings.Repeat("x", most) + `"`),
		"without an end": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for block := make([]byte, 1<<16); r.Context().Err() == nil; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		},
		"slow": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(" ")); err != nil {
					return
				}
				_ = http.NewResponseController(w).Flush() // fails when the fetcher has hung up
				time.Sleep(20 * time.Millisecond)
			}
		},
		"silent": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"long headers": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("x", 2*headMost))
			jsonOf("{}")(w, r)
		},
	}
	for name, h := range answers {
		var calls atomic.Int32
		url, f, _ := serving(t, func(w http.ResponseWriter, r *http.Request) { calls.Add(1); h(w, r) })
		start := time.Now()
		waits := name == "slow" || name == "silent"
		if waits {
			f.patience = 500 * time.Millisecond
		}
		// A busy machine may use up f.patience before it sends the request, so a few more
		// calls are allowed.
		for n := 0; n < 2 || waits && n < 20 && calls.Load() < 2; n++ {
			body, err := f.Get(t.Context(), url+"/x")
			if err == nil {
				t.Errorf("%s: Get = %.40q, want an error", name, body)
			} else if says, ok := strings.CutPrefix(name, "status"); ok && !strings.Contains(err.Error(), "status"+says) {
				t.Errorf("%s: Get = %v, want the status in the error", name, err)
			}
		}
		if n := calls.Load(); n < 2 || n > 2 && !waits {
			t.Errorf("%s: got %d requests, want 2 (or more if the server makes the fetcher wait)", name, n)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: took %v, want at most 20 s", name, took)
		}
	}
}

func TestGet_RefusesOtherURLs(t *testing.T) {
	_, f, _ := serving(t, jsonOf("{}"))
	for _, url := range []string{"", "http://127.0.0.1/", "ftp://127.0.0.1/", "file:///etc/passwd", "https://", "https:///x", "https://u:p@127.0.0.1/", "//127.0.0.1/", "gopher://127.0.0.1/"} {
		if _, err := f.Get(t.Context(), url); err == nil || !strings.Contains(err.Error(), "not an https URL") {
			t.Errorf("Get(%q): got error %v, want \"not an https URL\"", url, err)
		}
	}
}

func TestPrivateAddresses(t *testing.T) {
	f := New(time.Now)
	f.patience = long
	for _, host := range []string{
		"127.0.0.1", "127.0.0.53", "localhost", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255",
		"192.0.0.192", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"[::1]", "[::]", "[fc00::1]", "[fd00:ec2::254]", "[fe80::1]", "[fe80::1%25lo]", "[fec0::1]", "[ff02::1]",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:169.254.169.254]", "[::ffff:10.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]", "[2002:7f00:1::]", "[2001::1]", "[2001:db8::1]", "[100::1]",
	} {
		_, err := f.Get(t.Context(), "https://"+host+"/x")
		if err == nil || !errors.Is(err, errPrivate) && !strings.Contains(err.Error(), errPrivate.Error()) {
			t.Errorf("Get from %s = %v, want errPrivate", host, err)
		}
	}
}

func TestIsPublic(t *testing.T) {
	for a, want := range map[string]bool{
		"1.1.1.1": true, "8.8.8.8": true, "9.255.255.255": true, "11.0.0.0": true, "100.63.255.255": true, "100.128.0.0": true, "172.15.255.255": true, "172.32.0.0": true,
		"192.167.255.255": true, "192.169.0.0": true, "223.255.255.255": true, "2606:4700::1111": true, "2a00:1450::1": true, "::ffff:8.8.8.8": true, "2001:200::1": true,
		"224.0.0.0": false, "0.1.2.3": false, "10.255.255.255": false, "127.255.255.255": false, "100.64.0.0": false, "100.127.255.255": false, "172.16.0.0": false, "172.31.255.255": false,
		"::ffff:192.168.0.1": false, "::": false, "::1": false, "1fff::1": false, "4000::1": false, "fdff::1": false, "febf::1": false, "2001:1ff::1": false, "2002:808:808::1": false, "3fff:fff::1": false, "64:ff9b:1::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(a)); got != want {
			t.Errorf("isPublic(%s) = %v, want %v", a, got, want)
		}
	}
	if isPublic(netip.Addr{}) {
		t.Error("isPublic of the zero address = true, want false")
	}
}

// The DNS server of this test alternates between a public and a private address.
func TestRebindingNames(t *testing.T) {
	var asked atomic.Int32
	names := namesFrom(t, func() netip.Addr {
		if asked.Add(1)%2 == 1 {
			return netip.MustParseAddr("93.184.215.14")
		}
		return netip.MustParseAddr("127.0.0.1")
	})
	var dialled []netip.Addr
	f := fetcher(time.Now, long, names, nil, func(a netip.Addr) bool {
		dialled = append(dialled, a)
		return isPublic(a) && a != netip.MustParseAddr("93.184.215.14") // the test must not connect there
	})
	for range 6 {
		if _, err := f.Get(t.Context(), "https://rebinding.example/x"); err == nil || !strings.Contains(err.Error(), errPrivate.Error()) {
			t.Errorf("Get of a rebinding name = %v, want errPrivate", err)
		}
	}
	if len(dialled) < 6 || asked.Load() < 2 {
		t.Errorf("got %d DNS queries, want 2 or more; checked %v, want 6 or more", asked.Load(), dialled)
	}
	private := 0
	for _, a := range dialled {
		if a.IsLoopback() {
			private++
		}
	}
	if private == 0 {
		t.Errorf("dialled %v, want a private address among them", dialled)
	}
}

// namesFrom returns a resolver that answers every IPv4 query with answer's address.
func namesFrom(t *testing.T, answer func() netip.Addr) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		for b := make([]byte, 512); ; {
			n, from, err := server.ReadFrom(b)
			if err != nil {
				return // closed
			}
			q := b[:n]
			end := 12
			for q[end] != 0 {
				end += int(q[end]) + 1
			}
			end += 5 // the root, type and class
			res := append([]byte{}, q[:end]...)
			res[2], res[3] = 0x81, 0x80
			clear(res[6:12])
			if binary.BigEndian.Uint16(q[end-4:]) == 1 {
				binary.BigEndian.PutUint16(res[6:], 1)
				a := answer().As4()
				res = append(res, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				res = append(res, a[:]...)
			}
			_, _ = server.WriteTo(res, from) // the client may be gone
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

func TestNoProxy(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the proxy got a request, want none") }))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("https_proxy", proxy.URL)
	if New(time.Now).client.Transport.(*http.Transport).Proxy != nil {
		t.Error("the fetcher uses a proxy, want none")
	}
	url, f, _ := serving(t, jsonOf("{}"))
	if _, err := f.Get(t.Context(), url+"/x"); err != nil {
		t.Errorf("Get: got error %v, want the document", err)
	}
}
