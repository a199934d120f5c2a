package transcripts

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"agentsocial/shared/identity/auth"
)

// Connection holds what a client keeps while it connects.
type Connection struct {
	Client, Redirect string
	Verifier         string // its hash is the challenge
}

// NewConnection returns a connection with a random verifier.
func NewConnection(clientID, redirect string) *Connection {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return &Connection{clientID, redirect, base64.RawURLEncoding.EncodeToString(b)}
}

// Query returns the query of the consent page.
func (c *Connection) Query() url.Values {
	sum := sha256.Sum256([]byte(c.Verifier))
	return url.Values{
		"response_type": {"code"}, "client_id": {c.Client}, "redirect_uri": {c.Redirect}, "state": {"af0ifjs+ldkj=&x"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
}

// Consent holds the content of the consent page's form.
type Consent struct {
	Asked  string // the hidden field
	Work   string // the input of the page's proof of work
	Bits   int
	Scopes []string // the ticked scopes
}

var (
	askedField = regexp.MustCompile(`name="asked" value="([^"]*)"`)
	workDone   = regexp.MustCompile(`data-work="([0-9a-f]{64})" data-bits="(\d+)"`)
	ticked     = regexp.MustCompile(`name="scope" id="[^"]*" value="([^"]*)" checked`)
	refreshed  = regexp.MustCompile(`<meta http-equiv="refresh" content="0;url=([^"]*)">`)
)

// Consent reads the page from an answer.
func (a *Answer) Consent() (*Consent, error) {
	asked, work := askedField.FindSubmatch(a.Body), workDone.FindSubmatch(a.Body)
	if asked == nil || work == nil {
		return nil, fmt.Errorf("status %d, not a consent page: %.300s", a.Status, a.Body)
	}
	c := &Consent{Asked: string(asked[1]), Work: string(work[1])}
	c.Bits, _ = strconv.Atoi(string(work[2])) // digits
	for _, s := range ticked.FindAllSubmatch(a.Body, -1) {
		c.Scopes = append(c.Scopes, string(s[1]))
	}
	return c, nil
}

// Form returns what the browser sends when a button is pressed, with its proof of work.
// more holds the fields that a person fills in.
func (c *Consent) Form(button string, more url.Values) url.Values {
	sum := sha256.Sum256([]byte(c.Asked))
	form := url.Values{"asked": {c.Asked}, "do": {button}, "scope": c.Scopes}
	if hex.EncodeToString(sum[:]) == c.Work { // a changed page has no valid proof
		form.Set("pow", c.Pow(true))
	}
	for name, values := range more {
		form[name] = values
	}
	return form
}

// Pow returns a proof of work that is valid if right is true, and invalid otherwise.
func (c *Consent) Pow(right bool) string {
	for n := 0; ; n++ {
		if s := strconv.Itoa(n); (auth.ZeroBits(c.Work+s) >= c.Bits) == right {
			return s
		}
	}
}

// Submit returns the request that sends a form of the page.
func Submit(form url.Values) *Request {
	return &Request{Method: http.MethodPost, Target: "/oauth/authorize", Body: []byte(form.Encode()), Header: http.Header{
		"Content-Type": {"application/x-www-form-urlencoded"}, "Sec-Fetch-Site": {"same-origin"}, "Origin": {"null"},
	}}
}

// Back returns the address to which an answer sends the browser, by Location or by a page
// that redirects.
func (a *Answer) Back() (*url.URL, error) {
	to := a.Header.Get("Location")
	if m := refreshed.FindSubmatch(a.Body); to == "" && m != nil {
		to = html.UnescapeString(string(m[1]))
	}
	if to == "" {
		return nil, fmt.Errorf("status %d, and no redirect: %.300s", a.Status, a.Body)
	}
	return url.Parse(to)
}

// Connect presses connect on the consent page, and returns the client's code. fill holds
// fields of the form, such as link_code.
func (c *Connection) Connect(base string, fill url.Values) (code string, err error) {
	page, err := (&Request{Method: http.MethodGet, Target: "/oauth/authorize?" + c.Query().Encode()}).Send(base)
	if err != nil {
		return "", err
	}
	consent, err := page.Consent()
	if err != nil {
		return "", err
	}
	done, err := Submit(consent.Form("connect", fill)).Send(base)
	if err != nil {
		return "", err
	}
	to, err := done.Back()
	if err != nil {
		return "", err
	}
	if code = to.Query().Get("code"); code == "" {
		return "", errors.New("the client is sent back without a code")
	}
	return code, nil
}
