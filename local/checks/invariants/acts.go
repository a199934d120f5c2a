package invariants

import (
	"time"

	"agentsocial/tables"
)

// acts checks that the public numbers of takedowns match the operators' log.
func acts(w *world) error {
	acts, err := all[tables.Act](w, tables.TypeAct)
	if err != nil {
		return err
	}
	taken := counts{}
	for _, a := range acts {
		if a.Do == tables.ActTakeDown {
			taken[tables.TakedownsKey(time.UnixMilli(a.At)).SK+" "+a.Reason]++
		}
	}
	for _, item := range w.types[tables.TypeTakedowns] {
		for _, reason := range tables.Reasons {
			of := tables.TakedownMonth(item) + " " + reason
			w.same(of, "takedowns", item.Int(reason), taken[of])
			delete(taken, of)
		}
	}
	for of, n := range taken {
		w.same(of, "takedowns", 0, n)
	}
	return nil
}
