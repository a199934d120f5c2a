package conformance

import (
	"testing"

	"agentsocial/tables"
)

func testUpdates(t *testing.T, b tables.Backend) {
	ab := tables.NewSet("a", "b")
	for name, c := range map[string]struct {
		before, after any // of "x"; nil: absent
		update        tables.Update
	}{
		"set absent":               {nil, "new", tables.SetAttr("x", "new")},
		"set another type":         {int64(1), "new", tables.SetAttr("x", "new")},
		"set to the empty string":  {"old", "", tables.SetAttr("x", "")},
		"set to the same value":    {"old", "old", tables.SetAttr("x", "old")},
		"set a map":                {"old", tables.Map{"a": int64(1)}, tables.SetAttr("x", tables.Map{"a": int64(1)})},
		"remove":                   {"old", nil, tables.RemoveAttr("x")},
		"remove absent":            {nil, nil, tables.RemoveAttr("x")},
		"add":                      {int64(1), int64(3), tables.Add("x", 2)},
		"add to absent":            {nil, int64(-2), tables.Add("x", -2)},
		"add nothing":              {int64(1), int64(1), tables.Add("x", 0)},
		"add nothing to absent":    {nil, int64(0), tables.Add("x", 0)},
		"subtract":                 {int64(1), int64(-1), tables.Add("x", -2)},
		"add beyond 2^53":          {int64(1 << 53), int64(1<<53 + 1), tables.Add("x", 1)},
		"add to set":               {ab, tables.NewSet("a", "b", "c"), tables.AddToSet("x", "c", "a")},
		"add to set what it has":   {ab, ab, tables.AddToSet("x", "b")},
		"add to absent set":        {nil, ab, tables.AddToSet("x", "b", "a", "b")},
		"remove from set":          {ab, tables.NewSet("a"), tables.RemoveFromSet("x", "b", "c")},
		"remove what a set lacks":  {ab, ab, tables.RemoveFromSet("x", "c")},
		"remove all from set":      {ab, nil, tables.RemoveFromSet("x", "a", "b", "c")},
		"remove from absent set":   {nil, nil, tables.RemoveFromSet("x", "a")},
		"the empty string in sets": {ab, tables.NewSet("", "a", "b"), tables.AddToSet("x", "")},
	} {
		t.Run(name, func(t *testing.T) {
			for _, others := range [][]tables.Write{nil, {tables.Delete(k("update", "beside"))}} {
				key := k("update", name)
				before, after := item(key, "y", "kept"), item(key, "y", "kept")
				if c.before != nil {
					before["x"] = c.before
				}
				if c.after != nil {
					after["x"] = c.after
				}
				mustCommit(t, b, tables.Put(before))
				mustCommit(t, b, append([]tables.Write{tables.Change(key, c.update)}, others...)...)
				wantItem(t, b, key, after)
			}
		})
	}
	t.Run("several at once", func(t *testing.T) {
		key := k("update", "several")
		mustCommit(t, b, tables.Put(item(key, "n", int64(1), "gone", "x", "s", ab, "r", ab, "set", int64(1))))
		mustCommit(t, b, tables.Change(key,
			tables.Add("n", 1), tables.RemoveAttr("gone"), tables.AddToSet("s", "c"), tables.RemoveFromSet("r", "a"),
			tables.SetAttr("set", "x"), tables.SetAttr("new", true), tables.Add("m", 3), tables.RemoveAttr("never")))
		wantItem(t, b, key, item(key, "n", int64(2), "s", tables.NewSet("a", "b", "c"), "r", tables.NewSet("b"),
			"set", "x", "new", true, "m", int64(3)))
	})
	t.Run("names that are reserved words or odd", func(t *testing.T) {
		key := k("update", "names")
		mustCommit(t, b, tables.Change(key, tables.SetAttr("size", "1"), tables.SetAttr("a.b[0]", "2"), tables.SetAttr("#n :v", "3"),
			tables.SetAttr("é", "4"), tables.Add("SET", 5)).When(tables.Absent("ttl"), tables.Absent("a.b[0]")))
		wantItem(t, b, key, item(key, "size", "1", "a.b[0]", "2", "#n :v", "3", "é", "4", "SET", int64(5)))
	})
}

