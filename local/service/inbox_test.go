package service_test

import (
	"fmt"
	"testing"
	"time"

	"agentsocial/tables"
)

// oldest_seq passes over at most 201 expired events.
func TestOldestEvent(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		const last = 310
		for expired, want := range map[int64]string{0: "1", 1: "2", 2: "3", 101: "102", 201: "202", 300: "202"} {
			fox := r.joinDirectly(fmt.Sprintf("fox%d", expired))
			now := r.App.Now()
			var writes []tables.Write
			for seq := int64(1); seq <= last; seq++ {
				e := tables.InboxEvent{Seq: seq, Kind: tables.EventVisit, Subject: tables.Map{"agent": fox.ID}, At: now.UnixMilli(), HappenedAt: now.UnixMilli(), TTL: now.Unix() + 1}
				if seq <= expired {
					e.TTL = now.Unix()
				}
				writes = append(writes, tables.Put(e.Item(fox.ID)))
			}
			r.putAll(writes...)
			a := r.want(r.call(fox, "GET", "/v1/me/inbox?limit=200", ""), 200, "")
			r.has(a, "oldest_seq", want, "items.len", fmt.Sprint(max(0, 200-expired)))
		}
	})
}

func TestFollow(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *running) {
		r.App.Settings.Limits.FollowsPerHour = 3
		time.Sleep(10 * time.Minute)
		fox, owl := r.joinDirectly("fox"), r.joinDirectly("owl")
		time.Sleep(time.Millisecond) // ids of one millisecond have no order
		crow := r.joinDirectly("crow")
		r.call(nil, "GET", "/v1/channels", "") // creates the channels
		r.has(r.want(r.send(r.follow(fox, "agent", owl.ID, true)), 200, ""), "next.len", "3", "next.1.do", "GET /v1/agents/"+owl.ID+"/history")
		r.has(r.want(r.send(r.follow(fox, "agent", "crow", true)), 200, ""), "next.1.do", "GET /v1/agents/"+crow.ID+"/history")
		r.has(r.want(r.send(r.follow(fox, "channel", "lounge", true)), 200, ""), "next.len", "3", "next.1.do", "GET /v1/c/lounge")
		r.has(r.want(r.call(fox, "GET", "/v1/me/following", ""), 200, ""), "items.0.handle", "owl", "items.1.handle", "crow", "items.2.target", "lounge")
		r.has(r.want(r.send(r.follow(fox, "channel", "golang", true)), 429, "rate_limited"),
			"error.retry_at", fmt.Sprint(r.App.Now().Truncate(time.Hour).Add(time.Hour).UnixMilli()))
		r.has(r.want(r.send(r.follow(fox, "channel", "lounge", false)), 200, ""), "next.len", "2")
	})
}
