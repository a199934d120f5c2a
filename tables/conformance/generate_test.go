package conformance_test

import (
	"fmt"
	"math"
	"strings"

	"pgregory.net/rapid"

	"agentsocial/tables"
	"agentsocial/tables/conformance"
	"agentsocial/tables/embedded"
)

// sequence draws operations on few items, so that the operations interact. Its partitions
// have a prefix of their own, so that many sequences share one table.
type sequence struct {
	t      *rapid.T
	prefix string
	tokens []tables.Tx // committed with a token, for repeats
	exists func(tables.Key) bool
}

var (
	sortKeys  = []string{"a", "a\x00", "aa", "b", "é", "\uffff", "\U00010000", "z"}
	attrs     = []string{"n", "s", "b", "set", "x", tables.AttrTTL}
	condAttrs = append([]string{tables.AttrPK, tables.AttrSK, "rank_pk", "none"}, attrs...)
	members   = []string{"", "a", "b", "c", "é"}
)

func pick[T any](s *sequence, name string, from ...T) T {
	return rapid.SampledFrom(from).Draw(s.t, name)
}

// chance returns true about once in n times. It shrinks towards false.
func (s *sequence) chance(name string, n int) bool {
	return rapid.IntRange(0, n-1).Draw(s.t, name) == n-1
}

func (s *sequence) key() tables.Key {
	return tables.Key{PK: s.prefix + pick(s, "pk", "p", "q"), SK: pick(s, "sk", sortKeys...)}
}

func (s *sequence) set() tables.Set {
	return tables.NewSet(rapid.SliceOfN(rapid.SampledFrom(members), 1, 3).Draw(s.t, "members")...)
}

// number draws a number: mostly a small one, so that many sums and comparisons are equal.
func (s *sequence) number() int64 {
	if s.chance("large number", 6) {
		return pick[int64](s, "number", 1<<53, 1<<53+1, -(1<<53 + 1), math.MaxInt64, math.MaxInt64-1, math.MinInt64, math.MinInt64+1)
	}
	return rapid.Int64Range(-3, 5).Draw(s.t, "small")
}

// ttl draws a time of expiry near a bound. DynamoDB ignores times more than five years ago.
func (s *sequence) ttl() int64 {
	const fiveYears = 5 * 365 * 24 * 60 * 60
	return pick(s, "ttl", 0, -1, now.Unix()-fiveYears, now.Unix()) + pick[int64](s, "around", -1, 0, 1)
}

// name returns usual or, rarely, a name of about the largest size.
func (s *sequence) name(usual string) string {
	if s.chance("long name", 400) {
		return strings.Repeat("n", tables.MaxNameSize+pick(s, "beyond", -1, 0, 1))
	}
	return usual
}

// deep draws a value nested in about as many maps and lists as are allowed.
func (s *sequence) deep() any {
	v := pick[any](s, "innermost", int64(1), "a", tables.List{}, tables.NewSet("a", "b"), tables.Map{s.name("k"): true})
	for range tables.MaxNesting + pick(s, "beyond", -2, -1, 0, 1) {
		if pick(s, "map", false, true) {
			v = tables.Map{"k": v}
		} else {
			v = tables.List{v}
		}
	}
	return v
}

func (s *sequence) below(n int) int { return rapid.IntRange(0, n-1).Draw(s.t, "n") }

func (s *sequence) fault() embedded.Fault {
	return pick(s, "fault", embedded.Conflict, embedded.Throttled, embedded.LostRequest, embedded.LostAnswer)
}

