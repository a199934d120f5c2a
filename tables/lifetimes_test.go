package tables_test

import (
	"testing"
	"time"

	"agentsocial/tables"
)

// ttlOf returns the TTL that a write sets (unix seconds), or 0.
func ttlOf(w tables.Write) int64 {
	for _, u := range w.Updates {
		if u.Attr == tables.AttrTTL && u.Op == tables.UpdSet {
			return u.Value.(int64)
		}
	}
	return w.Item.Int(tables.AttrTTL)
}

// The lifetimes are those in README.md.
func TestLifetimes(t *testing.T) {
	const day, little = 24 * time.Hour, 2 * time.Minute
	ms := func(d time.Duration) int64 { return noon.Add(d).UnixMilli() }
	at := ms(0)
	token := tables.Token{ID: "to_1", TTL: at/1000 + 1}
	grant := tables.Grant{ID: "gr_1", ExpiresAt: ms(tables.GrantIdle)}
	slots := tables.KarmaSlots{}
	slots.Take("po_1", at)
	for name, c := range map[string]struct {
		write tables.Write
		want  time.Duration
	}{
		"profile during signup":                {tables.Put(tables.NewSignup(fox, noon).Item()), 7 * day},
		"token":                                {tables.Put(token.Item(fox)), 0},
		"grant":                                {tables.Put(grant.Item(fox)), 30 * day},
		"grant, refreshed":                     {grant.Rotate(fox, nil, noon, tables.RotateRefusals{})[0], 30 * day},
		"list of live grants":                  {grant.Rotate(fox, nil, noon, tables.RotateRefusals{})[1], 30 * day},
		"list of live grants, with a new one":  {tables.LiveGrants(fox, nil, 0, at).Add("gr_1", ms(3*day)), 3 * day},
		"link code":                            {tables.Put((&tables.LinkCode{Hash: "h", ExpiresAt: ms(time.Hour)}).Item()), day + time.Hour},
		"pending address":                      {(&tables.PendingOrigin{ExpiresAt: ms(time.Hour)}).Ask(fox, noon), 2 * time.Hour},
		"recovery code":                        {(&tables.RecoveryCode{ExpiresAt: ms(time.Hour)}).Put(fox), 2 * time.Hour},
		"used recovery code":                   {(&tables.Recovered{At: at}).Once("code"), time.Hour},
		"owner's juror with missed duties":     {(&tables.Juror{Agent: fox, Owner: "owner", Missed: 1}).Leave(nil, noon)[1], 90 * day},
		"item that allows one signature a day": {(&tables.Visit{ID: "ev_1", At: at}).Sign(nil)[1], 2 * day},
		"karma slots":                          {slots.Keep(fox, owl.ID), 90 * day},
		"agents that an agent vouched for":     {slots.KeepVouches(fox), 90 * day},
		"helpful marks of a day":               {tables.HelpfulOf(fox, 10, nil, noon), 2 * day},
		"promos that a viewer was shown":       {tables.Impression("den", "pr_1", fox, noon)[0], 3 * day},
		"views of a day":                       {tables.CountView("den", 0, 1, true, noon), 10 * day},
		"checkout":                             {(&tables.Checkout{Agent: fox, CreatedAt: at}).Put(), 60 * day},
		"event that waits":                     {tables.InboxEvent{}.Wait(fox, "source", noon, 0), 90 * day},
		"marker of an inbox":                   {tables.InboxMarker(fox, "source", 1, noon), 90 * day},
		"push of a post":                       {tables.Push("po_1", nil, noon), 90 * day},
		"marker of the tally":                  {tables.TallyMarker(fox, "record", noon), 30 * day},
		"text of a post":                       {tables.BodyOnce(fox, "hash", "po_1", "den", noon), day},
		"guard":                                {tables.Guard(fox, noon, noon, "", ""), 10 * time.Minute},
		"request's outcome":                    {tables.Idempotency(fox, "key", "d", "201", noon), day},
		"request under way":                    {tables.ClaimRequest(fox, "name", noon), 30 * time.Second},
		"quota":                                {tables.Quota(fox, "rule", noon, time.Hour, 1, 2), time.Hour},
		"number of mails of a day":             {tables.MailedToAll("code", noon, 1, 2), day},
		"mailed code of an address":            {(&tables.SharedCode{ExpiresAt: ms(time.Hour)}).Put("person"), 2 * time.Hour},
		"mail that came back":                  {(&tables.MailBack{At: at}).Put("person"), 90 * day},
		"day of a credential's last use":       {tables.MarkUsed(fox, "pub", noon), 400 * day},
		"spent nonce":                          {tables.SpendNonce("nonce", &tables.SpentNonce{At: at}), time.Hour},
		"spent authorization code":             {tables.SpendCode("code", &tables.SpentCode{At: at}), 30 * day},
		"spent assertion":                      {tables.SpendAssertion(fox, "jti", noon.Add(time.Minute)), time.Minute},
	} {
		got := time.Unix(ttlOf(c.write), 0).Sub(noon)
		if got < c.want || got > c.want+little {
			t.Errorf("lifetime of the %s: got %s, want %s, or at most %s more", name, got, c.want, little)
		}
	}
}
