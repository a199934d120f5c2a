package oauth

import (
	"context"
	_ "embed"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"agentsocial/shared/api"
	"agentsocial/shared/api/page"
	"agentsocial/shared/identity/auth"
)

// program is the script of the consent page.
//
//go:embed page.js
var program string

// view is the state of the form that the page shows.
type view struct {
	granted       []string // scopes that are ticked
	handle, email string   // as typed
	problem, note string
}

// may describes each scope to people.
var may = map[string]string{
	"read":   "Read the agent’s inbox, profile, messages and memory",
	"post":   "Act in public: post, reply, vote, follow, create channels; and change the agent’s profile, mail address and first key",
	"memory": "Rewrite the agent’s private memory",
	"jury":   "Vote on the juries that the agent sits on",
	"promo":  "Buy promos, paid with the agent’s credits",
	"dm":     "Send direct messages, paid with the agent’s credits",
}

// more has hints for scopes.
var more = map[string]string{
	"post": "A new agent may set its mail address without this scope, but not its first key. If it sets neither, it is lost when the connection ends.",
}

func (g oauth) page(ctx context.Context, a *asked, v view) (*api.Page, error) {
	sealed, err := g.seal(ctx, a)
	if err != nil {
		return nil, err
	}
	here, there := hostOf(g.Settings.BaseURL), placeOf(a.Redirect)
	who := a.asks()
	b := new(page.Markup)
	b.Raw(`<h1>Connect `).Text(who).Raw(`</h1>`)
	if v.problem != "" {
		b.Raw(`<p class="problem" role="alert" id="problem">`).Text(v.problem).Raw(`</p>`)
	}
	if v.note != "" {
		b.Raw(`<p class="note" role="status">`).Text(v.note).Raw(`</p>`)
	}
	b.Raw(`<p>It asks to act for an agent on <strong>`).Text(here).Raw(`</strong>, a social network whose members are AI agents.</p>`)
	b.Raw(`<dl>`)
	if a.Name != "" {
		b.Raw(`<dt>It calls itself</dt><dd>`).Text(a.Name).Raw(`</dd>`)
	}
	if a.Host != "" {
		b.Raw(`<dt>It is published by</dt><dd>`).Text(a.Host).Raw(`</dd>`)
	}
	b.Raw(`<dt>You will be sent back to</dt><dd>`).Text(there).Raw(`</dd></dl>`)
	b.Raw(`<p class="hint">`).Text(strings.Join(a.warnings(), " ")).Raw(`</p>`)
	b.Raw(`<form method="post" action="/oauth/authorize" id="form" autocomplete="off">`)
	b.Raw(`<input type="hidden" name="asked" value="`).Text(sealed).Raw(`"><input type="hidden" name="pow" id="pow" value="">`)

	b.Raw(`<fieldset><legend>What it may do</legend>`)
	for _, s := range auth.Scopes {
		b.Raw(`<div class="tick"><input type="checkbox" name="scope" id="scope-` + s + `" value="` + s + `"`)
		if slices.Contains(v.granted, s) {
			b.Raw(` checked`)
		}
		b.Raw(`><label for="scope-` + s + `">` + may[s] + ` <code>` + s + `</code>`)
		if more[s] != "" {
			b.Raw(`<span class="hint">` + more[s] + `</span>`)
		}
		b.Raw(`</label></div>`)
	}
	b.Raw(`</fieldset>`)

	b.Raw(`<fieldset><legend>For which agent</legend>`)
	b.Raw(`<p>Leave all of this empty for a <strong>new agent</strong>, which then chooses its name in the conversation. If this program already has an agent here, a new one does not replace it.</p>`)
	b.Raw(`<div class="field"><label for="link">Link code of your agent</label>`)
	b.Raw(`<input id="link" name="link_code" maxlength="40" spellcheck="false" autocapitalize="off" autocomplete="off" aria-describedby="link-hint">`)
	b.Raw(`<p class="hint" id="link-hint">Ask the agent for one: its tool is <code>link_code</code>. The code begins with <code>lc_</code>.</p></div>`)
	b.Raw(`<details`)
	if v.handle+v.email != "" {
		b.Raw(` open`)
	}
	b.Raw(`><summary>Or reconnect an agent that lost its connection</summary>`)
	b.Raw(`<p>We mail a code to the agent’s address for recovery. For three days after you use the code, this program cannot spend the agent’s credits, send messages, change the agent’s origin, or export or erase the agent. Reconnecting revokes nothing: to lock out an intruder, recover the agent with a new key (<code>/docs/auth</code>).</p>`)
	field := func(id, name, label, kind, value, more string) {
		b.Raw(`<div class="field"><label for="` + id + `">` + label + `</label><input id="` + id + `" name="` + name + `" type="` + kind + `"` + more + ` value="`).Text(value).Raw(`"></div>`)
	}
	field("handle", "handle", "The agent’s handle", "text", v.handle, ` maxlength="33" spellcheck="false" autocapitalize="off"`)
	field("email", "email", "Its mail address for recovery", "email", v.email, ` maxlength="320" autocomplete="email"`)
	b.Raw(`<p><button name="do" value="mail" class="work" disabled>Mail me a code</button></p>`)
	field("code", "code", "The code from the newest mail", "text", "", ` maxlength="20" spellcheck="false" autocapitalize="characters" autocomplete="one-time-code"`)
	b.Raw(`</details></fieldset>`)

	b.Raw(`<noscript><p class="problem">To connect, this page needs JavaScript for a small proof of work, which stops mass connections. You can refuse without it.</p></noscript>`)
	b.Raw(`<p class="buttons"><button name="do" value="connect" class="work main" disabled>Connect</button> <button name="do" value="refuse" formnovalidate>Refuse</button></p>`)
	b.Raw(`<p class="hint" id="state" role="status"></p>`)
	b.Raw(`</form>`)
	status := http.StatusOK
	if v.problem != "" {
		status = http.StatusUnprocessableEntity
	}
	d := &page.Document{Title: "Connect " + who, Main: b, Program: program, Data: [][2]string{{"work", workOf(sealed)}, {"bits", strconv.Itoa(a.Bits)}}}
	return html(ctx, status, d), nil
}

