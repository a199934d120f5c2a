// Package api is where endpoints meet HTTP. A group of endpoints is declared
// as values; the router, binding, validation, authentication, limits,
// idempotency, the error envelope, the OpenAPI document, gateway routes and
// documentation are all read from them. Handlers speak the domain: typed
// input, typed output, an error.
//
// A request's way: [Server.ServeHTTP] matches it, reads its body within the
// endpoint's limit (server.go) and verifies a signature without touching the table
// (credential.go), and has its [Arguments]; a tool's are read by [Tool.Arguments].
// From there on, HTTP and tools go one way (invoke.go): the arguments are held to the
// schemas and put into the input (bind.go); [Call.authorize] reads the credential
// together with what the endpoint needs, in one round trip (authorize.go), and tells
// a request that was carried out before (replay.go); the handler decides and commits
// through [Call.Commit], which adds the write limit and the record of the
// outcome to its transaction (call.go). Its answer, or its refusal, is written as
// HTTP (respond.go), or is a tool's result.
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

// Group is a set of endpoints that is deployed as one function.
type Group struct {
	Name      string // of the folder and the function
	Doc       string
	Endpoints []Endpoint

	Needs         app.Capabilities
	Reads, Writes tables.Families // beyond what serving any endpoint takes: see [Group.Rights]

	// Warm, if there is one, makes what takes a while and needs no request: it is
	// called once, by NewServer.
	Warm func()
	// Start, if there is one, is called before the group's first request, until
	// it succeeds once in this process.
	Start func(context.Context) error
	// Elsewhere are the routes that other functions serve, as path → method →
	// whether it is public: the group that answers unknown paths tells a wrong
	// method with it, and answers preflights.
	Elsewhere func() map[string]map[string]bool
}

// Rights returns the families of partitions, and the indexes, that the group's
// function reads and writes.
func (g Group) Rights() (reads, writes tables.Families) {
	if !g.Needs.Has(app.Table) {
		return 0, 0
	}
	// Serving any endpoint takes credentials, whoever they or a ref are of, limits,
	// and what is known of a request that comes again.
	const serveReads = tables.Agents | tables.Guards | tables.Handles | tables.OriginalKeys | tables.Nonces | tables.Quotas
	const serveWrites = tables.Guards | tables.Nonces | tables.Quotas
	return serveReads | g.Reads, serveWrites | g.Writes
}

// Effects reports whether an endpoint of the group has an effect.
func (g Group) Effects() bool {
	return slices.ContainsFunc(g.Endpoints, func(e Endpoint) bool { return e.Writes() })
}

// Endpoint declares one endpoint. Everything else about it is derived.
type Endpoint struct {
	Route    string // "POST /v1/c/{ch}/posts"
	Auth     Auth
	Status   int           // of success; 200 if 0
	Doc      string        // first sentence: a title
	Tool     string        // MCP tool that does the same, if there is one: see [Tool]
	Topic    string        // of /docs that explains it
	Errors   []Code        // beyond those that any endpoint may answer
	Cache    time.Duration // a public GET's max-age for anonymous callers
	Cost     int64         // least weight of a read against the read limit; 1 if 0
	Rate     int           // requests a second of all callers together that the gateway lets through; its own limit if 0
	Body     int64         // most bytes of a request body; 64 KiB if 0
	Signup   bool          // may be called by an agent that has not finished signup
	Held     bool          // refused for a while after a recovery: what a thief would do first
	Safe     bool          // only takes rights away: a suspended agent may do it too
	Pure     bool          // a POST without an effect on the table (a challenge)
	Stable   bool          // a POST that, made twice, comes to what it comes to once (a vote), as any PUT, PATCH or DELETE does
	Marks    bool          // a GET that notes what was read: a tool of it has an effect
	Secures  bool          // makes the agent its owner's for good: see [Call.founding]
	FewPages bool          // of browsers' pages, only those of this service, of loopback and of Settings.WebOrigins may call it
	Foreign  Foreign       // what its form owes to another standard; zero for most

	work work
}

// Foreign is what an endpoint says whose form another standard prescribes: forms,
// documents, redirects, errors of its own. Its zero value is JSON on both sides,
// with this service's envelope for errors.
type Foreign struct {
	Media      []string // content types of the body, which the handler gets as RawBody; JSON, checked, if nil
	Empty      bool     // a body of no bytes is accepted, not refused as missing
	Form       any      // a struct, for the document: the members of a body of one of these types, a form's or an object's
	Answers    []string // content types of a Page, for the document
	Headers    []string // of success, for the document; a GET with an ETag may answer 304
	Redirects  bool     // a success may be a 302 with a Location, too
	LooseQuery bool     // unknown and repeated query members are left to the handler (RFC 6749 3.1)
	LooseBody  bool     // unknown members of its JSON body are left out
	AnyOrigin  bool     // a page of any origin may read the answer, as it may a public GET's
	NoBearer   bool     // a bearer token in the header Authorization means nothing here, and is not looked at
	Proved     bool     // the handler verifies the caller itself (a notification): what it accepts does not count as a read
	Refuse     Refuse   // another form for errors; nil: the envelope
	Relays     bool     // of [Serve]: hands requests on to endpoints, which judge the credential; what it answers itself it asks [Call.Admit] about
	Own        []int    // of [Serve]: statuses beside success of answers in its protocol's own form; without a body below 300
}

