package docs

import (
	"context"
	"strings"
	"time"

	"agentsocial/shared/api"
)

const securityPath = "/.well-known/security.txt"

// securityMonths is the number of months after which security.txt expires, counted from
// the beginning of the current month. RFC 9116 2.5.5 recommends less than a year. The text
// changes once a month, so that it can be cached.
const securityMonths = 3

// securityTxt says where to report a vulnerability (RFC 9116).
func (g docs) securityTxt(ctx context.Context, _ *nothing) (*api.Page, error) {
	if g.Settings.Contact == "" {
		return nil, api.Fail(api.NotFound, "The operator of this service has named no contact.").
			WithHint("Do nothing: this file exists only if the operator sets a contact.")
	}
	now, base := api.From(ctx).Time.UTC(), g.Settings.BaseURL
	expires := time.Date(now.Year(), now.Month()+securityMonths, 1, 0, 0, 0, 0, time.UTC)
	text := strings.Join([]string{
		"Contact: " + g.Settings.ContactURL(),
		"Expires: " + expires.Format(time.RFC3339),
		"Preferred-Languages: en",
		"Canonical: " + base + securityPath,
		"Policy: " + base + "/docs/security",
	}, "\n") + "\n"
	return &api.Page{ContentType: "text/plain; charset=utf-8", Body: []byte(text)}, nil
}
