package service_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
)

func TestRaceOfMintingAndRevoking(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() / 10 {
			a := r.join(fmt.Sprintf("turner%d", i))
			var ids []string
			for j := range 2 { // equal requests signed in one millisecond count as one
				ids = append(ids, r.want(r.callRetry(a, "POST", "/v1/me/tokens", fmt.Sprintf(`{"label":"old %d"}`, j)), 201, "").Text("id"))
			}
			_, n := r.settled(
				r.request(a, "POST", "/v1/me/tokens", `{"label":"new"}`), r.request(a, "POST", "/v1/me/tokens", `{"label":"newer"}`),
				r.request(a, "DELETE", "/v1/me/tokens/"+ids[0], ""), r.request(a, "DELETE", "/v1/me/tokens/"+ids[1], ""),
			)
			if n[201] != 2 || n[200] != 2 {
				t.Fatalf("round %d: got outcomes %v, want 2 × 201 and 2 × 200", i, n)
			}
			list := r.callRetry(a, "GET", "/v1/me/tokens", "")
			counted := r.callRetry(a, "GET", "/v1/me", "").Text("tokens")
			if list.Text("items.len") != "2" || counted != "2" || strings.Contains(string(list.Body), "old") {
				t.Fatalf("round %d: got list %s and %s tokens in the profile, want the two new tokens and 2", i, list.Body, counted)
			}
		}
	})
}

func TestRaceForTheLastUseOfALinkCode(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		fox := r.join("fox")
		for i := range r.rounds() {
			uses := 1 + i%3
			minted := r.want(r.callRetry(fox, "POST", "/v1/me/link-codes", fmt.Sprintf(`{"uses":%d}`, uses)), 201, "")
			hash, ok := auth.LinkCodeHash(minted.Text("code"))
			if !ok {
				t.Fatalf("round %d: minting: got %s, want a link code", i, minted.Body)
			}
			var used atomic.Int64
			atOnce(uses+1, func(int) {
				err := r.App.Retry(t.Context(), func() error {
					var code tables.LinkCode
					items, err := r.table.Get(t.Context(), tables.Strong, tables.LinkCodeKey(hash))
					if err == nil {
						err = tables.Unmarshal(items[0], &code)
					}
					if err != nil || code.Uses == 0 {
						return err
					}
					err = r.App.Transact(t.Context(), append(code.Use(r.App.Now()), code.MinterStands())...)
					if err == nil {
						used.Add(1)
					}
					return err
				})
				if err != nil {
					t.Errorf("round %d: using the code: %v", i, err)
				}
			})
			if n := used.Load(); n != int64(uses) {
				t.Fatalf("round %d: uses: got %d, want %d", i, n, uses)
			}
			// A code without uses left does not count against the limit of live codes.
			live := tables.LiveLinkCodes(fox.ID, r.item(tables.LinkCodesKey(fox.ID)), 1, r.App.Now().UnixMilli())
			if left := r.item(tables.LinkCodeKey(hash)).Int("uses"); live.Len() != 0 || left != 0 {
				t.Fatalf("round %d: got live codes %v and %d uses left, want none and 0", i, live.IDs(), left)
			}
		}
	})
}

// Either no code is made, or the code does not work.
func TestRaceOfRevokingTheMinter(t *testing.T) {
	t.Parallel()
	onBoth(t, unlimited(), func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			a := r.join(fmt.Sprintf("leaky%d", i))
			minted := r.want(r.callRetry(a, "POST", "/v1/me/tokens", `{"label":"leaked","scopes":["post"]}`), 201, "")
			mint := bearer(minted.Text("token"), "POST", "/v1/me/link-codes", "")
			mint.Header.Set("Idempotency-Key", "mint")
			answers, _ := r.settled(mint, r.request(a, "DELETE", "/v1/me/tokens/"+minted.Text("id"), ""))
			r.want(answers[1], 200, "")
			if answers[0].Status == 401 {
				r.want(answers[0], 401, "bad_token")
				continue
			}
			hash, _ := auth.LinkCodeHash(r.want(answers[0], 201, "").Text("code"))
			var code tables.LinkCode
			if err := tables.Unmarshal(r.item(tables.LinkCodeKey(hash)), &code); err != nil {
				t.Fatal(err)
			}
			var dead *tables.Cancelled
			if err := r.App.Transact(t.Context(), append(code.Use(r.App.Now()), code.MinterStands())...); !errors.As(err, &dead) {
				t.Fatalf("round %d: the code of a revoked token: got %v, want Cancelled", i, err)
			}
		}
	})
}