// Method and Path are the two parts of the route.
func (e *Endpoint) Method() string { m, _, _ := strings.Cut(e.Route, " "); return m }
func (e *Endpoint) Path() string   { _, p, _ := strings.Cut(e.Route, " "); return p }

// Writes reports whether the endpoint has an effect.
func (e *Endpoint) Writes() bool { return e.Method() != http.MethodGet && !e.Pure }

// open reports whether a page of any origin may read the answer: a public GET's,
// and where it is said; but not that of a page which a person is led through
// (RFC 9700 2.6).
func (e *Endpoint) open() bool {
	return e.Foreign.AnyOrigin || !e.Auth.Needed() && e.Method() == http.MethodGet && !e.Foreign.Redirects
}

// Refuse writes a refusal in another standard's form: the answer, whose status
// is the code's if it has none; nil for the envelope after all. It sees the
// request for its headers alone. The document is made with it too, from a
// request of each of the endpoint's content types: what it answers must follow
// from these and the error, and its `error`, if that is a string, is the code
// that callers see.
type Refuse func(*http.Request, *Error) *Page

// DefaultBody is the most bytes of a request body unless an endpoint says
// otherwise: 4000 characters, each escaped as two \uXXXX, and then some.
const DefaultBody = 64 << 10

// Auth is what an endpoint accepts as credentials (spec, the Auth column).
type Auth struct {
	Sig   bool
	Scope string // a bearer token with this scope; "" for no token at all
	// Keyless says that a token is taken only while the agent has no key: one
	// that connected by OAuth adds its first key with it (spec "Keys").
	Keyless bool
	// Bearer takes a token whatever its scopes, and no signature: the endpoint
	// leads to others, each with a scope of its own.
	Bearer bool
}

// None is an endpoint that anybody may call. A credential that is sent all the
// same is verified.
var None = Auth{}

// Sig accepts a signature only.
var Sig = Auth{Sig: true}

// SigOrBearer accepts a signature, or a bearer token with the scope.
func SigOrBearer(scope string) Auth { return Auth{Sig: true, Scope: scope} }

// SigUnlessKeyless accepts a signature, or from an agent without any key a
// bearer token with the scope.
func SigUnlessKeyless(scope string) Auth { return Auth{Sig: true, Scope: scope, Keyless: true} }

// Bearer accepts a bearer token, whatever its scopes, and no signature.
var Bearer = Auth{Bearer: true}

// Needed reports whether a credential is required.
func (a Auth) Needed() bool { return a.Sig || a.Bearer }

// Reader is implemented by inputs of which it is known, before anything is
// read, which items the handler will want: they are read together with the
// credential. agent is the caller's id, or "" if there is none.
type Reader interface {
	Reads(agent string) []tables.Key
}

// RefReader is a Reader that wants items of the agent whom a ref names, its
// profile among them. other is that agent's id, or "" while it is not known:
// then [Call.FindOther] reads what is missing.
type RefReader interface {
	Named() (ref string)
	Reads(agent, other string) []tables.Key
}

// Handler is an endpoint's own work.
type Handler[I, O any] func(context.Context, *I) (*O, error)

// On declares an endpoint that reads.
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

// OnWrite declares an endpoint with an effect. do carries the request out, commits
// its effect with [Call.Commit], and returns what came of it. answer makes the
// answer of that, and changes nothing. A request that comes again is not carried
// out again: answer gets the outcome that was recorded with the effect. It then has
// the exported fields of T alone; in others do may leave what it has read already.
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

// Page is an answer that is not JSON: markdown, HTML, a document from a file, a
// redirect.
type Page struct {
	Status      int // the endpoint's own if 0
	Location    string
	ContentType string
	Vary        string
	CSP         string // Content-Security-Policy
	Body        []byte
}

// output is an answer as the document has it: in the member Body, as a Page's is.
type output[O any] struct{ Body *O }

// work is an endpoint's own part.
type work struct {
	in, out reflect.Type // structs: the input, and what holds the answer
	// do carries a request out and answers it; again answers one that was carried
	// out before, and is nil if the endpoint has no effect.
	do    func(ctx context.Context, in any) (out any, err error)
	again func(ctx context.Context, in any, before record) (out any, err error)
	serve http.HandlerFunc // of [Serve], in place of these
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
