package streams

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"agentsocial/tables"
)

func records(shard string, in []types.Record) ([]tables.StreamRecord, error) {
	var out []tables.StreamRecord
	for _, r := range in {
		d := r.Dynamodb
		if d == nil {
			continue
		}
		record := tables.StreamRecord{
			Shard: shard, Seq: aws.ToString(d.SequenceNumber),
			Event: string(r.EventName), At: aws.ToTime(d.ApproximateCreationDateTime).UTC(),
		}
		// Removals by TTL have the DynamoDB service as their user.
		if u := r.UserIdentity; u != nil {
			record.Expired = aws.ToString(u.Type) == "Service" && aws.ToString(u.PrincipalId) == "dynamodb.amazonaws.com"
		}
		key, err := image(d.Keys)
		if err != nil {
			return nil, err
		}
		record.Key = key.Key()
		if record.Old, err = image(d.OldImage); err != nil {
			return nil, err
		}
		if record.New, err = image(d.NewImage); err != nil {
			return nil, err
		}
		if record.New == nil { // DynamoDB Local has another name for a removal by TTL
			record.Event = "REMOVE"
		}
		out = append(out, record)
	}
	return out, nil
}

// image makes an item from attributes. It returns nil if there are none.
func image(m map[string]types.AttributeValue) (tables.Item, error) {
	if len(m) == 0 {
		return nil, nil
	}
	item, err := decodeMap(m)
	return tables.Item(item), err
}

func decodeMap(m map[string]types.AttributeValue) (tables.Map, error) {
	out := make(tables.Map, len(m))
	for name, a := range m {
		v, err := decode(a)
		if err != nil {
			return nil, fmt.Errorf("streams: attribute %q: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

// decode does what decode of tables/dynamo does, for the types of the streams client.
func decode(a types.AttributeValue) (any, error) {
	switch a := a.(type) {
	case nil:
		// DynamoDB Local's streams write an empty map without its type, and the SDK
		// decodes it to nil.
		return tables.Map{}, nil
	case *types.AttributeValueMemberS:
		return a.Value, nil
	case *types.AttributeValueMemberN:
		n, err := strconv.ParseInt(a.Value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("a number that is not an int64")
		}
		return n, nil
	case *types.AttributeValueMemberBOOL:
		return a.Value, nil
	case *types.AttributeValueMemberB:
		if a.Value == nil {
			return []byte{}, nil
		}
		return a.Value, nil
	case *types.AttributeValueMemberSS:
		slices.Sort(a.Value)
		return tables.Set(a.Value), nil
	case *types.AttributeValueMemberM:
		return decodeMap(a.Value)
	case *types.AttributeValueMemberL:
		l := make(tables.List, len(a.Value))
		for i, e := range a.Value {
			var err error
			if l[i], err = decode(e); err != nil {
				return nil, err
			}
		}
		return l, nil
	}
	return nil, fmt.Errorf("unexpected type %T", a)
}
