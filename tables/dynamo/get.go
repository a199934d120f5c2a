package dynamo

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"agentsocial/tables"
)

// Get implements [tables.Backend]. DynamoDB returns at most 16 MB per batch; more takes
// further round trips.
func (db *DB) Get(ctx context.Context, c tables.Consistency, keys ...tables.Key) ([]tables.Item, error) {
	if len(keys) == 0 || len(keys) > tables.MaxGetKeys {
		return nil, invalid("a read has %d keys, want 1 to %d", len(keys), tables.MaxGetKeys)
	}
	found := map[tables.Key]tables.Item{}
	var distinct []attributes
	for _, k := range keys {
		if _, ok := found[k]; ok {
			continue // BatchGetItem refuses duplicate keys
		}
		key, err := encodeKey(k)
		if err != nil {
			return nil, err
		}
		found[k] = nil
		distinct = append(distinct, key)
	}
	get := db.batchGet
	if len(distinct) == 1 {
		get = db.getOne
	}
	err := get(ctx, c, distinct, found)
	if err != nil && !errors.As(err, new(*tables.Throttled)) {
		return nil, err
	}
	items := make([]tables.Item, len(keys))
	for i, k := range keys {
		items[i] = found[k]
	}
	return items, err
}

func (db *DB) getOne(ctx context.Context, c tables.Consistency, keys []attributes, found map[tables.Key]tables.Item) error {
	out, f := call(ctx, db, "GetItem", (*dynamodb.Client).GetItem, &dynamodb.GetItemInput{
		TableName:              &db.table,
		Key:                    keys[0],
		ConsistentRead:         aws.Bool(bool(c)),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if f != nil {
		return f.readError()
	}
	spendRead(ctx, out.ConsumedCapacity)
	return collect(found, out.Item)
}

func (db *DB) batchGet(ctx context.Context, c tables.Consistency, keys []attributes, found map[tables.Key]tables.Item) error {
	for len(keys) > 0 {
		out, f := call(ctx, db, "BatchGetItem", (*dynamodb.Client).BatchGetItem, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{
				db.table: {Keys: keys, ConsistentRead: aws.Bool(bool(c))},
			},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if f != nil && f.fate == fateThrottled {
			return refusedKeys(keys, f)
		} else if f != nil {
			return f.readError()
		}
		for i := range out.ConsumedCapacity {
			spendRead(ctx, &out.ConsumedCapacity[i])
		}
		if err := collect(found, out.Responses[db.table]...); err != nil {
			return err
		}
		// The rest exceeded 16 MB or was throttled. After an answer with items
		// the next call is made at once.
		left := out.UnprocessedKeys[db.table].Keys
		if len(left) == len(keys) {
			return refusedKeys(left, fmt.Errorf("dynamo: BatchGetItem: %w", tables.ErrThrottled))
		}
		keys = left
	}
	return nil
}

// refusedKeys returns the error of a batch in which these keys were throttled.
func refusedKeys(keys []attributes, cause error) error {
	t := &tables.Throttled{Cause: cause}
	for _, k := range keys {
		item, err := decodeItem(k)
		if err != nil {
			return err
		}
		t.Keys = append(t.Keys, item.Key())
	}
	return t
}

func collect(found map[tables.Key]tables.Item, items ...attributes) error {
	for _, m := range items {
		item, err := decodeItem(m)
		if err != nil {
			return err
		}
		if item != nil {
			found[item.Key()] = item
		}
	}
	return nil
}

func spendRead(ctx context.Context, c *types.ConsumedCapacity) {
	if c != nil {
		tables.Spend(ctx, aws.ToFloat64(c.CapacityUnits), 0)
	}
}

// spendWrite bills a write. A transaction reports read and write units separately, since
// a repeat with the same token costs read units.
func spendWrite(ctx context.Context, c *types.ConsumedCapacity) {
	switch {
	case c == nil:
	case c.ReadCapacityUnits != nil || c.WriteCapacityUnits != nil:
		tables.Spend(ctx, aws.ToFloat64(c.ReadCapacityUnits), aws.ToFloat64(c.WriteCapacityUnits))
	default:
		tables.Spend(ctx, 0, aws.ToFloat64(c.CapacityUnits))
	}
}
