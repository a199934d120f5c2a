package embedded_test

import (
	"maps"
	"os"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"agentsocial/tables"
	"agentsocial/tables/embedded"
)

// Each change in the feed keeps its two images, however often the item changes later.
func TestChanges_Images(t *testing.T) { onBoth(t, testImages) }

func testImages(t *testing.T, path string) {
	type images struct{ old, now item }
	rapid.Check(t, func(t *rapid.T) {
		os.Remove(path)
		unwanted := rapid.Int64Range(0, 3).Draw(t, "unwanted")
		open := func() *embedded.Table {
			table, err := embedded.Open(embedded.Config{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			table.SetWanted(func(r tables.StreamRecord) bool { return r.New.Int("n") != unwanted })
			return table
		}
		table := open()
		defer func() { table.Close() }()
		items := model{}
		var want []images
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if path != embedded.Memory && rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				if _, _, err := table.CloseCompacted(); err != nil {
					t.Fatal(err)
				}
				table = open()
			}
			w := genWrite(t)
			old := maps.Clone(items[w.Key])
			if err := table.Commit(t.Context(), tables.Tx{Writes: []tables.Write{w}}); (err == nil) != items.commit(w) {
				t.Fatalf("%+v: got %v, want an error only if a condition fails", w, err)
			}
			if now := maps.Clone(items[w.Key]); !reflect.DeepEqual(old, now) && tables.Item(now).Int("n") != unwanted {
				want = append(want, images{old, now})
			}
			if rapid.Bool().Draw(t, "goes on") {
				continue
			}
			records, _, err := table.Changes(t.Context(), "shard-0", "", 1000, 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []images
			for _, r := range records {
				got = append(got, images{r.Old, r.New})
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("got the images\n%v, want\n%v", got, want)
			}
		}
	})
}
