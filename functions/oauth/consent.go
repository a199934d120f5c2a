package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/identity/auth"
	flow "agentsocial/shared/identity/oauth"
	"agentsocial/shared/identity/recovery"
	"agentsocial/shared/outside/mail"
	"agentsocial/tables"
)

type consentIn struct {
	Site    string `header:"Sec-Fetch-Site" doc:"Set by browsers: which site sent the form. If sent, it must be same-origin."`
	Origin  string `header:"Origin" doc:"Set by browsers: the origin of the page that sent the form. If sent, it must be this service's, or null."`
	RawBody []byte `contentType:"application/x-www-form-urlencoded"`
}

// answer is the submitted form.
type answer struct {
	do     string // connect, refuse or mail
	sealed string
	pow    string
	scopes []string

	link                string
	handle, email, code string
}

var handle = regexp.MustCompile(`^[a-z0-9_.-]{2,32}$`)

// Values of the page's buttons.
const (
	doConnect = "connect"
	doRefuse  = "refuse"
	doMail    = "mail"
)

// answerOf reads the form and ignores unknown fields. The redirect URI is not a field:
// it is in the sealed request.
func answerOf(body []byte) (*answer, error) {
	q, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, api.Fail(api.InvalidRequest, "The form cannot be decoded.")
	}
	for name, values := range q {
		if name != "scope" && len(values) > 1 {
			return nil, api.Fail(api.InvalidRequest, "The form has a field more than once.")
		}
	}
	return &answer{
		do: q.Get("do"), sealed: q.Get("asked"), pow: q.Get("pow"), scopes: auth.InOrder(q["scope"]),
		link: strings.TrimSpace(q.Get("link_code")), handle: recovery.Bare(strings.TrimSpace(q.Get("handle"))),
		email: strings.TrimSpace(q.Get("email")), code: strings.TrimSpace(q.Get("code")),
	}, nil
}

func (g oauth) consent(ctx context.Context, in *consentIn) (*api.Page, error) {
	// A browser sends the Origin null for this page, because its Referrer-Policy is
	// no-referrer (Fetch, "append a request Origin header").
	if in.Site != "" && in.Site != "same-origin" || in.Origin != "" && in.Origin != "null" && in.Origin != g.Settings.BaseURL {
		return nil, api.Fail(api.PageRefused, "The form was sent by another site.")
	}
	s, err := answerOf(in.RawBody)
	if err != nil {
		return nil, err
	}
	a, err := g.open(ctx, s.sealed)
	if err != nil {
		return nil, err
	}
	switch s.do {
	case doRefuse:
		no := &problem{"access_denied", "The person refused consent."}
		return g.leave(ctx, a, "Refused", "Nothing was connected.", no.location(g.Settings.BaseURL, a))
	case doConnect, doMail:
	default:
		return nil, api.Fail(api.InvalidRequest, "The form does not say whether to connect or to refuse.")
	}
	if n := auth.ZeroBits(workOf(s.sealed) + s.pow); n < a.Bits || len(s.pow) > 32 {
		return nil, api.Fail(api.BadPow, "The proof of work does not match this page. Is JavaScript enabled?")
	}
	if err := g.spend(ctx, a, s); err != nil {
		return nil, err
	}
	v := view{granted: s.scopes, handle: s.handle, email: s.email}
	if len(s.scopes) == 0 {
		v.granted, v.problem = a.Scopes, "Tick at least one thing that the program may do."
		return g.page(ctx, a, v)
	}
	switch {
	case s.do == doMail, s.handle+s.email != "" && s.code == "" && s.link == "":
		return g.mailCode(ctx, a, s, v)
	case s.link != "" && s.handle+s.code != "":
		v.problem = "A link code already says which agent to connect. Enter a link code, or a handle and a recovery code, but not both."
		return g.page(ctx, a, v)
	case s.link != "":
		return g.connectLinked(ctx, a, s, v)
	case s.code != "" || s.handle != "":
		return g.connectRecovered(ctx, a, s, v)
	}
	return g.connect(ctx, a, s.scopes, nil, "")
}

