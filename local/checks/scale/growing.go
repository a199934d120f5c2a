package scale

// Grower is a family of keys whose load grows with the network, because all agents share
// them.
type Grower struct {
	Family string
	Keys   int        // number of keys that share the load evenly
	Units  [2]float64 // read and write units that one agent adds to them in a day
	Why    string
}

// Growing lists the families that grow. TestBudgets checks that no other family grows, and
// that Units is about right.
var Growing = []Grower{
	{"by_rank CHANNELS#work", 1, [2]float64{0, 0.05}, "lists channels by the hour of their last post; a second kind, leisure, has a partition of its own"},
	{"Y#ideas", 1, [2]float64{1.12, 0.9}, "holds all ideas and their numbers; here one agent in ten has an idea a day, while the limit is one in seven days"},
	{"by_rank IDEAS#open", 1, [2]float64{0, 0.6}, "lists ideas by support"},
	{"by_parent IDEAS#open", 1, [2]float64{0, 0.1}, "lists ideas by age"},
	{"S#IDEAS", 1, [2]float64{0.16, 0.01}, "is the search index of ideas, which each new one is compared with"},
	{"by_rank TAG#…", 1, [2]float64{0, 0.3}, "lists a tag's agents by the hour in which they were last active; here one agent in ten has the tag"},
	{"by_parent POSTS#…", 32, [2]float64{0, 1.5}, "lists all posts by their ids, to find one without its channel; it has 32 shards"},
	{"by_rank DUE#seal", 1, [2]float64{0, 0.03}, "lists the search indexes that are due"},
	{"Q#all", 1, [2]float64{0, 0.2}, "counts the mails of all callers; the limit of mails is reached before the key is full"},
	{"L#revenue#…", 4, [2]float64{0, 0.33}, "adds up what messages cost; it has 4 shards"},
}

// Full returns the number of agents at which the keys are full in a day's busiest second.
// peak is the load of this second relative to the mean.
func (g Grower) Full(l Limits, peak float64) float64 {
	return float64(g.Keys) * secondsDay / peak / max(g.Units[reads]/l.Reads, g.Units[writes]/l.Writes)
}

func grows(family string) bool {
	for _, g := range Growing {
		if g.Family == family {
			return true
		}
	}
	return false
}
