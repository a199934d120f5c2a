package embedded

import (
	"context"
	"fmt"
	"unicode/utf8"

	"agentsocial/tables"
)

// Query implements [tables.Backend].
func (t *Table) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	defer tables.Trip(ctx)()
	if err := ctx.Err(); err != nil {
		return tables.Page{}, err
	}
	if err := checkQuery(q); err != nil {
		return tables.Page{}, err
	}
	kind := KindQuery
	if q.Index != "" {
		kind = KindIndex
	}
	fault := t.fault(kind, func() []tables.Key { return []tables.Key{{PK: q.PK, SK: q.From}} })
	if fault == Throttled {
		return tables.Page{}, fmt.Errorf("embedded: injected: %w", tables.ErrThrottled)
	}
	var page tables.Page
	size := 0
	err := t.view(fault == Stale && q.Consistency == tables.Eventual, func(now *trees) error {
		return now.query(q, func(item tables.Item, bytes int, at tables.Position) (more bool) {
			page.Items = append(page.Items, item)
			if size += bytes; len(page.Items) == q.Limit || size >= tables.MaxPageSize {
				page.Next = &at
			}
			return page.Next == nil
		})
	})
	if err != nil {
		return tables.Page{}, err
	}
	tables.Spend(ctx, tables.QueryUnits(q.Consistency, size), 0)
	return page, nil
}

func checkQuery(q tables.Query) error {
	if err := checkKeyPart("partition key", q.PK, tables.MaxPKSize); err != nil {
		return err
	}
	if q.Limit < 0 {
		return invalid("the limit %d is negative", q.Limit)
	}
	for _, bound := range []string{q.From, q.To} {
		if len(bound) > tables.MaxSKSize || !utf8.ValidString(bound) {
			return invalid("the bound %q is too long or not UTF-8", bound)
		}
	}
	if q.Index != "" {
		if _, ok := q.Index.Schema(); !ok {
			return invalid("there is no index %q", q.Index)
		}
		if q.Consistency == tables.Strong {
			return invalid("a strongly consistent read of an index")
		}
		if q.Only != nil {
			return invalid("a projection of an index")
		}
	}
	if q.After == nil {
		return nil
	}
	if err := checkKeyPart("position's sort key", q.After.SK, tables.MaxSKSize); err != nil {
		return err
	}
	if q.Index != "" {
		return checkKey(q.After.Key)
	}
	if q.After.Key != (tables.Key{}) {
		return invalid("a position of an index in a query of the table")
	}
	return nil
}

// span returns the part of a tree that a query reads: [from, to).
func span(q tables.Query) (from, to string) {
	partition := rowOf("", q.PK)
	from, to = partition, behind(partition)
	if q.From != "" {
		from = rowOf("", q.PK, q.From)
	}
	if q.To != "" {
		to = behind(rowOf("", q.PK, q.To))
	}
	if q.After == nil {
		return from, to
	}
	after := rowOf("", q.PK, q.After.SK)
	if q.Index != "" {
		after += itemKey(q.After.Key)
	}
	if q.Desc {
		return from, min(to, after)
	}
	return max(from, after+"\x00"), to // the least key after it
}

// query visits the results of a query, each with its size in bytes and its position.
func (t *trees) query(q tables.Query, visit func(tables.Item, int, tables.Position) (more bool)) error {
	from, to := span(q)
	if q.Index == "" {
		return t.readRange(from, to, q.Desc, q.Only, func(found *stored) (bool, error) {
			return visit(found.item, found.size, tables.Position{SK: found.item.Str(tables.AttrSK)}), nil
		})
	}
	for i, schema := range tables.Indexes {
		if schema.Name != q.Index {
			continue
		}
		return t.indexes[i].walk(from, to, q.Desc, func(row string, _ nothing) (bool, error) {
			at, key, err := cutIndexKey(row)
			if err != nil {
				return false, err
			}
			if schema.All {
				found, err := t.read(key)
				return err == nil && visit(found.item, found.size, at), err
			}
			item := tables.Item{
				tables.AttrPK: at.Key.PK, tables.AttrSK: at.Key.SK,
				schema.PK: q.PK, schema.SK: at.SK,
			}
			return visit(item, item.Size(), at), nil
		})
	}
	return nil
}

// cutIndexKey splits an index's key into the entry's position and the item's key.
func cutIndexKey(row string) (at tables.Position, key string, err error) {
	var rest string
	if _, rest, err = cutPart(row); err != nil {
		return at, "", err
	}
	if at.SK, key, err = cutPart(rest); err != nil {
		return at, "", err
	}
	if at.Key.PK, rest, err = cutPart(key); err != nil {
		return at, "", err
	}
	at.Key.SK, _, err = cutPart(rest)
	return at, key, err
}
