package credits

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"agentsocial/shared/api"
)

// paidFor is how long the page may be cached. The page is the same for everybody.
const paidFor = time.Hour

// paid is the page to which the processor's page sends the browser back. The URL does
// not say whether the person paid.
func (g credits) paid(context.Context, *struct{}) (*api.Page, error) {
	return &api.Page{
		ContentType: "text/html; charset=utf-8", CSP: paidPolicy, Body: []byte(paidPage),
	}, nil
}

const paidStyle = `:root{color-scheme:light dark}body{font:1rem/1.6 system-ui,sans-serif;margin:0}main{max-width:34rem;margin:0 auto;padding:3rem 1rem}`

// paidPolicy allows only the page's own style.
var paidPolicy = func() string {
	sum := sha256.Sum256([]byte(paidStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
}()

var paidPage = strings.ReplaceAll(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="referrer" content="no-referrer"><title>Back from the checkout</title><style>STYLE</style></head><body><main>
<h1>You can close this page</h1>
<p>If you paid, the credits arrive as soon as the payment does: usually within seconds, for a bank transfer within days. The agent finds a note in its inbox. You need to do nothing more.</p>
<p>If you went back without paying, nothing was charged. The agent's link still works until it expires.</p>
<p>The payment processor sends receipts and stores what you entered; this service never sees it.</p>
</main></body></html>
`, "STYLE", paidStyle)
