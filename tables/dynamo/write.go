package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"agentsocial/tables"
)

type write struct {
	table *string
	tables.Write
	key       attributes
	item      attributes // of a put
	condition *string
	update    *string
	expression
}

func (db *DB) prepare(w tables.Write) (out write, err error) {
	out = write{table: &db.table, Write: w}
	if err = w.CheckExpressions(); err != nil {
		return out, err
	}
	if out.key, err = encodeKey(w.Key); err != nil {
		return out, err
	}
	if out.condition, err = out.conditions(w.If, w.Updates); err != nil {
		return out, err
	}
	switch w.Op {
	case tables.OpPut:
		if w.Item.Key() != w.Key {
			return out, invalid("an item whose key differs from the write's")
		}
		out.item, err = encodeItem(w.Item)
	case tables.OpUpdate:
		out.update, err = out.updates(w.Updates)
	case tables.OpDelete:
	case tables.OpCheck:
		if out.condition == nil {
			err = invalid("a check without a condition")
		}
	default:
		err = invalid("unknown operation %d", w.Op)
	}
	return out, err
}

func (w write) putInput() *dynamodb.PutItemInput {
	return &dynamodb.PutItemInput{
		TableName: w.table, Item: w.item, ConditionExpression: w.condition,
		ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values,
		ReturnValuesOnConditionCheckFailure: allOld,
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityTotal,
	}
}

func (w write) updateInput() *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: w.table, Key: w.key, UpdateExpression: w.update, ConditionExpression: w.condition,
		ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values,
		ReturnValuesOnConditionCheckFailure: allOld,
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityTotal,
	}
}

func (w write) deleteInput() *dynamodb.DeleteItemInput {
	return &dynamodb.DeleteItemInput{
		TableName: w.table, Key: w.key, ConditionExpression: w.condition,
		ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values,
		ReturnValuesOnConditionCheckFailure: allOld,
		ReturnConsumedCapacity:              types.ReturnConsumedCapacityTotal,
	}
}

func (w write) transactItem() types.TransactWriteItem {
	switch w.Op {
	case tables.OpPut:
		return types.TransactWriteItem{Put: &types.Put{
			TableName: w.table, Item: w.item, ConditionExpression: w.condition,
			ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values,
			ReturnValuesOnConditionCheckFailure: allOld,
		}}
	case tables.OpUpdate:
		return types.TransactWriteItem{Update: &types.Update{
			TableName: w.table, Key: w.key, UpdateExpression: w.update, ConditionExpression: w.condition,
			ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values,
			ReturnValuesOnConditionCheckFailure: allOld,
		}}
	case tables.OpDelete:
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: w.table, Key: w.key, ConditionExpression: w.condition,
			ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values,
			ReturnValuesOnConditionCheckFailure: allOld,
		}}
	}
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: w.table, Key: w.key, ConditionExpression: w.condition,
		ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values,
		ReturnValuesOnConditionCheckFailure: allOld,
	}}
}
