package tables_test

import (
	"strings"
	"testing"
	"time"

	"agentsocial/tables"
)

func TestQueries_Direction(t *testing.T) {
	const last = "po_5"
	for name, c := range map[string]struct {
		desc bool
		q    func(before string) tables.Query
	}{
		"acts":      {true, func(string) tables.Query { return tables.Acts(9) }},
		"takedowns": {true, func(string) tables.Query { return tables.Takedowns(9) }},
		"best": {true, func(before string) tables.Query {
			if before != "" {
				before = tables.BestSK(7, before)
			}
			return tables.Best("den", tables.BestPK("den", noon), before, 9)
		}},
		"channels": {true, func(before string) tables.Query {
			return tables.ChannelsByActivity("open", before, tables.ListingKey("den"), 9)
		}},
		"conversations":    {true, func(before string) tables.Query { return tables.Conversations(fox, before, owl.ID, 9) }},
		"visits":           {true, func(before string) tables.Query { return tables.Visits(fox, before, 9) }},
		"history":          {true, func(string) tables.Query { return tables.History(fox, 7, 9) }},
		"ideas by support": {true, func(string) tables.Query { return tables.IdeasBySupport(tables.IdeaOpen, 9) }},
		"ideas by age":     {true, func(string) tables.Query { return tables.IdeasByAge(tables.IdeaOpen, 9) }},
		"ideas between":    {true, func(string) tables.Query { return tables.IdeasBetween("id_1", last) }},
		"ideas after":      {false, func(string) tables.Query { return tables.IdeasAfter("id_1", last) }},
		"newest events":    {true, func(string) tables.Query { return tables.NewestEvents(fox, 9) }},
		"news":             {false, func(string) tables.Query { return tables.News(fox, 7, 9) }},
		"newest news":      {true, func(string) tables.Query { return tables.NewestNews(fox, 9) }},
		"events after":     {false, func(string) tables.Query { return tables.EventsAfter(fox, 7, 9) }},
		"movements":        {true, func(before string) tables.Query { return tables.Movements(tables.AgentAccount(fox), before, 9) }},
		"messages":         {true, func(before string) tables.Query { return tables.Messages(fox, owl.ID, before, 9) }},
		"messages between": {false, func(after string) tables.Query { return tables.MessagesBetween(fox, owl.ID, after, "msg_9") }},
		"posts after":      {false, func(string) tables.Query { return tables.PostsAfter("den", "po_1", last) }},
		"posts between":    {true, func(string) tables.Query { return tables.PostsBetween("den", "po_1", last) }},
		"posts from":       {true, func(string) tables.Query { return tables.PostsFrom("den", last, 9) }},
		"posts":            {true, func(before string) tables.Query { return tables.Posts("den", before, 9, tables.Strong) }},
		"roots":            {true, func(before string) tables.Query { return tables.Roots("den", before, 9) }},
		"replies":          {true, func(before string) tables.Query { return tables.Replies("po_1", before, 9) }},
		"segments":         {true, func(string) tables.Query { return tables.SearchHeads("den", "", 9, tables.Strong) }},
		"tagged":           {true, func(place string) tables.Query { return tables.Tagged("go", place, fox, 9) }},
	} {
		first, next := c.q(""), c.q(last)
		if first.Desc != c.desc || next.Desc != c.desc {
			t.Errorf("%s: descending: got %t, and %t on the next page; want %t", name, first.Desc, next.Desc, c.desc)
		}
		if pages := first.After == nil && next.After != nil; pages && !strings.Contains(next.After.SK, last[3:]) {
			t.Errorf("%s: position of the next page: got %q, want one that contains %q", name, next.After.SK, last[3:])
		}
	}
}

func TestQueries_Cursor(t *testing.T) {
	table := openTable(t)
	ids := []string{"po_1", "po_2", "po_3"}
	for i, id := range ids {
		p := &tables.Post{ID: id, Channel: "den", CreatedAt: noon.Add(time.Duration(i)).UnixMilli()}
		commit(t, table, tables.Put(p.Item()), tables.Put(p.CountersItem()))
		m := &tables.Message{ID: id, From: tables.Author{ID: fox}, To: owl.ID}
		commit(t, table, tables.Put(m.Item()))
		commit(t, table, tables.Put((&tables.Visit{ID: "ev_" + id[3:], Agent: fox}).Item()))
		commit(t, table, tables.Put((&tables.Movement{ID: id, From: tables.AgentAccount(fox), To: tables.Revenue}).Item()))
		i := &tables.Idea{ID: "id_" + id[3:]}
		for _, item := range i.Items() {
			commit(t, table, tables.Put(item))
		}
	}
	for name, c := range map[string]struct {
		q    tables.Query
		want int // items
	}{
		"posts":            {tables.Posts("den", "po_2", 9, tables.Strong), 2},
		"posts, all":       {tables.Posts("den", "", 9, tables.Strong), 6},
		"posts, one":       {tables.Posts("den", "", 1, tables.Strong), 2},
		"posts from":       {tables.PostsFrom("den", "po_2", 9), 4},
		"posts from, one":  {tables.PostsFrom("den", "po_1", 1), 2},
		"posts after":      {tables.PostsAfter("den", "po_1", "po_2"), 2},
		"posts between":    {tables.PostsBetween("den", "po_1", "po_3"), 3},
		"roots":            {tables.Roots("den", "po_2", 9), 1},
		"roots, oldest":    {tables.Roots("den", "po_1", 9), 0},
		"post with an id":  {tables.PostWithID("po_2"), 1},
		"best":             {tables.Best("den", tables.BestPK("den", noon), tables.BestSK(0, "po_2"), 9), 1},
		"messages":         {tables.Messages(fox, owl.ID, "po_2", 9), 1},
		"messages between": {tables.MessagesBetween(fox, owl.ID, "po_1", "po_2"), 1},
		"visits":           {tables.Visits(fox, "ev_2", 9), 1},
		"movements":        {tables.Movements(tables.AgentAccount(fox), "po_2", 9), 1},
		"ideas after":      {tables.IdeasAfter("id_1", "id_3"), 4},
		"ideas between":    {tables.IdeasBetween("id_1", "id_3"), 3},
	} {
		page, err := table.Query(t.Context(), c.q)
		if err != nil {
			t.Errorf("%s: got error %v, want none", name, err)
		} else if len(page.Items) != c.want {
			var keys []tables.Key
			for _, item := range page.Items {
				keys = append(keys, item.Key())
			}
			t.Errorf("%s: got %v, want %d items", name, keys, c.want)
		}
	}
}

func TestSchema(t *testing.T) {
	for _, i := range []tables.Index{tables.ByRank, tables.ByParent, tables.ByAuthor} {
		if s, ok := i.Schema(); !ok || s.Name != i {
			t.Errorf("%s: got %+v, %t, want its schema", i, s, ok)
		}
	}
	if s, ok := tables.Index("by_none").Schema(); ok {
		t.Errorf("by_none: got %+v, want none", s)
	}
}