// value draws a value for an attribute, mostly of its usual type.
func (s *sequence) value(attr string) any {
	kind := map[string]string{"n": "number", "s": "string", "b": "binary", "set": "set", tables.AttrTTL: "ttl"}[attr]
	if kind == "" || s.chance("another type", 5) {
		kind = pick(s, "kind", "number", "string", "binary", "set", "bool", "map", "list", "deep")
	}
	switch kind {
	case "number":
		return s.number()
	case "ttl":
		return s.ttl()
	case "deep":
		return s.deep()
	case "string":
		return pick(s, "string", "", "a", "b", "é", "\x00", "\U0001F980 and some more text")
	case "binary":
		return pick(s, "binary", []byte{}, []byte{0}, []byte{0, 0xff, 0}, []byte("abc"))
	case "set":
		return s.set()
	case "bool":
		return pick(s, "bool", false, true)
	case "map":
		// Never an empty map: DynamoDB Local's streams omit its type.
		return tables.Map{"k": s.value("n"), "l": tables.List{s.value("s")}}
	}
	return pick(s, "list", tables.List{}, tables.List{"a", int64(1), tables.Map{"k": tables.List{}}})
}

// indexKey draws a value for a key attribute of an index. Many items share a sort key that
// ends with "tie". No bound or position of a query ends with "tie", since the order of items
// with equal sort keys is undefined.
func (s *sequence) indexKey(k tables.Key, attr string, isPK bool) any {
	switch {
	case s.chance("no index key", 25):
		return pick[any](s, "bad index key", "", int64(1), []byte("x"))
	case isPK:
		return s.prefix + pick(s, attr, "R", "S")
	}
	if s.chance("tie", 3) {
		return pick(s, attr, "1", "2", "3") + "tie"
	}
	return pick(s, attr, "1", "2", "3") + k.PK + k.SK
}

func (s *sequence) item() tables.Item {
	k := s.key()
	if s.chance("large", 200) {
		return conformance.Sized(k, tables.MaxItemSize+pick(s, "beyond", -1, 0, 1))
	}
	i := tables.Item{tables.AttrPK: k.PK, tables.AttrSK: k.SK}
	for _, attr := range attrs {
		if pick(s, attr, false, true) {
			i[s.name(attr)] = s.value(attr)
		}
	}
	for _, x := range tables.Indexes {
		if s.chance("index", 2) {
			i[x.PK] = s.indexKey(k, x.PK, true)
		}
		if s.chance("index", 2) {
			i[x.SK] = s.indexKey(k, x.SK, false)
		}
	}
	return i
}

func (s *sequence) conds() []tables.Cond {
	var conds []tables.Cond
	n := pick(s, "conditions", 0, 0, 1, 1, 2)
	if s.chance("many conditions", 100) {
		n = tables.MaxConds + pick(s, "beyond", -1, 0, 1)
	}
	for range n {
		conds = append(conds, s.cond())
	}
	return conds
}

func (s *sequence) cond() tables.Cond {
	attr := s.name(pick(s, "attr", condAttrs...))
	scalar := func() any {
		switch v := s.value(attr).(type) {
		case string, int64, bool, []byte:
			return v
		}
		return "a"
	}
	switch op := tables.CondOp(rapid.IntRange(int(tables.CondAbsent), int(tables.CondContainsOrSizeBelow)).Draw(s.t, "op")); op {
	case tables.CondAbsent, tables.CondPresent:
		return tables.Cond{Op: op, Attr: attr}
	case tables.CondEqual, tables.CondNotEqual, tables.CondAbsentOrEqual:
		return tables.Cond{Op: op, Attr: attr, Value: scalar()}
	default:
		return tables.Cond{Op: op, Attr: attr, Value: s.number(), Elem: pick(s, "elem", members...)}
	}
}

