// Package api serves endpoints over HTTP. A group of endpoints is declared as values. The
// router, validation, authentication, limits, idempotency, errors and the OpenAPI document
// are all made from the declarations.
//
// A request is decided in this order:
//
//  1. If there is an edge, the server checks that the request came through it (edge.go).
//     Then it finds the route, and reads the body as bytes, up to a limit (server.go).
//  2. It checks the form of the credential, and verifies a signature without the table
//     (credential.go).
//  3. [Call.screen] refuses addresses that this process remembers to be over a limit. If a
//     signed request names no agent, it finds the agent by the key (serve.go).
//  4. Query and body are decoded and checked against the schemas (bind.go, check.go). This
//     needs no table, and must come before step 5, which reads the items that the input
//     names. A refusal waits until step 6.
//  5. [Call.authorize] reads the credential, the limits and those items in one round trip
//     (authorize.go). It refuses an invalid credential, recognises a repeated request
//     (replay.go), and refuses a caller that is over a limit or may not act.
//  6. A wrong input is refused. Otherwise the handler decides, and commits with
//     [Call.Commit], which adds the write limit and the record of the outcome (call.go).
//  7. The answer is written as HTTP (respond.go) or returned as a tool's result. Before it
//     is sent, the request is counted (readlimit.go).
//
// So if an endpoint needs a credential, only callers with a valid one learn what step 4
// found wrong. A tool's call ([Call.Invoke]) begins at step 3 (invoke.go).
package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

// Group is a set of endpoints deployed as one function.
type Group struct {
	Name      string // also the name of its folder and of its function
	Doc       string
	Endpoints []Endpoint

	Needs         app.Capabilities
	Reads, Writes tables.Families // beyond what every endpoint needs: see [Group.Rights]

	// Warm, if set, does slow work that needs no request. NewServer calls it once.
	Warm func()
	// Start, if set, is called before requests until it succeeds once in this process.
	Start func(context.Context) error
	// Elsewhere returns the routes of other functions, as path → method → whether the route
	// is public. Only the group that answers unknown paths sets it, for wrong methods and
	// preflights.
	Elsewhere func() map[string]map[string]bool
}

// Capabilities returns what the group's function is built with: its needs, and the edge's
// secret, which every function behind the gateway checks.
func (g Group) Capabilities() app.Capabilities { return g.Needs | app.Edge }

// Rights returns the families and indexes that the group's function reads and writes.
func (g Group) Rights() (reads, writes tables.Families) {
	if !g.Needs.Has(app.Table) {
		return 0, 0
	}
	const serveReads = tables.Agents | tables.Guards | tables.Handles | tables.KeyClaims | tables.Nonces | tables.Quotas
	const serveWrites = tables.Guards | tables.Nonces | tables.Quotas
	return serveReads | g.Reads, serveWrites | g.Writes
}

// Effects reports whether any endpoint of the group has an effect.
func (g Group) Effects() bool {
	return slices.ContainsFunc(g.Endpoints, func(e Endpoint) bool { return e.Writes() })
}

// Endpoint declares one endpoint.
type Endpoint struct {
	Route    string // "POST /v1/c/{ch}/posts"
	Auth     Auth
	Status   int           // of success; 200 if 0
	Doc      string        // the first sentence is also its title
	Tool     string        // name of its MCP tool, if any: see [Tool]
	Name     string        // of its operation in the OpenAPI document, if it has no tool
	Topic    string        // of /docs that explains it
	Beyond   string        // for /docs/deviations: why it exists, if the specification lacks it
	Errors   []Code        // beyond those that [Endpoint.AllCodes] adds
	Links    []Link        // to the endpoints that read or remove what this one makes
	Cache    time.Duration // a public GET's max-age for anonymous callers
	Cost     int64         // reads that a call counts as, at least; 1 if 0
	Rate     int           // requests a second that the gateway lets through, from all callers; if 0, the gateway's own limit
	Body     int64         // most bytes of a request body; 64 KiB if 0
	Signup   bool          // may be called by an agent that has not finished signup
	Held     bool          // refused for a while after a recovery, to credentials made since
	Safe     bool          // only removes rights, or defends the agent: a suspended agent may call it too
	Pure     bool          // no effect on the table, even as a POST; without Cost, a success does not count as a read
	Stable   bool          // an idempotent POST (a vote), like any PUT, PATCH or DELETE
	Marks    bool          // a GET that marks as read; its tool is not read-only
	Secures  bool          // see [Call.founding] and [Call.borrowed]
	Secret   bool          // its answer has a credential, a code or private text, so it is never compressed
	FewPages bool          // of web pages, only this service's, loopback's and Settings.WebOrigins' may call it
	Foreign  Foreign       // what another standard prescribes; zero for most

	work work
}