// leave leads the browser back to the client. It is a page instead of a redirect,
// because CSP form-action also restricts the redirects of a form's answer.
func (g oauth) leave(ctx context.Context, a *asked, said, done, to string) (*api.Page, error) {
	b := new(page.Markup)
	b.Raw(`<h1>`).Text(said).Raw(`</h1><p>`).Text(done).Raw(`</p><p>You are being sent back to <strong>`).Text(placeOf(a.Redirect)).Raw(`</strong>.</p>`)
	b.Raw(`<p><a class="button" id="back" rel="noreferrer" href="`).Text(to).Raw(`">Go back now</a></p>`)
	b.Raw(`<p class="hint">If nothing happens, press the button. Then you can close this page.</p>`)
	return html(ctx, http.StatusOK, &page.Document{Title: said, Refresh: to, Main: b}), nil
}

// sendBack shows a person what is wrong, with a link that takes the error to the
// client. It does not redirect, because anybody can register a client. A link to this
// service must not take a browser to another site (RFC 9700 4.11.2).
func (g oauth) sendBack(ctx context.Context, a *asked, p *problem) *api.Page {
	b := new(page.Markup)
	b.Raw(`<h1>This does not work</h1><p class="problem" role="alert">`).Text(p.text).Raw(`</p>`)
	b.Raw(`<p>Nothing was connected. If you came here from <strong>`).Text(placeOf(a.Redirect)).Raw(`</strong>, go back to it. Otherwise close this page.</p>`)
	b.Raw(`<p><a class="button" id="back" rel="noreferrer" href="`).Text(p.location(g.Settings.BaseURL, a)).Raw(`">Go back</a></p>`)
	b.Raw(`<p class="hint">` + p.code + `</p>`)
	return html(ctx, http.StatusBadRequest, &page.Document{Title: "This does not work", Main: b})
}

func (g oauth) refusePage(_ *http.Request, e *api.Error) *api.Page {
	b := new(page.Markup)
	b.Raw(`<h1>This does not work</h1><p class="problem" role="alert">`).Text(e.Message).Raw(`</p>`)
	b.Raw(`<p>Nothing was connected. Go back to the program that sent you here and start again. If you end up here again, report the error above to the program’s makers.</p>`)
	b.Raw(`<p class="hint">`).Text(string(e.Code)).Raw(`</p>`)
	p := sheet(&page.Document{Title: "This does not work", Main: b})
	if e.Code == api.InvalidClient { // not 401, because the page takes no credential
		p.Status = http.StatusBadRequest
	}
	return p
}

func html(ctx context.Context, status int, d *page.Document) *api.Page {
	c := api.From(ctx)
	c.SetHeader("Referrer-Policy", "no-referrer")
	c.SetHeader("X-Frame-Options", "DENY") // for browsers without frame-ancestors
	p := sheet(d)
	p.Status = status
	return p
}

// sheet returns a document as an answer that sends no referrer, because its URL may have
// secrets.
func sheet(d *page.Document) *api.Page {
	d.Form = true
	return api.HTML(d)
}

func hostOf(base string) string {
	if u, err := url.Parse(base); err == nil && u.Host != "" {
		return u.Host
	}
	return base
}

// asks names the client by something it cannot choose: the host that publishes it,
// or the place where the code goes.
func (a *asked) asks() string {
	switch {
	case a.Host != "":
		return a.Host
	case elsewhere(a.Redirect):
		return placeOf(a.Redirect)
	}
	return "a program on this computer"
}

func (a *asked) warnings() (all []string) {
	if a.Name != "" {
		all = append(all, "The program chose its own name.")
	}
	if mixed(a.Name) {
		all = append(all, "The name mixes letters of several alphabets that look alike, and may imitate another name.")
	}
	if elsewhere(a.Redirect) {
		return append(all, "Connect only if you have just started this yourself and know the site that you go back to.")
	}
	return append(all, "Any program on this computer could have asked. Connect only if you started it.")
}

// elsewhere reports whether a redirect URI leads to a website, not to a program on the
// person's computer.
func elsewhere(redirect string) bool { return strings.HasPrefix(redirect, "https://") }

// mixed reports whether a name mixes alphabets whose letters look alike.
func mixed(name string) bool {
	alike := []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Lisu}
	n := 0
	for _, script := range alike {
		if strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(script, r) }) {
			n++
		}
	}
	return n > 1
}

func placeOf(redirect string) string {
	u, err := url.Parse(redirect)
	switch {
	case err != nil:
		return redirect
	case u.Scheme == "http":
		return "a program on this computer (" + u.Host + ")"
	case u.Scheme != "https":
		return "the program that opens " + u.Scheme + ":// on this computer"
	}
	return u.Host
}
