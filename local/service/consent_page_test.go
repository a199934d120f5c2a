package service_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"agentsocial/local/engines/browser"
	"agentsocial/local/transcripts"
)

// loopbackClient is a program on the person's own computer, which waits for its code on a
// loopback port.
type loopbackClient struct {
	*transcripts.Connection
	came chan url.Values
}

func newClient(t *testing.T, r *running, name string) *loopbackClient {
	t.Helper()
	c := &loopbackClient{came: make(chan url.Values, 8)}
	mux := http.NewServeMux()
	mux.HandleFunc("/callback", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><title>here</title><h1 id="here">Here you are</h1>`)) // the browser may be gone
		if req.Referer() != "" {
			t.Errorf("the browser sends the Referer %q, want none", req.Referer())
		}
		c.came <- req.URL.Query()
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	c.Connection = transcripts.NewConnection(r.register(name), s.URL+"/callback")
	return c
}

// register registers an OAuth client.
func (r *running) register(name string) (clientID string) {
	r.t.Helper()
	return r.want(r.send(registering(`{"redirect_uris":["http://127.0.0.1/callback","https://client.example/cb"],"client_name":"`+name+`"}`)), 201, "").Text("client_id")
}

func registering(body string) *transcripts.Request {
	return &transcripts.Request{
		Method: "POST", Target: "/oauth/register", Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body),
	}
}

// page returns the URL to which the client sends the person.
func (c *loopbackClient) page(r *running) string {
	return r.URL + "/oauth/authorize?" + c.Query().Encode()
}

// hears returns the query of the browser's redirect to the client.
func (c *loopbackClient) hears(t *testing.T, tab context.Context) url.Values {
	t.Helper()
	browser.Does(t, tab, chromedp.WaitVisible(chromedp.CSS("#here")))
	select {
	case q := <-c.came:
		return q
	case <-time.After(time.Minute):
		t.Fatal("the browser did not come back to the client within a minute")
		return nil
	}
}

func noScript(off bool) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: off})
		return err
	})
}

// unreadable is a script that lists a page's accessibility problems, such as low contrast
// (WCAG 1.4.3).
const unreadable = `(() => {
  const wrong = [];
  if (document.documentElement.lang !== "en") wrong.push("no lang");
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("wider than the window: " + document.documentElement.scrollWidth);
  const rgb = c => c.match(/[\d.]+/g).map(Number);
  const light = c => rgb(c).slice(0, 3).map(v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor, p = rgb(c); if (p.length < 4 || p[3] > 0) return c; } return "rgb(255,255,255)"; };
  for (const e of document.querySelectorAll("body *")) {
    if (!e.checkVisibility() || ![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || e.disabled) continue;
    const a = light(getComputedStyle(e).color), b = light(behind(e)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) wrong.push(ratio.toFixed(1) + ": " + e.textContent.slice(0, 40));
  }
  for (const e of document.querySelectorAll("input:not([type=hidden])")) if (!e.labels.length) wrong.push("no label: " + e.name);
  for (const e of document.querySelectorAll("button, a, input:not([type=hidden]), summary")) if (e.tabIndex < 0) wrong.push("not reached: " + e.outerHTML.slice(0, 60));
  return wrong.join("; ");
})()`

// screenshot saves a picture of the page in the folder $SCREENSHOTS, if that is set.
func screenshot(t *testing.T, tab context.Context, name string) {
	t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), browser.Does(t, tab, chromedp.FullScreenshot(100)), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestConsentPageInABrowser(t *testing.T) {
	tab := browser.Open(t)
	r := run(t, unlimited())
	c := newClient(t, r, "Den Explorer")

	for name, width := range map[string]int64{"phone": 390, "desk": 1200} {
		for _, night := range []bool{false, true} {
			browser.Does(t, tab, chromedp.EmulateViewport(width, 844))
			browser.Does(t, tab, browser.Dark(night))
			browser.Does(t, tab, chromedp.Navigate(c.page(r)))
			browser.Does(t, tab, chromedp.WaitEnabled(chromedp.CSS("button.main")))
			browser.Does(t, tab, chromedp.Evaluate[bool](`document.querySelector("details").open = true`))
			if wrong := browser.Does(t, tab, chromedp.Evaluate[string](unreadable)); wrong != "" {
				t.Errorf("%s, dark %v: got accessibility problems %s, want none", name, night, wrong)
			}
			screenshot(t, tab, "consent-"+name+map[bool]string{true: "-dark"}[night])
		}
	}
	browser.Does(t, tab, browser.Dark(false))

	browser.Does(t, tab, chromedp.Navigate(c.page(r)))
	words := browser.Does(t, tab, chromedp.Evaluate[string]("document.body.innerText"))
	for _, want := range []string{"Den Explorer", "a program on this computer (127.0.0.1:", "What it may do", "Link code", "Refuse", "could have asked", "does not replace it"} {
		if !strings.Contains(words, want) {
			t.Errorf("the page does not say %q:\n%s", want, words)
		}
	}
	browser.Does(t, tab, chromedp.WaitEnabled(chromedp.CSS("button.main")))
	browser.Does(t, tab, chromedp.Click(chromedp.CSS("#scope-jury")))
	browser.Does(t, tab, chromedp.Click(chromedp.CSS("button.main")))
	q := c.hears(t, tab)
	if q.Get("code") == "" || q.Get("state") != c.Query().Get("state") || q.Get("iss") != r.URL || q.Has("error") {
		t.Errorf("the client got %v, want a code, its state and this service as iss", q)
	}

	// Enter in the email field asks for a code instead of connecting a new agent.
	browser.Does(t, tab, chromedp.Navigate(c.page(r)))
	browser.Does(t, tab, chromedp.WaitEnabled(chromedp.CSS("button.main")))
	browser.Does(t, tab, chromedp.Focus("summary"))
	browser.Does(t, tab, chromedp.KeyEvent("\r"))
	browser.Does(t, tab, chromedp.KeyEvent("\t"))
	browser.Does(t, tab, chromedp.KeyEvent("fox\tfox@den.example\r"))
	browser.Does(t, tab, chromedp.WaitVisible(chromedp.CSS("p.note")))
	browser.Does(t, tab, chromedp.WaitEnabled(chromedp.CSS("button.main"))) // the page is loaded, and its script has run
	if got := browser.Does(t, tab, chromedp.Evaluate[string](`document.querySelector(".note").innerText + handle.value + email.value`)); !strings.HasSuffix(got, "foxfox@den.example") {
		t.Errorf("got the note and fields %q, want them to end with what was typed", got)
	}
	screenshot(t, tab, "consent-mailed")
	// A problem gets the focus, for screen readers.
	browser.Does(t, tab, chromedp.SendKeys(chromedp.CSS("#code"), "ABC"))
	browser.Does(t, tab, chromedp.Click(chromedp.CSS("button.main")))
	browser.Does(t, tab, chromedp.WaitVisible(chromedp.CSS("#problem")))
	browser.Does(t, tab, chromedp.WaitEnabled(chromedp.CSS("button.main")))
	if got := browser.Does(t, tab, chromedp.Evaluate[string](`document.activeElement.id`)); got != "problem" {
		t.Errorf("focus: got %q, want problem", got)
	}
	if wrong := browser.Does(t, tab, chromedp.Evaluate[string](unreadable)); strings.Contains(wrong, ":") {
		t.Errorf("page with a problem: got accessibility problems %s, want none", wrong)
	}
	screenshot(t, tab, "consent-problem")
	select {
	case q := <-c.came:
		t.Errorf("the client got %v, want nothing yet", q)
	default:
	}

	if got := browser.Does(t, tab, chromedp.Evaluate[bool](`(() => { const s = document.createElement("script"); s.textContent = "window.ran = true"; document.body.append(s); return window.ran === true })()`)); got {
		t.Error("a script that was put into the page ran")
	}
}

func TestConsentPageWithoutScripts(t *testing.T) {
	tab := browser.Open(t)
	r := run(t, unlimited())
	c := newClient(t, r, "Den Explorer")
	browser.Does(t, tab, chromedp.EmulateViewport(390, 844))
	browser.Does(t, tab, noScript(true))
	browser.Does(t, tab, chromedp.Navigate(c.page(r)))
	browser.Does(t, tab, chromedp.WaitVisible(chromedp.CSS("noscript .problem")))
	screenshot(t, tab, "consent-noscript")
	if _, disabled := browser.Does(t, tab, chromedp.Attributes("button.main"))["disabled"]; !disabled {
		t.Error("the button Connect is enabled, want disabled")
	}
	browser.Does(t, tab, chromedp.Click(`button[value="refuse"]`))
	if q := c.hears(t, tab); q.Get("error") != "access_denied" || q.Get("iss") != r.URL || q.Get("state") != c.Query().Get("state") {
		t.Errorf("the client got %v, want access_denied, its state and this service as iss", q)
	}
	browser.Does(t, tab, noScript(false))
	browser.Does(t, tab, chromedp.Navigate(r.URL+"/oauth/authorize?client_id=dcr_x"))
	browser.Does(t, tab, chromedp.WaitVisible(chromedp.CSS("p.problem")))
	screenshot(t, tab, "consent-bad-client")
}

func TestConsentFromAnotherSiteIsRefused(t *testing.T) {
	tab := browser.Open(t)
	r := run(t, unlimited())
	c := newClient(t, r, "Den Explorer")
	a, err := (&transcripts.Request{Method: "GET", Target: "/oauth/authorize?" + c.Query().Encode()}).Send(r.URL)
	if err != nil {
		t.Fatal(err)
	}
	consent, err := a.Consent()
	if err != nil {
		t.Fatal(err)
	}
	form := consent.Form("connect", nil)
	mux := http.NewServeMux()
	mux.HandleFunc("/form", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><form id="f" method="post" action="` + r.URL + `/oauth/authorize">` +
			`<input name="asked" value="` + form.Get("asked") + `"><input name="pow" value="` + form.Get("pow") + `">` +
			`<input name="scope" value="read"><input name="do" value="connect"></form><script>f.submit()</script>`))
	})
	evil := httptest.NewServer(mux)
	t.Cleanup(evil.Close)
	site := strings.Replace(evil.URL, "127.0.0.1", "localhost", 1) // another site, not only another origin

	browser.Does(t, tab, chromedp.Navigate(site+"/form"))
	browser.Does(t, tab, chromedp.WaitVisible(chromedp.CSS("p.problem")))
	if words := browser.Does(t, tab, chromedp.Evaluate[string]("document.body.innerText")); !strings.Contains(words, "sent by another site") {
		t.Errorf("another site's form: got\n%s\nwant \"sent by another site\"", words)
	}
	select {
	case q := <-c.came:
		t.Errorf("the client got %v, want nothing", q)
	default:
	}
}