// workOf returns the prefix for the browser's proof of work. It is a hash of the sealed
// request, so the proof fits only this page.
func workOf(sealed string) string {
	sum := sha256.Sum256([]byte(sealed))
	return hex.EncodeToString(sum[:])
}

// open reads the request that was sealed into the page.
func (g oauth) open(ctx context.Context, sealed string) (*asked, error) {
	box, err := g.Box(ctx)
	if err != nil {
		return nil, err
	}
	a := new(asked)
	if _, err := box.Open(sealedAsked, sealed, a); err != nil {
		return nil, api.Fail(api.InvalidRequest, "The form was not made by this service.")
	}
	if api.From(ctx).Time.UnixMilli() > a.Exp {
		return nil, api.Fail(api.InvalidRequest, "The page was open for more than half an hour.")
	}
	return a, nil
}

// recovers reports whether a form asks to reconnect an agent by mail.
func (s *answer) recovers() bool { return s.do == doMail || s.handle+s.email+s.code != "" }

// spend counts a form and uses up its page, so that one proof of work allows one form.
// Forms that reconnect by mail are slow, so they have a limit for all callers together.
// One transaction counts a form against all limits. A form that one limit refuses does
// not count against the others.
func (g oauth) spend(ctx context.Context, a *asked, s *answer) error {
	c, most := api.From(ctx), g.Settings.Limits.ConsentsHour
	writes := []tables.Write{tables.SpendNonce(a.Nonce, &tables.SpentNonce{At: c.Time.UnixMilli()}).
		Else(tables.Means(api.Fail(api.InvalidRequest, "This form was already submitted.")))}
	if g.Settings.ByAddr {
		who, err := c.AddressHash(ctx)
		if err != nil {
			return err
		}
		writes = append(writes, tables.Quota(who, "consent", c.Window(time.Hour), time.Hour, 1, most).
			Else(c.OverQuota(time.Hour, "%d submissions of this page an hour from one network address are the limit.", most)))
	}
	if s.recovers() {
		own, err := recovery.Requests(ctx)
		if err != nil {
			return err
		}
		writes = append(append(writes, own...), tables.Quota("all", "reconnect", c.Window(time.Minute), time.Minute, 1, g.Settings.Limits.ReconnectsMinute).
			Else(func(tables.Item) error {
				c.Log.Warn("reconnections used up")
				return c.OverRate(time.Minute, "Too many agents are being reconnected at once. Try again in a minute. Or leave the handle, the mail address and the mailed code empty: then you can connect now, with a link code or as a new agent.")
			}))
	}
	return g.Transact(ctx, writes...)
}

// connect returns a page that takes the authorization code to the client. If to is nil, the
// code is for a new agent; otherwise, handle is the handle of to.Agent.
func (g oauth) connect(ctx context.Context, a *asked, scopes []string, to *flow.Bound, handle string) (*api.Page, error) {
	box, err := g.Box(ctx)
	if err != nil {
		return nil, err
	}
	code, err := flow.SealCode(box, &flow.Code{
		ID: g.Random(16), Client: a.Client, Name: a.Name, Redirect: a.Redirect, Challenge: a.Challenge,
		Scopes: scopes, Resource: a.Resource, Bound: to, At: api.From(ctx).Time.UnixMilli(),
	})
	if err != nil {
		return nil, err
	}
	done := "The program gets a new agent, which chooses its name in the conversation."
	if to != nil {
		done = "The program may act for @" + handle + "."
	}
	return g.leave(ctx, a, "Connected", done, back(g.Settings.BaseURL, a, url.Values{"code": {code}}))
}

