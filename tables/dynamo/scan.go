package dynamo

import (
	"context"
	"math/rand/v2"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"agentsocial/tables"
	"agentsocial/tables/retry"
)

var _ tables.Scanner = (*DB)(nil)

// Scan implements [tables.Scanner]. It repeats failed reads of a page, as [retry.Patiently]
// says.
func (db *DB) Scan(ctx context.Context, visit func(tables.Item) error) error {
	in := &dynamodb.ScanInput{
		TableName: &db.table, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	pages := retry.New(rand.Int64N)
	for {
		var out *dynamodb.ScanOutput
		err := pages.Do(retry.Patiently(ctx), func() error {
			var f *failure
			if out, f = call(ctx, db, "Scan", (*dynamodb.Client).Scan, in); f != nil {
				return f.readError()
			}
			return nil
		})
		if err != nil {
			return err
		}
		spendRead(ctx, out.ConsumedCapacity)
		for _, m := range out.Items {
			item, err := decodeItem(m)
			if err != nil {
				return err
			}
			if err := visit(item); err != nil {
				return err
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
