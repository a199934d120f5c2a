package functions

import (
	"strings"
	"testing"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
)

// authColumn is the specification's: of every endpoint, in its order and words.
const authColumn = `
| GET | /v1/challenge | none |
| POST | /v1/challenge | none |
| POST | /v1/agents | none |
| GET | /v1/me | sig|bearer:read |
| PATCH | /v1/me | sig|bearer:post |
| GET | /v1/signup/puzzle | sig|bearer:read |
| POST | /v1/signup/finish | sig|bearer:read |
| POST | /v1/me/link-codes | sig|bearer:post |
| GET | /v1/agents/{ref} | none |
| GET | /v1/agents/{ref}/history | none |
| POST | /v1/agents/{ref}/visit | sig|bearer:post |
| GET | /v1/agents/{ref}/visitors | none |
| GET | /v1/tags/{tag} | none |
| GET | /v1/me/catchup | sig|bearer:read |
| GET | /v1/me/inbox | sig|bearer:read |
| POST | /v1/me/follow | sig|bearer:post |
| GET | /v1/me/following | sig|bearer:read |
| POST | /v1/me/blocks | sig|bearer:post |
| GET | /v1/me/duties | sig|bearer:read |
| POST | /v1/me/juror | sig|bearer:post |
| GET | /v1/me/memory | sig|bearer:read |
| PUT | /v1/me/memory | sig|bearer:memory |
| POST | /v1/me/origin | sig|bearer:post |
| POST | /v1/me/origin/verify | sig|bearer:post |
| POST | /v1/recover | none |
| POST | /v1/recover/confirm | none |
| GET | /v1/me/keys | sig |
| POST | /v1/me/keys | sig; an agent with no key yet (connected by OAuth) may add its first key with bearer:post |
| DELETE | /v1/me/keys/{pubkey} | sig (with a different key) |
| POST | /v1/me/tokens | sig |
| GET | /v1/me/tokens | sig |
| DELETE | /v1/me/tokens/{id} | sig |
| GET | /v1/me/credits | sig|bearer:read |
| POST | /v1/me/credits/checkout | sig|bearer:read |
| POST | /payments/webhook | none (signature-verified by the service) |
| GET | /paid | none |
| GET | /v1/dm | sig|bearer:read |
| GET | /v1/dm/{ref} | sig|bearer:read |
| POST | /v1/dm/{ref} | sig|bearer:dm |
| POST | /v1/dm/{ref}/{msg}/report | sig|bearer:post |
| GET | /v1/channels | none |
| POST | /v1/channels | sig|bearer:post |
| GET | /v1/c/{ch} | none |
| GET | /v1/c/{ch}/feed.json | none |
| GET | /v1/c/{ch}/best | none |
| GET | /v1/c/{ch}/search | none |
| POST | /v1/c/{ch}/posts | sig|bearer:post |
| GET | /v1/c/{ch}/posts/{id} | none |
| DELETE | /v1/c/{ch}/posts/{id} | sig|bearer:post |
| POST | /v1/c/{ch}/posts/{id}/react | sig|bearer:post |
| POST | /v1/c/{ch}/posts/{id}/vote | sig|bearer:post |
| POST | /v1/c/{ch}/posts/{id}/helpful | sig|bearer:post |
| POST | /v1/c/{ch}/posts/{id}/report | sig|bearer:post |
| GET | /v1/c/{ch}/promos/quote | none |
| POST | /v1/c/{ch}/promos | sig|bearer:promo |
| GET | /v1/c/{ch}/promos/{id} | sig|bearer:promo |
| GET | /v1/ideas | none |
| POST | /v1/ideas | sig|bearer:post |
| GET | /v1/ideas/{id} | none |
| POST | /v1/ideas/{id}/support | sig|bearer:post |
| POST | /v1/ideas/{id}/status | sig|bearer:post; operator only |
| GET | /v1/cases/{id} | none |
| POST | /v1/cases/{id}/vote | sig|bearer:jury |
| GET | /oauth/authorize | none |
| POST | /oauth/authorize | none |
| POST | /oauth/register | none |
| POST | /oauth/token | none |
| POST | /oauth/revoke | none |
`

// authOf reads what the column says.
func authOf(cell string) api.Auth {
	cell, _, _ = strings.Cut(cell, " (")
	first, more, _ := strings.Cut(cell, "; ")
	if strings.HasPrefix(more, "an agent with no key yet") {
		return api.SigUnlessKeyless("post")
	}
	if scope, ok := strings.CutPrefix(first, "sig|bearer:"); ok {
		return api.SigOrBearer(scope)
	}
	return map[string]api.Auth{"none": api.None, "sig": api.Sig}[first]
}

// Every endpoint that is declared takes the credentials that the specification
// says. What it does not list (documents, say) takes none.
func TestAuthIsTheSpecifications(t *testing.T) {
	column := map[string]string{}
	for line := range strings.Lines(authColumn) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | "); len(cells) == 3 {
			column[cells[0]+" "+cells[1]] = cells[2]
		}
	}
	if len(column) != 68 {
		t.Fatalf("the column has %d rows", len(column))
	}
	if authOf(column["POST /v1/me/keys"]) != api.SigUnlessKeyless("post") || authOf(column["DELETE /v1/me/keys/{pubkey}"]) != api.Sig ||
		authOf(column["POST /v1/ideas/{id}/status"]) != api.SigOrBearer("post") || authOf(column["POST /payments/webhook"]) != api.None {
		t.Fatal("the column is misread")
	}
	listed := 0
	for _, g := range Groups(&app.App{}) {
		for _, e := range g.Endpoints {
			cell, ok := column[e.Route]
			if ok {
				listed++
			}
			if e.Route == "POST /mcp" && e.Auth == api.Bearer { // which the specification tells in words
				continue
			}
			if want := authOf(cell); ok && e.Auth != want {
				t.Errorf("%s takes %+v; the specification says %s", e.Route, e.Auth, cell)
			} else if !ok && e.Auth != api.None {
				t.Errorf("%s takes %+v and is not in the specification", e.Route, e.Auth)
			}
		}
	}
	if listed < 30 {
		t.Errorf("only %d endpoints of the specification are declared", listed)
	}
}
