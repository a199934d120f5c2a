package main

// free lists constants for which any number is right, with the reason. Their uses have no
// mutants.
var free = map[string]string{
	"events/audit.pageMost":        "pages of any size read the same",
	"events/audit.proveFor":        "the next call goes on with what is left",
	"events/deadlines.pageMost":    "pages of any size read the same",
	"events/deadlines.sealsAtOnce": "any number may run at once",
	"events/deadlines.sweepFor":    "the next call goes on with what is left",
	"events/deadlines.takeFor":     "a sweep that died may be replaced at any time",
	"events/erase.pageMost":        "pages of any size read the same",
	"events/erase.sideBySide":      "any number may run at once",
	"events/erase.sweepFor":        "the next call goes on with what is left",
	"events/erase.takeFor":         "a sweep that died may be replaced at any time",
	"events/inbox.sideBySide":      "any number may run at once",
	"events/settle.early":          "a promo is settled at the next tick or the one after it",
	"events/settle.pageMost":       "pages of any size read the same",
	"events/settle.sideBySide":     "any number may run at once",
	"events/settle.sweepFor":       "the next call goes on with what is left",
	"events/tally.countFor":        "the next change goes on with what is left",
	"events/tally.sideBySide":      "any number may run at once",
	"events/tally.tallyMost":       "changes are added up in transactions of any size",
	"events/tally.tendFor":         "the next change goes on with what is left",
	"functions/agents.recallTries": "a read may be tried again any number of times",
	"functions/mcp.listKept":       "a client may keep the list for any time",
	"tables.SettleEvery":           "promos may be settled as often as one likes",
}

// freeFields lists fields that are not mutated, with the reason.
var freeFields = map[string]string{
	"Batch":   "a reader handles any number of records",
	"Cache":   "a cache may keep an answer for any time",
	"Cost":    "the least that a call counts as; a call that reads more counts as more",
	"Every":   "a schedule may be called as often as one likes",
	"Rate":    "TestSlowRoutes in infra compares the rates of all routes",
	"Timeout": "what is cut off is tried again",
	"Window":  "a reader may be called at any time",
}
