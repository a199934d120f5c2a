package dynamo

import (
	"context"
	"errors"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"agentsocial/tables"
)

// allOld requests the item that failed a condition.
const allOld = types.ReturnValuesOnConditionCheckFailureAllOld

// maxToken bounds the characters of a token.
const maxToken = 36

// Commit implements [tables.Backend].
func (db *DB) Commit(ctx context.Context, tx tables.Tx) error {
	if len(tx.Writes) == 0 || len(tx.Writes) > tables.MaxTxWrites {
		return invalid("a transaction has %d writes, want 1 to %d", len(tx.Writes), tables.MaxTxWrites)
	}
	if n := utf8.RuneCountInString(tx.Token); n > maxToken {
		return invalid("a token has %d characters, more than %d", n, maxToken)
	}
	writes := make([]write, len(tx.Writes))
	keys := map[tables.Key]bool{}
	for i, w := range tx.Writes {
		if keys[w.Key] {
			return invalid("two writes for one key") // DynamoDB Local allows some of these
		}
		keys[w.Key] = true
		var err error
		if writes[i], err = db.prepare(w); err != nil {
			return err
		}
	}
	if len(writes) > 1 || tx.Token != "" || writes[0].Op == tables.OpCheck {
		return db.transact(ctx, tx.Token, writes)
	}
	switch w := writes[0]; w.Op {
	case tables.OpPut:
		return single(ctx, db, "PutItem", (*dynamodb.Client).PutItem, w, w.putInput())
	case tables.OpDelete:
		return single(ctx, db, "DeleteItem", (*dynamodb.Client).DeleteItem, w, w.deleteInput())
	default:
		return single(ctx, db, "UpdateItem", (*dynamodb.Client).UpdateItem, w, w.updateInput())
	}
}

// single makes one write without a transaction.
func single[In, Out any](ctx context.Context, db *DB, name string, api apiCall[In, Out], w write, in *In) error {
	out, f := call(ctx, db, name, api, in)
	if f == nil {
		spendWrite(ctx, consumed(out))
		return nil
	}
	if failed, ok := errors.AsType[*types.ConditionalCheckFailedException](f.cause); ok && f.fate == fateRefused {
		old, err := decodeItem(failed.Item)
		if err != nil {
			return err
		}
		if w.Overflows(old) {
			return errOverflow
		}
		return &tables.Cancelled{Reasons: []tables.Reason{{Failed: true, Old: old}}}
	}
	return f.commitError()
}

func consumed(out any) *types.ConsumedCapacity {
	switch out := out.(type) {
	case *dynamodb.PutItemOutput:
		return out.ConsumedCapacity
	case *dynamodb.DeleteItemOutput:
		return out.ConsumedCapacity
	case *dynamodb.UpdateItemOutput:
		return out.ConsumedCapacity
	}
	return nil
}

func (db *DB) transact(ctx context.Context, token string, writes []write) error {
	in := &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal}
	if token != "" { // else the SDK makes one
		in.ClientRequestToken = aws.String(token)
	}
	for _, w := range writes {
		in.TransactItems = append(in.TransactItems, w.transactItem())
	}
	out, f := call(ctx, db, "TransactWriteItems", (*dynamodb.Client).TransactWriteItems, in)
	if f == nil {
		for i := range out.ConsumedCapacity {
			spendWrite(ctx, &out.ConsumedCapacity[i])
		}
		return nil
	}
	if cancelled, ok := errors.AsType[*types.TransactionCanceledException](f.cause); ok && f.fate == fateRefused && f.kind == nil {
		return reasons(f, cancelled.CancellationReasons, writes)
	} else if ok && f.fate == fateThrottled {
		return &tables.Throttled{Keys: throttledKeys(cancelled.CancellationReasons, writes), Cause: f}
	}
	return f.commitError()
}

// errOverflow means that a write failed only on the guard of a sum, not on a condition of
// the caller's.
var errOverflow = invalid("a sum overflows an int64")

// reasons returns errOverflow if a sum overflows, else a Cancelled if a condition of the
// caller's failed, else f.
func reasons(f *failure, given []types.CancellationReason, writes []write) error {
	if len(given) != len(writes) {
		return f
	}
	c := &tables.Cancelled{Reasons: make([]tables.Reason, len(given))}
	any := false
	for i, r := range given {
		if aws.ToString(r.Code) != "ConditionalCheckFailed" {
			continue
		}
		old, err := decodeItem(r.Item)
		if err != nil {
			return err
		}
		if writes[i].Overflows(old) {
			return errOverflow
		}
		c.Reasons[i] = tables.Reason{Failed: true, Old: old}
		any = true
	}
	if !any {
		return f
	}
	return c
}
