package dynamo

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"agentsocial/tables"
)

// expression collects the names and values of one request's expressions. Names
// are always replaced by placeholders, because DynamoDB reserves hundreds of
// words.
type expression struct {
	names        map[string]string // placeholder → attribute
	values       attributes        // placeholder → value
	placeholders map[string]string // attribute → placeholder
}

func (e *expression) name(attr string) string {
	if p, ok := e.placeholders[attr]; ok {
		return p
	}
	if e.names == nil {
		e.names, e.placeholders = map[string]string{}, map[string]string{}
	}
	p := "#" + strconv.Itoa(len(e.names))
	e.names[p], e.placeholders[attr] = attr, p
	return p
}

func (e *expression) value(v types.AttributeValue) string {
	if e.values == nil {
		e.values = attributes{}
	}
	p := ":" + strconv.Itoa(len(e.values))
	e.values[p] = v
	return p
}

func (e *expression) str(s string) string {
	return e.value(&types.AttributeValueMemberS{Value: s})
}

// conditions returns an expression that is true if all conds hold and no addition
// in updates overflows an int64. It is nil if there is nothing to require.
func (e *expression) conditions(conds []tables.Cond, updates []tables.Update) (*string, error) {
	var parts []string
	for _, c := range conds {
		part, err := e.condition(c)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	for _, u := range updates {
		if n, ok := u.Value.(int64); ok && u.Op == tables.UpdAdd && n != 0 {
			parts = append(parts, e.guard(u.Attr, n))
		}
	}
	if len(parts) == 0 {
		return nil, nil
	}
	return aws.String(strings.Join(parts, " AND ")), nil
}

// guard returns the condition that an attribute plus n is an int64. Without it DynamoDB
// would store sums of up to 38 digits, and the item could never be read again. An attribute
// of another type is left to the update, which refuses it.
func (e *expression) guard(attr string, n int64) string {
	a := e.name(attr)
	var bound string
	if n > 0 {
		bound = a + " <= " + e.value(number(math.MaxInt64-n))
	} else {
		bound = a + " >= " + e.value(number(math.MinInt64-n))
	}
	return "(NOT attribute_type(" + a + ", " + e.str("N") + ") OR " + bound + ")"
}

func (e *expression) condition(c tables.Cond) (string, error) {
	if !utf8.ValidString(c.Attr) || !utf8.ValidString(c.Elem) {
		return "", invalid("a condition that is not UTF-8")
	}
	a := e.name(c.Attr)
	absent := "attribute_not_exists(" + a + ")"
	switch c.Op {
	case tables.CondAbsent:
		return absent, nil
	case tables.CondPresent:
		return "attribute_exists(" + a + ")", nil
	}
	holds, err := e.predicate(a, c)
	if err != nil {
		return "", err
	}
	switch c.Op {
	case tables.CondEqual, tables.CondAtLeast, tables.CondBefore:
		return holds, nil
	}
	return "(" + absent + " OR " + holds + ")", nil
}

func (e *expression) predicate(a string, c tables.Cond) (string, error) {
	var operand types.AttributeValue
	switch v := c.Value.(type) {
	case int64:
		operand = number(v)
	case string, bool, []byte:
		var err error
		if operand, err = encode(v); err != nil {
			return "", err
		}
		switch c.Op {
		case tables.CondEqual, tables.CondAbsentOrEqual, tables.CondNotEqual:
		default:
			return "", invalid("op %d compares %q with a %T", c.Op, c.Attr, v)
		}
	default:
		return "", invalid("op %d compares %q with a %T", c.Op, c.Attr, v)
	}
	switch c.Op {
	case tables.CondEqual, tables.CondAbsentOrEqual:
		return a + " = " + e.value(operand), nil
	case tables.CondNotEqual:
		return a + " <> " + e.value(operand), nil
	case tables.CondAtLeast:
		return a + " >= " + e.value(operand), nil
	case tables.CondBefore, tables.CondAbsentOrBefore:
		return a + " < " + e.value(operand), nil
	case tables.CondContainsOrSizeBelow:
		// contains() and size() accept strings, lists and more; the contract
		// allows only sets.
		return "(attribute_type(" + a + ", " + e.str("SS") + ") AND (contains(" + a + ", " + e.str(c.Elem) + ") OR size(" + a + ") < " + e.value(operand) + "))", nil
	}
	return "", invalid("condition %d is unknown", c.Op)
}

func (e *expression) updates(us []tables.Update) (*string, error) {
	if len(us) == 0 {
		return nil, invalid("an update that changes nothing")
	}
	clauses := map[string][]string{}
	seen := map[string]bool{}
	for _, u := range us {
		if !utf8.ValidString(u.Attr) {
			return nil, invalid("an attribute's name that is not UTF-8")
		}
		if seen[u.Attr] {
			return nil, invalid("two updates of attribute %q", u.Attr)
		}
		seen[u.Attr] = true
		clause, term, err := e.update(u)
		if err != nil {
			return nil, err
		}
		clauses[clause] = append(clauses[clause], term)
	}
	var parts []string
	for _, clause := range []string{"SET", "REMOVE", "ADD", "DELETE"} {
		if terms := clauses[clause]; terms != nil {
			parts = append(parts, clause+" "+strings.Join(terms, ", "))
		}
	}
	return aws.String(strings.Join(parts, " ")), nil
}

func (e *expression) update(u tables.Update) (clause, term string, err error) {
	a := e.name(u.Attr)
	if u.Op == tables.UpdRemove {
		return "REMOVE", a, nil
	}
	value, err := encode(u.Value)
	if err != nil {
		return "", "", err
	}
	_, isInt := u.Value.(int64)
	_, isSet := u.Value.(tables.Set)
	switch {
	case u.Op == tables.UpdSet:
		return "SET", a + " = " + e.value(value), nil
	case u.Op == tables.UpdAdd && isInt, u.Op == tables.UpdAddToSet && isSet:
		return "ADD", a + " " + e.value(value), nil
	case u.Op == tables.UpdRemoveFromSet && isSet:
		return "DELETE", a + " " + e.value(value), nil
	}
	return "", "", invalid("op %d updates %q with a %T", u.Op, u.Attr, u.Value)
}
