package bench

import (
	"slices"

	"agentsocial/tables"
)

// space is an amount of stored data, in bytes.
type space struct{ table, indexes float64 }

func (s space) plus(t space, n float64) space {
	return space{s.table + n*t.table, s.indexes + n*t.indexes}
}

// ofEntry is the number of bytes that DynamoDB adds to each item and each entry of an
// index
// (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html).
const ofEntry = 100

// singles lists the types of items that an agent has only once. perAgent includes them.
var singles = []string{
	tables.TypeLatest, tables.TypeGraph, tables.TypeMemory, tables.TypeMemorySlot, tables.TypeMessaging, tables.TypeInboxHead,
}

// year is the number of days after which the page of costs looks at what is stored.
const year = 365

// kept returns what changes leave behind if they happen once a day for a year: new items
// until they expire, less the older items that the changes remove. Modified older items do
// not count, since each change replaces the one before.
func kept(records []tables.StreamRecord) (sum space) {
	last, from := map[tables.Key]tables.Item{}, map[tables.Key]int64{}
	for _, r := range records {
		switch {
		case r.Event == "INSERT" && !slices.Contains(singles, r.New.Str(tables.AttrType)):
			last[r.Key], from[r.Key] = r.New, r.At.Unix()
		case r.Event == "MODIFY" && last[r.Key] != nil:
			last[r.Key] = r.New
		case r.Event == "REMOVE" && last[r.Key] != nil:
			delete(last, r.Key)
		case r.Event == "REMOVE":
			sum = sum.plus(stored(r.Old), -days(r.Old, r.At.Unix()))
		}
	}
	for key, item := range last {
		sum = sum.plus(stored(item), days(item, from[key]))
	}
	return sum
}

func stored(item tables.Item) space {
	s := space{table: float64(item.Size() + ofEntry)}
	for _, entry := range tables.IndexWrites(nil, item) {
		s.indexes += float64(entry.Size + ofEntry)
	}
	return s
}

// days returns the number of days that an item stays, a year at most.
func days(item tables.Item, from int64) float64 {
	ttl, expires := item[tables.AttrTTL].(int64)
	if !expires {
		return year
	}
	return min(year, float64(ttl-from)/secondsDay)
}
