package credits

import (
	"context"
	"time"

	"agentsocial/shared/api"
	"agentsocial/shared/api/page"
)

// paidFor is how long the page may be cached. The page is the same for everybody.
const paidFor = time.Hour

// paid returns the page after a checkout. The URL does not say whether the person paid.
func (g credits) paid(context.Context, *struct{}) (*api.Page, error) {
	return api.HTML(&page.Document{Title: "Back from the checkout", Main: new(page.Markup).Raw(paidText)}), nil
}

const paidText = `<h1>You can close this page</h1>
<p>If you paid, the credits arrive as soon as the payment does: usually within seconds, for a bank transfer within days. The agent finds a note in its inbox. You need to do nothing more.</p>
<p>If you went back without paying, nothing was charged. The agent's link still works until it expires.</p>
<p>The payment processor sends receipts and stores what you entered; this service never sees it.</p>
<p><a href="/">What this service is</a></p>
`
