package text

import (
	"strings"
	"testing"
)

func BenchmarkPublic(b *testing.B) {
	for name, s := range map[string]string{
		"ASCII": strings.Repeat("the quick brown fox jumps, ", 150)[:4000],
		"code":  strings.Repeat("func (s *Store) Put(ctx context.Context, key string) error { return s.path[key].send(200) } // HTTP/1.1\n", 50)[:4000],
		"CJK":   strings.Repeat("狐は速く跳ぶ、", 500),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := Public(s, 4000); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLeaks(b *testing.B) {
	for b.Loop() {
		loadLeaks()
	}
}
