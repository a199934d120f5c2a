package embedded

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"

	"go.etcd.io/bbolt"

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
	var r rangeReader
	err := t.view(fault == Stale && q.Consistency == tables.Eventual, func(tx *bbolt.Tx) error {
		r = rangeReader{items: tx.Bucket(bucketItems)}
		return r.read(tx, q)
	})
	if err != nil {
		return tables.Page{}, err
	}
	tables.Spend(ctx, tables.QueryUnits(q.Consistency, r.size), 0)
	return r.page, nil
}

func checkQuery(q tables.Query) error {
	if err := checkKeyPart("partition key", q.PK, tables.MaxPKSize); err != nil {
		return err
	}
	if q.Limit < 0 {
		return invalid("a limit of %d", q.Limit)
	}
	for _, bound := range []string{q.From, q.To} {
		if len(bound) > tables.MaxSKSize || !utf8.ValidString(bound) {
			return invalid("the bound %q", bound)
		}
	}
	if q.Index != "" {
		if _, ok := q.Index.Schema(); !ok {
			return invalid("there is no index %q", q.Index)
		}
		if q.Consistency == tables.Strong {
			return invalid("a strongly consistent read of an index")
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

// span is the part of a bucket that a query reads: [from, to).
func span(q tables.Query) (from, to []byte) {
	partition := appendPart(nil, q.PK)
	from, to = partition, behind(partition)
	if q.From != "" {
		from = appendPart(bytes.Clone(partition), q.From)
	}
	if q.To != "" {
		to = behind(appendPart(bytes.Clone(partition), q.To))
	}
	if q.After == nil {
		return from, to
	}
	after := appendPart(bytes.Clone(partition), q.After.SK)
	if q.Index != "" {
		after = appendKey(after, q.After.Key)
	}
	if q.Desc {
		if bytes.Compare(after, to) < 0 {
			to = after
		}
	} else if bytes.Compare(after, from) >= 0 {
		from = append(after, 0) // the least key behind it
	}
	return from, to
}

// rangeReader reads one page.
type rangeReader struct {
	items *bbolt.Bucket
	page  tables.Page
	size  int
}

func (r *rangeReader) read(tx *bbolt.Tx, q tables.Query) error {
	b := r.items
	if q.Index != "" {
		b = tx.Bucket([]byte(q.Index))
	}
	from, to := span(q)
	c := b.Cursor()
	var k, v []byte
	step := c.Next
	if !q.Desc {
		k, v = c.Seek(from)
	} else {
		step = c.Prev
		if k, _ = c.Seek(to); k == nil {
			k, v = c.Last()
		} else {
			k, v = c.Prev()
		}
	}
	for k != nil && bytes.Compare(k, from) >= 0 && bytes.Compare(k, to) < 0 {
		item, next, err := r.entry(q, k, v)
		if err != nil {
			return err
		}
		r.page.Items = append(r.page.Items, item)
		r.size += item.Size()
		if len(r.page.Items) == q.Limit || r.size >= tables.MaxPageSize {
			r.page.Next = &next
			return nil
		}
		k, v = step()
	}
	return nil
}

// entry makes an item of an entry of the table or of an index. Entries of
// indexes have no value: what they project is in their key or in the item.
func (r *rangeReader) entry(q tables.Query, k, v []byte) (tables.Item, tables.Position, error) {
	if q.Index == "" {
		item, err := decodeItem(v)
		return item, tables.Position{SK: item.Str(tables.AttrSK)}, err
	}
	_, rest, err := cutPart(string(k))
	if err != nil {
		return nil, tables.Position{}, err
	}
	sk, primary, err := cutPart(rest)
	if err != nil {
		return nil, tables.Position{}, err
	}
	var key tables.Key
	if key.PK, rest, err = cutPart(primary); err == nil {
		key.SK, _, err = cutPart(rest)
	}
	if err != nil {
		return nil, tables.Position{}, err
	}
	position := tables.Position{SK: sk, Key: key}
	schema, _ := q.Index.Schema()
	if schema.All {
		item, err := decodeItem(r.items.Get([]byte(primary)))
		return item, position, err
	}
	return tables.Item{
		tables.AttrPK: key.PK, tables.AttrSK: key.SK,
		schema.PK: q.PK, schema.SK: sk,
	}, position, nil
}
