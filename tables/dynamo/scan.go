package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"agentsocial/tables"
)

var _ tables.Scanner = (*DB)(nil)

// Scan implements [tables.Scanner].
func (db *DB) Scan(ctx context.Context, visit func(tables.Item) error) error {
	in := &dynamodb.ScanInput{
		TableName: &db.table, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
	for {
		out, f := call(ctx, db, "Scan", afterLoss, (*dynamodb.Client).Scan, in)
		if f != nil {
			return f
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