// testUpdatesOfNoItem does not check whether an update that only removes attributes creates
// an item: DynamoDB Local creates one, DynamoDB does not.
func testUpdatesOfNoItem(t *testing.T, b tables.Backend) {
	for name, c := range map[string]struct {
		updates []tables.Update
		want    []any // nil: not checked
	}{
		"set":                     {[]tables.Update{tables.SetAttr("x", "a")}, []any{"x", "a"}},
		"add":                     {[]tables.Update{tables.Add("x", 1)}, []any{"x", int64(1)}},
		"add to set":              {[]tables.Update{tables.AddToSet("x", "a")}, []any{"x", tables.NewSet("a")}},
		"remove":                  {[]tables.Update{tables.RemoveAttr("x")}, nil},
		"remove from set":         {[]tables.Update{tables.RemoveFromSet("x", "a")}, nil},
		"set and remove":          {[]tables.Update{tables.SetAttr("x", "a"), tables.RemoveAttr("y")}, []any{"x", "a"}},
		"add and remove from set": {[]tables.Update{tables.Add("x", 1), tables.RemoveFromSet("y", "a")}, []any{"x", int64(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			alone, beside := k("nothing", name), k("nothing beside", name)
			mustCommit(t, b, tables.Change(alone, c.updates...))
			mustCommit(t, b, tables.Change(beside, c.updates...), tables.Delete(k("beside", name)))
			if c.want != nil {
				wantItem(t, b, alone, item(alone, c.want...))
				wantItem(t, b, beside, item(beside, c.want...))
			}
		})
	}
}

func testRefusedUpdates(t *testing.T, b tables.Backend) {
	key := k("refused", "1")
	whole := item(key, "s", "a", "n", int64(1), "set", tables.NewSet("a"), "l", tables.List{"a"}, "b", []byte("a"))
	mustCommit(t, b, tables.Put(whole))
	for name, us := range map[string][]tables.Update{
		"nothing":                       nil,
		"unknown":                       {{Op: 99, Attr: "x", Value: "a"}},
		"of a key":                      {tables.SetAttr("pk", "x")},
		"of a key to the same value":    {tables.SetAttr("sk", "1")},
		"removes a key":                 {tables.RemoveAttr("sk")},
		"one attribute twice":           {tables.SetAttr("x", "a"), tables.RemoveAttr("x")},
		"adds to a string":              {tables.Add("s", 1)},
		"adds to a set":                 {tables.Add("set", 1)},
		"adds a member to a string":     {tables.AddToSet("s", "a")},
		"adds a member to a number":     {tables.AddToSet("n", "a")},
		"adds a member to a list":       {tables.AddToSet("l", "a")},
		"removes a member of a number":  {tables.RemoveFromSet("n", "a")},
		"removes a member of a string":  {tables.RemoveFromSet("s", "a")},
		"adds no member":                {tables.AddToSet("set")},
		"removes no member":             {tables.RemoveFromSet("set")},
		"adds a string":                 {{Op: tables.UpdAdd, Attr: "n", Value: "1"}},
		"adds an int":                   {{Op: tables.UpdAdd, Attr: "n", Value: 1}},
		"adds a string to a set":        {{Op: tables.UpdAddToSet, Attr: "set", Value: "a"}},
		"of no attribute":               {tables.SetAttr("", "a")},
		"one of two is of a wrong type": {tables.SetAttr("x", "a"), tables.Add("s", 1)},
		"a member that is not UTF-8":    {tables.AddToSet("set", "\xff")},
		"an attribute not UTF-8":        {tables.SetAttr("\xff", "a")},
	} {
		t.Run(name, func(t *testing.T) { mustRefuse(t, b, tables.Change(key, us...)) })
	}
	t.Run("a failed condition takes precedence over a wrong type", func(t *testing.T) {
		write := tables.Change(key, tables.Add("s", 1)).When(tables.Absent("s"))
		mustCancel(t, b, []tables.Reason{{Failed: true, Old: whole}}, write)
		mustCancel(t, b, []tables.Reason{{Failed: true, Old: whole}, {}}, write, tables.Delete(k("refused", "2")))
	})
	wantItem(t, b, key, whole)
}
