package dynamo

import (
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"agentsocial/tables"
)

type attributes = map[string]types.AttributeValue

func encodeKey(k tables.Key) (attributes, error) {
	if !utf8.ValidString(k.PK) || !utf8.ValidString(k.SK) {
		return nil, invalid("a key that is not UTF-8")
	}
	return attributes{
		tables.AttrPK: &types.AttributeValueMemberS{Value: k.PK},
		tables.AttrSK: &types.AttributeValueMemberS{Value: k.SK},
	}, nil
}

func encodeItem(m map[string]any) (attributes, error) { return encodeMap(m, 0) }

// encodeMap encodes an item or a map. depth is the number of maps and lists that its values
// are in.
func encodeMap(m map[string]any, depth int) (attributes, error) {
	out := make(attributes, len(m))
	for name, v := range m {
		if !utf8.ValidString(name) {
			return nil, invalid("an attribute's name that is not UTF-8")
		}
		a, err := encodeWithin(v, depth)
		if err != nil {
			return nil, fmt.Errorf("attribute %q: %w", name, err)
		}
		out[name] = a
	}
	return out, nil
}

// encode refuses text that is not UTF-8: DynamoDB's JSON would silently replace it, and two
// keys could become one. It refuses values that are nested too deeply, because DynamoDB
// Local notices some of them only after it has checked the conditions.
func encode(v any) (types.AttributeValue, error) { return encodeWithin(v, 0) }

func encodeWithin(v any, depth int) (types.AttributeValue, error) {
	switch v.(type) {
	case tables.Map, tables.List:
		if depth == tables.MaxNesting {
			return nil, invalid("more than %d maps and lists within each other", tables.MaxNesting)
		}
	}
	switch v := v.(type) {
	case string:
		if !utf8.ValidString(v) {
			return nil, invalid("a string that is not UTF-8")
		}
		return &types.AttributeValueMemberS{Value: v}, nil
	case int64:
		return number(v), nil
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}, nil
	case []byte:
		if v == nil {
			v = []byte{} // nil would be sent as JSON null
		}
		return &types.AttributeValueMemberB{Value: v}, nil
	case tables.Set:
		if len(v) == 0 {
			return nil, invalid("an empty set")
		}
		for _, member := range v {
			if !utf8.ValidString(member) {
				return nil, invalid("a set's member that is not UTF-8")
			}
		}
		return &types.AttributeValueMemberSS{Value: v}, nil
	case tables.Map:
		m, err := encodeMap(v, depth+1)
		if err != nil {
			return nil, err
		}
		return &types.AttributeValueMemberM{Value: m}, nil
	case tables.List:
		l := make([]types.AttributeValue, len(v))
		for i, e := range v {
			var err error
			if l[i], err = encodeWithin(e, depth+1); err != nil {
				return nil, err
			}
		}
		return &types.AttributeValueMemberL{Value: l}, nil
	}
	return nil, invalid("a value of type %T", v)
}

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// decodeItem makes an item from attributes. It returns nil if there are none.
func decodeItem(m attributes) (tables.Item, error) {
	if len(m) == 0 {
		return nil, nil
	}
	item, err := decodeMap(m)
	return tables.Item(item), err
}

func decodeMap(m attributes) (tables.Map, error) {
	out := make(tables.Map, len(m))
	for name, a := range m {
		v, err := decode(a)
		if err != nil {
			return nil, fmt.Errorf("dynamo: attribute %q: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

func decode(a types.AttributeValue) (any, error) {
	switch a := a.(type) {
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
		slices.Sort(a.Value) // DynamoDB's sets are unordered
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
