package dynamo

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"agentsocial/tables"
)

// Query implements [tables.Backend].
func (db *DB) Query(ctx context.Context, q tables.Query) (tables.Page, error) {
	keys, err := check(q)
	if err != nil {
		return tables.Page{}, err
	}
	start, empty, err := begin(q, keys)
	if err != nil || empty {
		return tables.Page{}, err
	}
	var e expression
	in := &dynamodb.QueryInput{
		TableName:              &db.table,
		KeyConditionExpression: e.inRange(q, keys),
		ExclusiveStartKey:      start,
		ScanIndexForward:       aws.Bool(!q.Desc),
		ConsistentRead:         aws.Bool(bool(q.Consistency)),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	if q.Only != nil {
		in.ProjectionExpression = e.only(q.Only)
	}
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = e.names, e.values
	if q.Index != "" {
		in.IndexName = aws.String(string(q.Index))
	}
	if q.Limit > 0 {
		in.Limit = aws.Int32(int32(min(q.Limit, 1<<30)))
	}
	out, f := call(ctx, db, "Query", (*dynamodb.Client).Query, in)
	if f != nil {
		return tables.Page{}, f.readError()
	}
	spendRead(ctx, out.ConsumedCapacity)
	return page(out, q, keys)
}

// check validates q and returns the key attributes that it uses.
func check(q tables.Query) (keys tables.IndexSchema, err error) {
	keys = tables.IndexSchema{PK: tables.AttrPK, SK: tables.AttrSK}
	if q.Index != "" {
		schema, ok := q.Index.Schema()
		if !ok {
			return keys, invalid("there is no index %q", q.Index)
		}
		if q.Consistency == tables.Strong {
			return keys, invalid("a strong read of an index")
		}
		if q.Only != nil {
			return keys, invalid("a projection of an index")
		}
		keys = schema
	}
	switch {
	case q.PK == "":
		return keys, invalid("a query without a partition")
	case len(q.PK) > tables.MaxPKSize, len(q.From) > tables.MaxSKSize, len(q.To) > tables.MaxSKSize:
		return keys, invalid("a query's key is too long")
	case !utf8.ValidString(q.PK), !utf8.ValidString(q.From), !utf8.ValidString(q.To):
		return keys, invalid("a query's key is not UTF-8")
	case q.Limit < 0:
		return keys, invalid("the limit %d is negative", q.Limit)
	}
	return keys, nil
}

// begin returns the exclusive start key of a query. DynamoDB refuses some queries that the
// contract allows: a reversed range, a start outside the range and, in the table, a start
// at the range's far end. For these queries begin reports an empty result, or returns no
// start key if the result is the whole range.
func begin(q tables.Query, keys tables.IndexSchema) (start attributes, empty bool, err error) {
	backwards := q.From != "" && q.To != "" && q.From > q.To
	if q.After == nil {
		return nil, backwards, nil
	}
	p := *q.After
	k := p.Key
	if q.Index == "" {
		if k != (tables.Key{}) {
			return nil, false, invalid("a position of an index in a query of the table")
		}
		k = tables.Key{PK: q.PK, SK: p.SK}
	}
	if p.SK == "" || k.PK == "" || k.SK == "" {
		return nil, false, invalid("a position without a key")
	}
	if len(p.SK) > tables.MaxSKSize || !utf8.ValidString(p.SK) {
		return nil, false, invalid("a position is too long or not UTF-8")
	}
	if start, err = encodeKey(k); err != nil {
		return nil, false, err
	}
	below, above := q.From != "" && p.SK < q.From, q.To != "" && p.SK > q.To
	before, beyond, farEnd := below, above, q.To
	if q.Desc {
		before, beyond, farEnd = above, below, q.From
	}
	switch {
	case backwards, beyond, q.Index == "" && p.SK == farEnd:
		return nil, true, nil
	case before:
		return nil, false, nil
	}
	start[keys.PK] = &types.AttributeValueMemberS{Value: q.PK}
	start[keys.SK] = &types.AttributeValueMemberS{Value: p.SK}
	return start, false, nil
}

func (e *expression) inRange(q tables.Query, keys tables.IndexSchema) *string {
	s := e.name(keys.PK) + " = " + e.str(q.PK)
	switch {
	case q.From != "" && q.To != "":
		s += " AND " + e.name(keys.SK) + " BETWEEN " + e.str(q.From) + " AND " + e.str(q.To)
	case q.From != "":
		s += " AND " + e.name(keys.SK) + " >= " + e.str(q.From)
	case q.To != "":
		s += " AND " + e.name(keys.SK) + " <= " + e.str(q.To)
	}
	return &s
}

func (e *expression) only(p *tables.Projection) *string {
	names := make([]string, 0, len(p.Names()))
	for _, name := range p.Names() {
		names = append(names, e.name(name))
	}
	return aws.String(strings.Join(names, ", "))
}

// page makes a Page from an answer. If a limit is reached at a range's very end,
// DynamoDB returns LastEvaluatedKey. DynamoDB Local does not; Next then comes from the
// last item.
func page(out *dynamodb.QueryOutput, q tables.Query, keys tables.IndexSchema) (p tables.Page, err error) {
	for _, m := range out.Items {
		item, err := decodeItem(m)
		if err != nil {
			return tables.Page{}, err
		}
		p.Items = append(p.Items, item)
	}
	last, err := decodeItem(out.LastEvaluatedKey)
	if err != nil {
		return tables.Page{}, err
	}
	if n := len(p.Items); last == nil && n > 0 && n == q.Limit {
		last = p.Items[n-1]
	}
	if last != nil {
		p.Next = &tables.Position{SK: last.Str(keys.SK)}
		if q.Index != "" {
			p.Next.Key = last.Key()
		}
	}
	return p, nil
}
