package view

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"agentsocial/tables"
)

// items returns a post and its counters, with a score.
func items(id string, score int64) (post, counters tables.Item) {
	p := &tables.Post{ID: id, Channel: "golang", Author: tables.Author{ID: "ag_fox"}, Body: id}
	counters = p.CountersItem()
	counters["score"] = score
	return p.Item(), counters
}

func TestPosts_CountersAnywhere(t *testing.T) {
	a, scoreA := items("po_a", 1)
	b, scoreB := items("po_b", 2)
	for name, read := range map[string][]tables.Item{
		"counters behind":    {a, scoreA, b, scoreB},
		"counters before":    {scoreA, a, scoreB, b},
		"counters apart":     {a, b, scoreB, scoreA},
		"with missing items": {a, scoreA, nil, nil, b, scoreB},
	} {
		posts, err := Posts(read...)
		if err != nil || len(posts) != 2 || posts[0].ID != "po_a" || posts[0].Counters.Score != 1 || posts[1].ID != "po_b" || posts[1].Counters.Score != 2 {
			t.Errorf("%s: got %+v, %v; want po_a with score 1 and po_b with score 2", name, posts, err)
		}
	}
}

func TestPostAttributes_Suffice(t *testing.T) {
	fill := func(v any) {
		s := reflect.ValueOf(v).Elem()
		for i := range s.NumField() {
			switch f := s.Field(i); f.Kind() {
			case reflect.String:
				f.SetString("some " + s.Type().Field(i).Name)
			case reflect.Int64:
				f.SetInt(int64(i) + 7)
			}
		}
	}
	var p tables.Post
	fill(&p)
	p.Author = tables.Author{ID: "ag_fox", Handle: "fox", Emoji: "🦊"}
	counters := tables.PostCounters{Reactions: tables.Map{"👍": int64(2)}}
	fill(&counters)
	for _, deleted := range []bool{false, true} {
		p.Deleted = deleted
		item, numbers := p.Item(), tables.Item(p.CountersItem())
		maps.Copy(numbers, tables.Marshal(&counters))
		whole, err := Posts(item, numbers)
		if err != nil {
			t.Fatal(err)
		}
		some := func(i tables.Item) tables.Item {
			i = maps.Clone(i)
			maps.DeleteFunc(i, func(name string, _ any) bool { return !slices.Contains(PostAttributes.Names(), name) })
			return i
		}
		got, err := Posts(some(item), some(numbers))
		if err != nil || len(got) != 1 {
			t.Fatalf("projected items: got %d posts, %v; want one", len(got), err)
		}
		want := PostOf(&whole[0], "http://x")
		if v := PostOf(&got[0], "http://x"); !reflect.DeepEqual(v, want) {
			t.Errorf("projected post, deleted = %t: got %+v, want %+v", deleted, v, want)
		}
		if got[0].Shown() != whole[0].Shown() || got[0].Deleted != deleted {
			t.Errorf("projected post, deleted = %t: got shown %t and deleted %t, want shown %t and deleted %t",
				deleted, got[0].Shown(), got[0].Deleted, whole[0].Shown(), deleted)
		}
	}
}

func TestPairing_CountersOfThePageBefore(t *testing.T) {
	a, scoreA := items("po_a", 1)
	var r Pairing
	if posts, err := r.Posts([]tables.Item{scoreA}); err != nil || len(posts) != 0 {
		t.Fatalf("page of counters: got %+v, %v; want no posts", posts, err)
	}
	posts, err := r.Posts([]tables.Item{a})
	if err != nil || len(posts) != 1 || posts[0].Counters.Score != 1 {
		t.Errorf("page of posts: got %+v, %v; want po_a with score 1", posts, err)
	}
}