func (g oauth) connectLinked(ctx context.Context, a *asked, s *answer, v view) (*api.Page, error) {
	link, handle, err := g.linkOf(ctx, s.link)
	if err != nil {
		return nil, err
	}
	if link == nil {
		v.problem = "The link code is not valid: it is mistyped or used up, or it has expired or was revoked."
		return g.page(ctx, a, v)
	}
	scopes := slices.DeleteFunc(slices.Clone(s.scopes), func(scope string) bool { return !link.Scopes.Has(scope) })
	if len(scopes) == 0 {
		v.problem = "The link code allows none of the ticked scopes. It allows: " + strings.Join(auth.InOrder(link.Scopes), ", ") + "."
		return g.page(ctx, a, v)
	}
	return g.connect(ctx, a, scopes, &flow.Bound{Agent: link.Agent, Epoch: link.Epoch, Link: link.Hash}, handle)
}

// linkOf returns a valid link code and its agent's handle, or nil.
func (g oauth) linkOf(ctx context.Context, code string) (_ *tables.LinkCode, handle string, _ error) {
	hash, ok := auth.LinkCodeHash(code)
	if !ok {
		return nil, "", nil
	}
	items, err := g.Table.Get(ctx, tables.Strong, tables.LinkCodeKey(hash))
	if err != nil {
		return nil, "", err
	}
	link := new(tables.LinkCode)
	if err := tables.Unmarshal(items[0], link); err != nil {
		return nil, "", err
	}
	if link.Uses < 1 || link.ExpiresAt <= api.From(ctx).Time.UnixMilli() {
		return nil, "", nil
	}
	items, err = g.Table.Get(ctx, tables.Strong, tables.ProfileKey(link.Agent), link.Minter().Item(link.Agent))
	if err != nil {
		return nil, "", err
	}
	if items[0].Int("epoch") != link.Epoch || !link.Minter().Stood(items[1], link.Epoch) {
		return nil, "", nil
	}
	return link, items[0].Str("handle"), nil
}

// mailCode mails a recovery code if the address is the agent's origin. The page is
// the same if it is not.
func (g oauth) mailCode(ctx context.Context, a *asked, s *answer, v view) (*api.Page, error) {
	to, err := mail.ParseAddress(s.email)
	if err != nil || !handle.MatchString(s.handle) {
		v.problem = "To get a code by mail, enter the agent's handle and its mail address for recovery."
		return g.page(ctx, a, v)
	}
	recovery.Evenly(ctx, func(ctx context.Context) bool {
		way := recovery.Way{App: g.App}
		if err := way.Mail(ctx, s.handle, to, mail.ReconnectCode); err != nil {
			api.From(ctx).Log.Error("recovery not mailed", "error", err.Error()) // only logged: the answer must not reveal it
		}
		return false
	})
	v.note = "If this is the agent’s address for recovery, a code is in the mail. Enter the code below and connect. If none arrives within a few minutes, ask for another."
	return g.page(ctx, a, v)
}

func (g oauth) connectRecovered(ctx context.Context, a *asked, s *answer, v view) (*api.Page, error) {
	code, ok := recovery.ReadCode(s.code)
	if !ok || !handle.MatchString(s.handle) {
		v.problem = "To reconnect an agent, enter its handle and the code of 8 letters and digits from the newest mail."
		return g.page(ctx, a, v)
	}
	var to *flow.Bound
	var err error
	recovery.Evenly(ctx, func(ctx context.Context) bool {
		way := recovery.Way{App: g.App}
		to, err = way.Bind(ctx, s.handle, code)
		return to != nil // no wait after a right code: there is nothing to hide
	})
	if err != nil {
		api.From(ctx).Log.Error("recovery code not checked", "error", err.Error()) // only logged: the answer must not reveal it
	}
	if to == nil {
		v.problem = "The code is not valid. Only the newest code works, for one day, and until five wrong tries from your network address."
		return g.page(ctx, a, v)
	}
	return g.connect(ctx, a, s.scopes, to, s.handle)
}
