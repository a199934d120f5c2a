package service_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentsocial/local/service"
	"agentsocial/local/transcripts"
	"agentsocial/tables"
)

func TestRaceForTheLastMails(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.AllLinksDay = 3
	onBoth(t, service.Config{Settings: settings, Noon: true}, func(t *testing.T, r *running) {
		var requests []*transcripts.Request
		for i := range 6 {
			a := r.join(fmt.Sprintf("racer%d", i))
			requests = append(requests, r.request(a, "POST", "/v1/me/origin", email(fmt.Sprintf("racer%d@den%d.example", i, i))))
		}
		answers, n := r.together(requests...)
		if n[202] != 3 || n[429] != 3 {
			t.Errorf("got outcomes %v, want 3 × 202 and 3 × 429; the first answer is %s", n, answers[0].Body)
		}
		if sent := r.call(nil, "GET", "/_local/mail", "").Text("len"); sent != "3" {
			t.Errorf("mails: got %s, want 3", sent)
		}
	})
}

// A client that floods recovery is refused without delay once it is over its limit.
func TestOneClientCannotShutRecovery(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.ByAddr, settings.Limits.RecoveriesHour, settings.Limits.ReconnectsMinute = true, 3, 5
	r := run(t, service.Config{Settings: settings, Noon: true})
	body := recovery("nobody", "somebody@example.org")
	confirm := confirmation(&transcripts.Agent{Name: "nobody"}, transcripts.NewAgent("k"), "AAAA-AAAA")
	flood := []*transcripts.Request{r.request(nil, "POST", "/v1/recover", body), r.request(nil, "POST", "/v1/recover/confirm", confirm)}
	c := r.connection()
	flood = append(flood, transcripts.Submit(r.consent(c).Form("connect", filled("handle", "fox", "code", "0000-0000"))))
	if _, n := r.together(flood...); n[429] != 0 {
		t.Fatalf("the first three requests: got outcomes %v, want none refused", n)
	}
	start := time.Now()
	for range 10 {
		r.want(r.call(nil, "POST", "/v1/recover", body), 429, "rate_limited")
		r.want(r.call(nil, "POST", "/v1/recover/confirm", confirm), 429, "rate_limited")
		if a := r.send(transcripts.Submit(r.consent(c).Form("connect", filled("handle", "fox", "code", "0000-0000")))); a.Status != 429 {
			t.Errorf("the consent page: got %d, want 429", a.Status)
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("got 30 refusals in %v, want at most 10 s", took)
	}
	items, err := r.table.Get(t.Context(), tables.Strong, tables.QuotaKey("all", "reconnect", r.App.Now().Truncate(time.Minute)))
	if err != nil || items[0].Int("n") > 1 {
		t.Errorf("reconnections of all callers: got %d, %v; want at most the one that was served", items[0].Int("n"), err)
	}
	other := &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}).DialContext}}
	res, err := other.Post(r.URL+"/v1/recover", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 202 {
		t.Errorf("another address: got %d, want 202", res.StatusCode)
	}
}

// Whatever strangers do, the owner of an address gets a mail with a working code at once.
// The address gets at most four mails a day and seventeen a week.
func TestStrangersCannotKeepAnAddressFromBeingLinked(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.OriginsDay, settings.Limits.AllLinksDay = 1000, 1_000_000
	r := run(t, service.Config{Settings: settings, Noon: true})
	var strangers []*transcripts.Agent
	for i := range 6 {
		strangers = append(strangers, r.join(fmt.Sprintf("stranger%d", i)))
	}
	const day, week = 24 * time.Hour, 7 * 24 * time.Hour
	rounds := 0
	rapid.Check(t, func(t *rapid.T) {
		rounds++
		owner := r.join(fmt.Sprintf("owner%d", rounds))
		address := fmt.Sprintf("person%d@den.example", rounds)
		sent := map[time.Duration]map[time.Time]int{day: {}, week: {}} // mails by window
		ask := func(a *transcripts.Agent) int {
			before := len(r.mailsTo(address))
			status := r.call(a, "POST", "/v1/me/origin", email(address)).Status
			for window, n := range sent {
				n[r.App.Now().Truncate(window)] += len(r.mailsTo(address)) - before
			}
			return status
		}
		for range rapid.IntRange(1, 4).Draw(t, "days") {
			for range rapid.IntRange(0, 9).Draw(t, "strangers' requests") {
				s := rapid.SampledFrom(strangers).Draw(t, "stranger")
				switch rapid.IntRange(0, 3).Draw(t, "does") {
				case 0:
					r.call(s, "POST", "/v1/me/origin/verify", codeBody("AAAA-AAAA"))
				case 1:
					r.advance(time.Duration(rapid.IntRange(0, 300).Draw(t, "minutes")) * time.Minute)
				default:
					ask(s)
				}
			}
			if status := ask(owner); status != 202 {
				t.Fatalf("the owner's request: got %d, want 202", status)
			}
			r.advance(time.Duration(rapid.IntRange(0, 14).Draw(t, "until the owner reads")) * time.Minute)
			linked := 0
			for _, m := range r.mailsTo(address) { // the newest mail that names the owner or no agent
				names := strings.Contains(m.Subject, "@")
				if names && !strings.Contains(m.Subject, "@"+owner.Name) {
					continue
				}
				linked = r.call(owner, "POST", "/v1/me/origin/verify", codeBody(mailed.FindString(m.Text))).Status
				break
			}
			if linked != 200 {
				t.Fatalf("the owner's code: got %d, want 200", linked)
			}
			r.advance(r.App.Now().Truncate(day).Add(day + time.Second).Sub(r.App.Now()))
		}
		for window, most := range map[time.Duration]int{day: 4, week: 17} {
			for at, n := range sent[window] {
				if n > most {
					t.Fatalf("got %d mails from %v on, within %v; want at most %d", n, at, window, most)
				}
			}
		}
	})
}

// Agents that name one address at once share one mail, and its code links one of them.
func TestRaceForASharedCode(t *testing.T) {
	t.Parallel()
	settings := generous()
	settings.Limits.MailsDay = 1
	onBoth(t, service.Config{Settings: settings, Noon: true}, func(t *testing.T, r *running) {
		const address = "person@den.example"
		r.want(r.call(r.join("first"), "POST", "/v1/me/origin", email(address)), 202, "")
		var agents []*transcripts.Agent
		var asks, verifies []*transcripts.Request
		for i := range 4 {
			agents = append(agents, r.join(fmt.Sprintf("same%d", i)))
			asks = append(asks, r.request(agents[i], "POST", "/v1/me/origin", email(address)))
		}
		if answers, n := r.together(asks...); n[202] != 4 {
			t.Fatalf("asked at once: got outcomes %v, want 4 × 202; the first answer is %s", n, answers[0].Body)
		}
		if n := r.mails(address); n != 2 {
			t.Errorf("got %d mails, want the first and one that names no agent", n)
		}
		for _, a := range agents {
			verifies = append(verifies, r.request(a, "POST", "/v1/me/origin/verify", codeBody(r.code(address))))
		}
		if answers, n := r.together(verifies...); n[200] != 1 || n[400] != 3 {
			t.Errorf("verified at once: got outcomes %v, want 1 × 200 and 3 × 400; the first answer is %s", n, answers[0].Body)
		}
	})
}

type letter struct{ Subject, Text string }

// mailsTo returns the mails to an address, newest first.
func (r *running) mailsTo(address string) (all []letter) {
	r.t.Helper()
	if err := json.Unmarshal(r.call(nil, "GET", "/_local/mail?to="+address, "").Body, &all); err != nil {
		r.t.Fatal(err)
	}
	return all
}
