package embedded_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"agentsocial/shared/wire/view"
	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

func kilobyte(sk string) item {
	return item{"pk": "P", "sk": sk, "type": "post", "author": "agent", "n": int64(12345), "flag": true,
		"body": strings.Repeat("lorem ipsum ", 75), "tags": tables.NewSet("a", "b", "c"), "rank_pk": "R", "rank_sk": sk}
}

func benchmarkCommit(b *testing.B, path string, parallel int) {
	table := open(b, embedded.Config{Path: path})
	var n atomic.Int64
	b.SetParallelism(parallel)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			sk := fmt.Sprintf("%09d", n.Add(1))
			commit(b, table, tables.Put(kilobyte(sk), tables.NoItem()), tables.Change(at("C", sk), tables.Add("n", 1)))
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

func BenchmarkCommitMemory(b *testing.B)   { benchmarkCommit(b, "", 1) }
func BenchmarkCommitMemory16(b *testing.B) { benchmarkCommit(b, "", 8) }
func BenchmarkCommitFile16(b *testing.B) {
	benchmarkCommit(b, filepath.Join(b.TempDir(), "table"), 8) // 16 goroutines on 2 processors
}

func BenchmarkCommitFile(b *testing.B) {
	table := open(b, embedded.Config{Path: filepath.Join(b.TempDir(), "table")})
	for i := range b.N {
		commit(b, table, tables.Put(kilobyte(fmt.Sprintf("%09d", i)), tables.NoItem()))
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

func BenchmarkGet(b *testing.B) {
	table := open(b, embedded.Config{})
	for i := range 1000 {
		commit(b, table, tables.Put(kilobyte(fmt.Sprintf("%09d", i))))
	}
	for i := 0; b.Loop(); i++ {
		get(b, table, at("P", fmt.Sprintf("%09d", i%1000)))
	}
}

func BenchmarkQuery100(b *testing.B) {
	table := open(b, embedded.Config{})
	for i := range 1000 {
		commit(b, table, tables.Put(kilobyte(fmt.Sprintf("%09d", i))))
	}
	for b.Loop() {
		page, err := table.Query(b.Context(), tables.Query{Index: tables.ByRank, PK: "R", Desc: true, Limit: 100})
		if err != nil || len(page.Items) != 100 {
			b.Fatalf("Query: got %d items, %v; want 100", len(page.Items), err)
		}
	}
}

// BenchmarkPage reads a page of 100 posts from a file.
func BenchmarkPage(b *testing.B) {
	table := open(b, embedded.Config{Path: filepath.Join(b.TempDir(), "table")})
	for i := range 100 {
		p := tables.Post{ID: fmt.Sprintf("po_%026d", i), Channel: "golang", Author: tables.Author{ID: "ag_01j9z7c3r8w2k5m4n6p7q8s9t0", Handle: "fox", Emoji: "🦊"},
			Body: strings.Repeat("lorem ipsum ", 20), CreatedAt: 1_790_000_000_000 + int64(i), Apart: true}
		commit(b, table, tables.Put(p.Item()), tables.Put(p.CountersItem()))
	}
	q := tables.Posts("golang", "", 100, tables.Eventual)
	q.Only = view.PostAttributes
	b.ReportAllocs()
	for b.Loop() {
		page, err := table.Query(b.Context(), q)
		if err != nil || len(page.Items) != 200 {
			b.Fatalf("Query: got %d items, %v; want 200", len(page.Items), err)
		}
	}
}
