package embedded

import (
	"unicode/utf8"

	"agentsocial/tables"
)

// checkCond refuses an invalid condition.
func checkCond(c tables.Cond) error {
	if err := checkName(c.Attr); err != nil {
		return err
	}
	if !utf8.ValidString(c.Elem) {
		return invalid("a condition's member %q is not UTF-8", c.Elem)
	}
	switch c.Op {
	case tables.CondAbsent, tables.CondPresent:
		return nil
	case tables.CondEqual, tables.CondAbsentOrEqual, tables.CondNotEqual:
		switch v := c.Value.(type) {
		case string:
			if utf8.ValidString(v) {
				return nil
			}
		case int64, bool, []byte:
			return nil
		}
		return invalid("%s is compared with a %T", c.Attr, c.Value)
	case tables.CondAtLeast, tables.CondBefore, tables.CondAbsentOrBefore, tables.CondContainsOrSizeBelow:
	default:
		return invalid("unknown condition %d", c.Op)
	}
	if _, ok := c.Value.(int64); !ok {
		return invalid("%s is compared with a %T, not an int64", c.Attr, c.Value)
	}
	return nil
}
