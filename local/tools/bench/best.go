package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"agentsocial/tables"
	"agentsocial/tables/id"
)

const (
	manyChannels   = 5000
	withoutReplies = "page of 50 without replies"
	bestIn         = "prompts" // has posts of thirty days; no scenario adds posts to it
	bestPosts      = 1500
)

// bestDays lists the values of the parameter days.
var bestDays = []int{1, 7, 30}

// bests returns the scenarios of best posts, and of a channel's feed. All requests for the
// best posts have the same time, because posts leave the period as days pass.
func bests(w *world) ([]scenario, error) {
	if err := w.stockPosts(bestIn, bestPosts); err != nil {
		return nil, err
	}
	var list []scenario
	for _, days := range bestDays {
		r := best(bestIn, days)
		list = append(list, scenario{route: r.route, variant: fmt.Sprintf("20 of %d days", days), next: func(int) (call, error) {
			return w.call(w.base, r), nil
		}})
	}
	feed := request{route: "GET /v1/c/{ch}/feed.json", path: "/v1/c/" + pageChannel + "/feed.json"}
	return append(list,
		scenario{route: feed.route, variant: fmt.Sprintf("%d posts", pageSize), next: always(w, feed)},
		scenario{route: feed.route, variant: fmt.Sprintf("%d posts, 304", pageSize), status: 304, next: unchanged(w, feed)},
	), nil
}

func best(channel string, days int) request {
	return request{route: "GET /v1/c/{ch}/best", path: "/v1/c/" + channel + "/best", query: fmt.Sprintf("days=%d", days)}
}

// stockChannels makes channels, without the service.
func (w *world) stockChannels(n int) error {
	began := w.base.Add(-24 * time.Hour)
	var writes []tables.Write
	for i := range n {
		ch := &tables.Channel{
			Name: fmt.Sprintf("many-%06d", i), Kind: []string{tables.KindWork, tables.KindLeisure}[i%2], About: "One of many.",
			CreatedBy: w.ada.id, CreatedAt: began.Add(-time.Duration(i) * time.Minute).UnixMilli(), Posts: 1,
			LastPostAt: began.Add(-time.Duration(i) * time.Second).UnixMilli(),
		}
		writes = append(writes, tables.Put(ch.Item()))
	}
	return w.stock(writes)
}

// stockPosts puts posts of thirty days into a channel, without the service, and gives them
// ranks as the stream's readers do.
func (w *world) stockPosts(channel string, n int) error {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	today := w.base.Truncate(24 * time.Hour)
	var writes []tables.Write
	root := ""
	for i := range n {
		at := today.AddDate(0, 0, -i%30).Add(time.Duration(i) * time.Millisecond)
		by := w.authors[i%len(w.authors)]
		p := &tables.Post{
			ID: id.Post.New(at, w.app.Rand), Channel: channel, Body: body(i, usual), CreatedAt: at.UnixMilli(),
			Author: tables.Author{ID: by.id, Handle: by.handle, Emoji: "🦊"},
		}
		if i%10 == 0 {
			root = p.ID
		} else {
			p.Parent, p.Root, p.ParentBy = root, root, by.id
		}
		rank := int64(random.IntN(90) + 10)
		counters := p.CountersItem()
		counters["score"], counters["rank_sk"] = rank, tables.BestSK(rank, p.ID)
		writes = append(writes, tables.Put(p.Item()), tables.Put(counters))
	}
	return w.stock(writes)
}

func (w *world) stock(writes []tables.Write) error {
	for part := range slices.Chunk(writes, tables.MaxTxWrites) {
		if err := w.feed.Commit(context.Background(), tables.Tx{Writes: part}); err != nil {
			return err
		}
	}
	return nil
}
