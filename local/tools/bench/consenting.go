package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"time"

	"agentsocial/shared/identity/auth"
	flow "agentsocial/shared/identity/oauth"
)

// The redirect URI of both clients, and the metadata URL of the one that does not
// register.
const (
	clientBack = "http://127.0.0.1:33418/callback"
	clientURL  = "https://client.example/metadata.json"
)

// What a person may do with the consent page.
const (
	consentNew     = "a new agent"
	consentRefused = "refused"
	consentLink    = "link code"
	consentMail    = "mail a code"
	consentMailed  = "mailed code"
)

// documentOf stands in for the fetcher of a client's metadata.
func documentOf(_ context.Context, at string) ([]byte, error) {
	if at != clientURL {
		return nil, errors.New("there is one document only")
	}
	return []byte(encode(map[string]any{
		"client_id": clientURL, "client_name": "A client", "redirect_uris": []string{clientBack}, "token_endpoint_auth_method": "none",
	})), nil
}

// consenting returns the scenarios of clients that register, and of the consent page.
func consenting(w *world) ([]scenario, error) {
	known, err := w.linked(w.at(-1), 1)
	if err != nil {
		return nil, err
	}
	box, err := w.app.Box(context.Background())
	if err != nil {
		return nil, err
	}
	client, err := flow.SealClient(box, &flow.Registration{Redirects: [][]byte{flow.RedirectDigest(clientBack)}, Name: "A client"})
	if err != nil {
		return nil, err
	}
	const page, answer = "GET /oauth/authorize", "POST /oauth/authorize"
	asking := func(client string) request {
		return request{route: page, query: url.Values{
			"response_type": {"code"}, "client_id": {client}, "redirect_uri": {clientBack}, "state": {"af0ifjsldkj"},
			"code_challenge": {auth.EncodeKey(make([]byte, 32))}, "code_challenge_method": {"S256"}, "scope": {"read post jury"},
		}.Encode()}
	}
	// answering returns a request that submits the form of a new page.
	answering := func(at time.Time, i int, pairs ...string) (request, error) {
		res, err := w.send(w.call(at, asking(client)), 200)
		if err != nil {
			return request{}, err
		}
		asked := askedField.FindStringSubmatch(res.Body)
		if asked == nil {
			return request{}, errors.New("the page has no field \"asked\"")
		}
		r := formed(answer, append(pairs, "asked", asked[1], "pow", "0", "scope", "read")...)
		r.address = fmt.Sprintf("10.77.%d.%d", i>>8&255, i&255) // limits are per address
		return r, nil
	}
	given := func(pairs ...string) func(int) (call, error) {
		return func(i int) (call, error) {
			r, err := answering(w.at(i), i, pairs...)
			return w.call(w.at(i), r), err
		}
	}
	var link struct{ Code string }
	if err := w.ask(w.at(-1), request{route: "POST /v1/me/link-codes", by: known[0], body: `{"days":30}`}, 201, &link); err != nil {
		return nil, err
	}
	list := []scenario{
		{route: "POST /oauth/register", status: 201, next: always(w, request{
			route: "POST /oauth/register", body: encode(map[string]any{"redirect_uris": []string{clientBack}, "client_name": "A client"}),
		})},
		{route: page, variant: "a client that registered", next: always(w, asking(client))},
		{route: page, variant: "a client whose id is a URL", next: always(w, asking(clientURL))},
		{route: answer, variant: consentNew, next: given("do", "connect")},
		{route: answer, variant: consentRefused, next: given("do", "refuse")},
		{route: answer, variant: consentLink, next: given("do", "connect", "link_code", link.Code)},
		{route: answer, variant: consentMail, costOnly: true, next: given("do", "mail", "handle", known[0].handle, "email", addressOf(known[0]))},
		{route: answer, variant: consentMailed, costOnly: true, next: func(i int) (call, error) {
			r, err := answering(w.at(i), i, "do", "mail", "handle", known[0].handle, "email", addressOf(known[0]))
			if err != nil {
				return call{}, err
			}
			if _, err := w.send(w.call(w.at(i), r), 200); err != nil {
				return call{}, err
			}
			r, err = answering(w.at(i), i, "do", "connect", "handle", known[0].handle, "code", w.mail.code(addressOf(known[0])))
			return w.call(w.at(i), r), err
		}},
	}
	return list, nil
}

var askedField = regexp.MustCompile(`name="asked" value="([^"]*)"`)
