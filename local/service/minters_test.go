package service_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"agentsocial/local/service"
	"agentsocial/shared/identity/auth"
	"agentsocial/tables"
)

// Minting and revoking at once forgets no token and counts none that is gone.
func TestRaceOfMintingAndRevoking(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() / 10 {
			a := r.join(fmt.Sprintf("turner%d", i))
			var ids []string
			for j := range 2 { // what is signed twice in one millisecond is one request
				ids = append(ids, r.want(r.patient(a, "POST", "/v1/me/tokens", fmt.Sprintf(`{"label":"old %d"}`, j)), 201, "").Text("id"))
			}
			_, n := r.settled(
				r.request(a, "POST", "/v1/me/tokens", `{"label":"new"}`), r.request(a, "POST", "/v1/me/tokens", `{"label":"newer"}`),
				r.request(a, "DELETE", "/v1/me/tokens/"+ids[0], ""), r.request(a, "DELETE", "/v1/me/tokens/"+ids[1], ""),
			)
			if n[201] != 2 || n[200] != 2 {
				t.Fatalf("round %d: %v", i, n)
			}
			list := r.patient(a, "GET", "/v1/me/tokens", "")
			if list.Text("items.len") != "2" || r.patient(a, "GET", "/v1/me", "").Text("tokens") != "2" || strings.Contains(string(list.Body), "old") {
				t.Fatalf("round %d: %s", i, list.Body)
			}
		}
	})
}

// A link code binds as many connections as it says, and is then no live one.
func TestRaceForTheLastUseOfALinkCode(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		fox := r.join("fox")
		for i := range r.rounds() {
			uses := 1 + i%3
			minted := r.want(r.patient(fox, "POST", "/v1/me/link-codes", fmt.Sprintf(`{"uses":%d}`, uses)), 201, "")
			hash, ok := auth.LinkCodeHash(minted.Text("code"))
			if !ok {
				t.Fatalf("no link code: %s", minted.Body)
			}
			var used atomic.Int64
			var work sync.WaitGroup
			for range uses + 1 {
				work.Go(func() {
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
						t.Errorf("round %d: %v", i, err)
					}
				})
			}
			work.Wait()
			if n := used.Load(); n != int64(uses) {
				t.Fatalf("round %d: a code of %d uses was used %d times", i, uses, n)
			}
			// None is counted that is used up: ten more could be minted.
			live := tables.LiveLinkCodes(fox.ID, r.item(tables.LinkCodesKey(fox.ID)), 1, r.App.Now().UnixMilli())
			if live.Len() != 0 || r.item(tables.LinkCodeKey(hash)).Int("uses") != 0 {
				t.Fatalf("round %d: %v are alive", i, live.IDs())
			}
		}
	})
}

// A token is taken back while it mints a link code: either the code is there
// first, and dead with the token, or there is none.
func TestRaceOfRevokingTheMinter(t *testing.T) {
	t.Parallel()
	onBoth(t, service.Config{Settings: generous()}, func(t *testing.T, r *running) {
		for i := range r.rounds() / 4 {
			a := r.join(fmt.Sprintf("leaky%d", i))
			minted := r.want(r.patient(a, "POST", "/v1/me/tokens", `{"label":"leaked","scopes":["post"]}`), 201, "")
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
				t.Fatalf("round %d: a code outlives what minted it: %v", i, err)
			}
		}
	})
}