// Foreign describes what another standard prescribes for an endpoint. Its zero value is
// JSON in and out, with this service's error envelope.
type Foreign struct {
	Media      []string // content types of the body; the handler gets it as RawBody; nil means checked JSON
	Described  string   // the only type of Media that the document names, for generators that support only one; if "", it names all
	Empty      bool     // a body of no bytes is accepted
	Form       any      // a struct with the body's members, for the document
	Answers    []string // content types of a Page, for the document
	Headers    []string // of success, for the document; a GET with an ETag may answer 304
	Redirects  bool     // a success may also be a 302 with a Location
	LooseQuery bool     // unknown and repeated query members are left to the handler (RFC 6749 3.1)
	ExtraQuery bool     // unknown query members are ignored: other programs add some to links
	LooseBody  bool     // unknown members of its JSON body are ignored
	AnyOrigin  bool     // pages of any origin may read the answer
	NoBearer   bool     // a bearer token in the header Authorization is ignored
	Proved     bool     // the handler verifies the caller itself; a success does not count as a read
	Refuse     Refuse   // writes errors in another form; nil for the envelope
	Relays     bool     // for [Serve]: the endpoints it calls check credentials; before its own answers it calls [Call.Admit]
	Own        []int    // for [Serve]: further statuses in its protocol's form; those below 300 have no body
}

// Method returns the first part of the route.
func (e *Endpoint) Method() string { m, _, _ := strings.Cut(e.Route, " "); return m }

// Path returns the second part of the route.
func (e *Endpoint) Path() string { _, p, _ := strings.Cut(e.Route, " "); return p }

func (e *Endpoint) pattern() string { return PatternOf(e.Route) }

// exactly ends a pattern of [http.ServeMux]. Without it, "GET /" would match every path.
const exactly = "{$}"

// PatternOf returns a route as a pattern of [http.ServeMux].
func PatternOf(route string) string {
	if strings.HasSuffix(route, " /") {
		return route + exactly
	}
	return route
}

// Head reports whether the endpoint also answers HEAD, as every public GET does.
func (e *Endpoint) Head() bool { return e.Method() == http.MethodGet && !e.Auth.Needed() }

// takesCredential reports whether the OpenAPI document says that a public read may also be
// called with a credential.
func (e *Endpoint) takesCredential() bool {
	return e.Head() && !e.Foreign.NoBearer && strings.HasPrefix(e.Path(), "/v1/")
}

// Paged reports whether a browser gets a page.
func (e *Endpoint) Paged() bool {
	return e.work.page != nil || slices.Contains(e.Foreign.Answers, mediaHTML)
}

// Writes reports whether the endpoint has an effect.
func (e *Endpoint) Writes() bool { return e.Method() != http.MethodGet && !e.Pure }

// open reports whether pages of any origin may read the answer. An endpoint whose page
// redirects a person is not open (RFC 9700 2.6).
func (e *Endpoint) open() bool {
	return e.Foreign.AnyOrigin || !e.Auth.Needed() && e.Method() == http.MethodGet && !e.Foreign.Redirects
}

// Refuse returns a refusal in another standard's form, or nil for the envelope. A status of
// 0 means the code's. [OpenAPI] calls it too, for each code and content type, so the result
// must depend only on the content type and the error. If the answer is JSON with a string
// `error`, that string is the code that callers see.
type Refuse func(*http.Request, *Error) *Page

// DefaultBody bounds the bytes of a request body unless an endpoint sets Body. It holds
// 4000 characters, each escaped as two \uXXXX.
const DefaultBody = 64 << 10

// Auth says which credentials an endpoint accepts (spec, the Auth column).
type Auth struct {
	Sig   bool
	Scope string // accepts a bearer token with this scope in place of a signature; "" accepts none
	// Keyless accepts a token only while the agent has no key. With it, an agent that was
	// created on the consent page adds its first key (spec "Keys").
	Keyless bool
	// Bearer accepts a token with any scopes, and no signature. Its endpoint calls others,
	// each with its own scope.
	Bearer bool
}

// None accepts calls without a credential. A credential that is sent is verified.
var None = Auth{}

// Sig accepts a signature only.
var Sig = Auth{Sig: true}

