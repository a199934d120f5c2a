package stream

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/tables"
)

// FromLambda converts a batch from Lambda's event.
func FromLambda(e events.DynamoDBEvent) ([]tables.StreamRecord, error) {
	out := make([]tables.StreamRecord, len(e.Records))
	for i, r := range e.Records {
		key, err := itemOf(r.Change.Keys)
		if err != nil {
			return nil, err
		}
		rec := tables.StreamRecord{
			Seq: r.Change.SequenceNumber, Event: r.EventName, At: r.Change.ApproximateCreationDateTime.Time, Key: key.Key(),
			Expired: r.UserIdentity != nil && r.UserIdentity.Type == "Service" && r.UserIdentity.PrincipalID == "dynamodb.amazonaws.com",
		}
		if rec.Old, err = itemOf(r.Change.OldImage); err != nil {
			return nil, err
		}
		if rec.New, err = itemOf(r.Change.NewImage); err != nil {
			return nil, err
		}
		out[i] = rec
	}
	return out, nil
}

// ToLambda converts records to Lambda's event.
func ToLambda(records []tables.StreamRecord) events.DynamoDBEvent {
	e := events.DynamoDBEvent{Records: make([]events.DynamoDBEventRecord, len(records))}
	for i, r := range records {
		e.Records[i] = events.DynamoDBEventRecord{
			EventName: r.Event, EventSource: "aws:dynamodb", EventID: r.Shard + "/" + r.Seq,
			Change: events.DynamoDBStreamRecord{
				ApproximateCreationDateTime: events.SecondsEpochTime{Time: r.At.Truncate(time.Second)},
				SequenceNumber:              r.Seq, StreamViewType: "NEW_AND_OLD_IMAGES",
				Keys:     imageOf(tables.Item{tables.AttrPK: r.Key.PK, tables.AttrSK: r.Key.SK}),
				OldImage: imageOf(r.Old), NewImage: imageOf(r.New),
			},
		}
		if r.Expired {
			e.Records[i].UserIdentity = &events.DynamoDBUserIdentity{Type: "Service", PrincipalID: "dynamodb.amazonaws.com"}
		}
	}
	return e
}

func itemOf(image map[string]events.DynamoDBAttributeValue) (tables.Item, error) {
	if len(image) == 0 {
		return nil, nil
	}
	m, err := mapOf(image)
	return tables.Item(m), err
}

func mapOf(image map[string]events.DynamoDBAttributeValue) (tables.Map, error) {
	m := make(tables.Map, len(image))
	for name, a := range image {
		v, err := valueOf(a)
		if err != nil {
			return nil, fmt.Errorf("stream: attribute %q: %w", name, err)
		}
		m[name] = v
	}
	return m, nil
}

func valueOf(a events.DynamoDBAttributeValue) (any, error) {
	switch a.DataType() {
	case events.DataTypeString:
		return a.String(), nil
	case events.DataTypeNumber:
		return strconv.ParseInt(a.Number(), 10, 64)
	case events.DataTypeBoolean:
		return a.Boolean(), nil
	case events.DataTypeBinary:
		return a.Binary(), nil
	case events.DataTypeStringSet:
		return tables.NewSet(a.StringSet()...), nil
	case events.DataTypeMap:
		return mapOf(a.Map())
	case events.DataTypeList:
		l := make(tables.List, len(a.List()))
		for i, e := range a.List() {
			v, err := valueOf(e)
			if err != nil {
				return nil, err
			}
			l[i] = v
		}
		return l, nil
	}
	return nil, fmt.Errorf("unknown DynamoDB type %d", a.DataType())
}

func imageOf(item map[string]any) map[string]events.DynamoDBAttributeValue {
	if item == nil {
		return nil
	}
	m := make(map[string]events.DynamoDBAttributeValue, len(item))
	for name, v := range item {
		m[name] = attributeOf(v)
	}
	return m
}

func attributeOf(v any) events.DynamoDBAttributeValue {
	switch v := v.(type) {
	case string:
		return events.NewStringAttribute(v)
	case int64:
		return events.NewNumberAttribute(strconv.FormatInt(v, 10))
	case bool:
		return events.NewBooleanAttribute(v)
	case []byte:
		return events.NewBinaryAttribute(v)
	case tables.Set:
		return events.NewStringSetAttribute(v)
	case tables.Map:
		return events.NewMapAttribute(imageOf(v))
	case tables.List:
		l := make([]events.DynamoDBAttributeValue, len(v))
		for i, e := range v {
			l[i] = attributeOf(e)
		}
		return events.NewListAttribute(l)
	}
	panic(fmt.Sprintf("stream: %T cannot be a value of an item", v))
}
