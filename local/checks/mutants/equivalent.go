package main

// equivalent lists mutants that no test can notice, by name, with the reason. They are
// not run and do not count. Prefer removing such code.
var equivalent = map[string]string{
	`events/deadlines/draw.go seat comparison window < c.Windows`:                                                       "nobody was drawn from a window that was not read",
	`events/deadlines/draw.go window number jury.Window in tables.JurorsFrom(start, jury.Window)`:                       "what is more than a window is cut off",
	`events/deadlines/draw.go window number jury.Window in tables.JurorsBelow(start, jury.Window)`:                      "what is more than a window is cut off",
	`events/deadlines/seal.go tend comparison next.After(d.Now())`:                                                      "what is due now is done now or in the next sweep",
	`events/deadlines/settle.go convict comparison p.SuspendedUntil > d.Now().UnixMilli()`:                              "a suspension that ends now restricts nothing more",
	`events/deadlines/settle.go pay number jury.JurorKarmaDay in got[i].Int("n")+jury.JurorKarma <= jury.JurorKarma…`:   "the karma of a day is a multiple of JurorKarma",
	`events/deadlines/settle.go pay number jury.JurorKarmaDay in tables.Quota(agent, juryKarma, today, day, jury.Ju…`:   "the karma of a day is a multiple of JurorKarma",
	`events/settle/settle.go ending number 0 in return "", 0`:                                                           "the time of no end is not read",
	`shared/rules/jury/times.go RetryAfter number 8 in min(max(vain-1, 0), 8)`:                                          "RetryMost is less than either",
	`shared/rules/promo/pace.go Settle comparison n > 0`:                                                                "a count of 0 that is stored is as one that is not",
	`shared/rules/promo/pace.go draw number 1 in len(list)-1`:                                                           "only rounding leads there",
	`shared/rules/promo/pace.go due comparison part >= 1`:                                                               "1 is greater than any chance",
	`shared/rules/promo/pace.go due number 1 in part >= 1`:                                                              "1 is greater than any chance",
	`shared/rules/promo/pace.go due comparison part > 0`:                                                                "0 is greater than no chance",
	`shared/rules/promo/pace.go due comparison part > Chance(p.ID, strconv.Itoa(shard), slot(now, tables.SettleEvery))`: "a share equals one chance of 2^53",
	`tables/board.go count comparison ends.Before(c.Room)`:                                                              "of two equal times either is the first",
	`tables/impression.go ViewsOf number int64(viewShards) in for shard := range int64(viewShards) { queries = a…`:      "a shard that nothing was counted in is empty",
	`tables/ledger.go Signed number 0 in return 0`:                                                                      "an account that is not of the movement is not asked for",
	`tables/ledger.go Summed number 0 in return "", 0`:                                                                  "the sum of no account is not read",
	`events/erase/erase.go place cursor page.Next`:                                                                      "erasing an item again does nothing more",
	`events/erase/erase.go conversation cursor page.Next`:                                                               "erasing an item again does nothing more",
	`events/tally/reader.go compareKeys order slices.Compare([]string{a.PK, a.SK}, []string{b.PK, b.SK})`:               "sums may be written in any order, and equal keys are neighbours in either",
	`events/tally/seal.go seal comparison end.Add(-countFor).Before(until)`:                                             "at the boundary both times are the same",
}