// SigOrBearer accepts a signature, or a bearer token with the scope.
func SigOrBearer(scope string) Auth { return Auth{Sig: true, Scope: scope} }

// SigUnlessKeyless accepts a signature or, from an agent without keys, a bearer token with
// the scope.
func SigUnlessKeyless(scope string) Auth { return Auth{Sig: true, Scope: scope, Keyless: true} }

// Bearer accepts a bearer token with any scopes, and no signature.
var Bearer = Auth{Bearer: true}

// Needed reports whether a credential is required.
func (a Auth) Needed() bool { return a.Sig || a.Bearer }

// Reader is implemented by inputs that know in advance which items the handler needs. They
// are read together with the credential. agent is the caller's id, or "" without a
// credential.
type Reader interface {
	Reads(agent string) []tables.Key
}

// CrowdReader is a Reader of public items that many callers may need at the same time, such
// as a post that everybody votes on. Crowded returns their keys. While many callers need
// such an item, the handler may get a copy that is a second or two old
// ([recent.Reader.GetCrowded]).
type CrowdReader interface {
	Reader
	Crowded() []tables.Key
}

// RefReader is like [Reader], for inputs that need items of the agent that a ref names,
// including its profile. other is that agent's id. If the id is not known yet when the
// credential is read, [Call.FindOther] reads the items later.
type RefReader interface {
	Named() (ref string)
	Reads(agent, other string) []tables.Key
}

// Handler carries out a request.
type Handler[I, O any] func(context.Context, *I) (*O, error)

// On declares an endpoint that reads, or that has an effect and needs no credential.
func On[I, O any](e Endpoint, h Handler[I, O]) Endpoint {
	if reflect.TypeFor[O]() == reflect.TypeFor[Page]() {
		panic("api: " + e.Route + " answers with a page: declare it with OnPage")
	}
	return reading(on[I, output[O]](e, h, nil))
}

// OnPage is On for an endpoint that answers with a page.
func OnPage[I any](e Endpoint, h Handler[I, Page]) Endpoint {
	return reading(on[I, Page](e, h, nil))
}

func reading(e Endpoint) Endpoint {
	if e.Writes() && e.Auth.Needed() {
		panic("api: " + e.Route + " has an effect: declare it with OnWrite")
	}
	return e
}

// OnWrite declares an endpoint with an effect that needs a credential. do carries the
// request out, commits its effect with [Call.Commit], and returns the outcome. answer makes
// the answer from the outcome, and changes nothing. For a repeated request, only answer is
// called, with the recorded outcome. A recorded outcome has only the exported fields of T.
// The others reach answer only the first time.
func OnWrite[I, T, O any](e Endpoint, do func(context.Context, *I) (*T, error), answer func(context.Context, *I, *T) (*O, error)) Endpoint {
	checkOutcome(reflect.TypeFor[T]())
	return on[I, output[O]](e, func(ctx context.Context, in *I) (*O, error) {
		came, err := do(ctx, in)
		if err != nil {
			return nil, err
		}
		return answer(ctx, in, came)
	}, func(ctx context.Context, in *I, before record) (*O, error) {
		came := new(T)
		if err := before.read(came); err != nil {
			return nil, err
		}
		return answer(ctx, in, came)
	})
}

// Page is an answer with any content type, such as Markdown or HTML, or a redirect.
type Page struct {
	Status      int // the endpoint's own if 0
	Location    string
	ContentType string
	Vary        string
	CSP         string // Content-Security-Policy
	NoIndex     bool   // search engines should not list it
	Body        []byte
}

type output[O any] struct{ Body *O }

type work struct {
	in, out reflect.Type // structs: the input, and an output or a Page
	// do carries a request out and answers it. again answers a repeated request; it is nil
	// unless [OnWrite] declared the endpoint.
	do    func(ctx context.Context, in any) (out any, err error)
	again func(ctx context.Context, in any, before record) (out any, err error)
	page  func(ctx context.Context, out any) *Page // of [Readable]; nil for most
	serve http.HandlerFunc                         // for [Serve], instead of the other fields
}

func on[I, R, O any](e Endpoint, h Handler[I, O], again func(context.Context, *I, record) (*O, error)) Endpoint {
	e.work = work{in: reflect.TypeFor[I](), out: reflect.TypeFor[R](), do: func(ctx context.Context, in any) (any, error) {
		return h(ctx, in.(*I))
	}}
	if again != nil {
		e.work.again = func(ctx context.Context, in any, before record) (any, error) { return again(ctx, in.(*I), before) }
	}
	return e
}