func (s *sequence) updates(k tables.Key) []tables.Update {
	var us []tables.Update
	creates := false
	for _, attr := range rapid.SliceOfNDistinct(rapid.SampledFrom(attrs), 1, 3, rapid.ID[string]).Draw(s.t, "attrs") {
		u := tables.Update{Attr: s.name(attr), Op: pick(s, "update", tables.UpdSet, tables.UpdSet, tables.UpdRemove, tables.UpdAdd, tables.UpdAddToSet, tables.UpdRemoveFromSet)}
		switch u.Op {
		case tables.UpdSet:
			u.Value = s.value(attr)
		case tables.UpdAdd:
			u.Value = s.number()
		case tables.UpdAddToSet, tables.UpdRemoveFromSet:
			u.Value = s.set()
		}
		creates = creates || u.Op != tables.UpdRemove && u.Op != tables.UpdRemoveFromSet
		us = append(us, u)
	}
	if s.chance("index", 3) {
		x := pick(s, "index", tables.Indexes...)
		if s.chance("leave", 4) {
			us = append(us, tables.RemoveAttr(x.SK))
		} else {
			us = append(us, tables.SetAttr(x.PK, s.indexKey(k, x.PK, true)), tables.SetAttr(x.SK, s.indexKey(k, x.SK, false)))
			creates = true
		}
	}
	if s.chance("many updates", 100) {
		n := tables.MaxUpdates + pick(s, "beyond", -1, 0, 1)
		adds := s.below(tables.MaxConds + 3)
		for i := len(us); i < n; i++ {
			if i < adds {
				us = append(us, tables.Add(fmt.Sprint("many", i), s.number()))
			} else {
				us = append(us, tables.SetAttr(fmt.Sprint("many", i), "v"))
			}
		}
		creates = true
	}
	// An update that only removes attributes creates a missing item on DynamoDB
	// Local, but not on DynamoDB.
	if !creates && !s.exists(k) {
		us = append(us, tables.SetAttr("made", true))
	}
	return us
}

func (s *sequence) write() tables.Write {
	switch pick(s, "write", "put", "put", "change", "change", "change", "delete", "check") {
	case "put":
		return tables.Put(s.item(), s.conds()...)
	case "change":
		k := s.key()
		return tables.Change(k, s.updates(k)...).When(s.conds()...)
	case "delete":
		return tables.Delete(s.key(), s.conds()...)
	}
	return tables.Check(s.key(), s.cond())
}

func (s *sequence) tx() tables.Tx {
	if len(s.tokens) > 0 && s.chance("replay", 8) {
		return pick(s, "tx", s.tokens...)
	}
	var tx tables.Tx
	taken := map[tables.Key]bool{}
	for range pick(s, "writes", 1, 1, 1, 2, 3, 5) {
		w := s.write()
		if taken[w.Key] && !s.chance("duplicate", 10) {
			continue
		}
		taken[w.Key] = true
		tx.Writes = append(tx.Writes, w)
	}
	if s.chance("token", 4) {
		tx.Token = fmt.Sprintf("%x-", process) + s.prefix + pick(s, "token", "t1", "t2", "t3", "t4", "t5", "t6")
		s.tokens = append(s.tokens, tx)
	}
	return tx
}

func (s *sequence) query() tables.Query {
	q := tables.Query{PK: s.prefix + pick(s, "pk", "p", "q"), Desc: pick(s, "desc", false, true), Limit: pick(s, "limit", 0, 0, 1, 2, 3, 100)}
	bounds := sortKeys
	if s.chance("of an index", 2) {
		q.Index = pick(s, "index", tables.Indexes...).Name
		q.PK = s.prefix + pick(s, "pk", "R", "S")
		k := s.key()
		bounds = []string{"1", "2", "2" + k.PK, "2" + k.PK + k.SK, "3", "4"}
	} else {
		q.Consistency = tables.Consistency(pick(s, "strong", false, true))
	}
	if s.chance("from", 2) {
		q.From = pick(s, "from", bounds...)
	}
	if s.chance("to", 2) {
		q.To = pick(s, "to", bounds...)
	}
	if s.chance("after", 3) {
		q.After = &tables.Position{SK: pick(s, "after", bounds...)}
		if q.Index != "" {
			k := s.key()
			q.After = &tables.Position{SK: pick(s, "rank", "1", "2", "3", "4") + pick(s, "after", "", k.PK+k.SK), Key: k}
		}
	}
	return q
}
