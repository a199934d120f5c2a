package scale

// Grower is a family of keys whose busiest key's load grows with the network: all
// agents share it.
type Grower struct {
	Family string
	Keys   int        // so many keys share the load evenly
	Units  [2]float64 // read and write units that an agent's day adds to them
	Why    string
}

// Growing lists the families that grow. Every other family's busiest key bears the same
// load in a network of any size: TestBudgets measures that, and Units.
var Growing = []Grower{}

// Full returns the size of the network at which the key is full at the busiest second of
// a day, which has peak times as much to do as the mean.
func (g Grower) Full(l Limits, peak float64) float64 {
	return float64(g.Keys) * secondsDay / peak / max(g.Units[reads]/l.Reads, g.Units[writes]/l.Writes)
}

// grows reports whether a family is in Growing.
func grows(family string) bool {
	for _, g := range Growing {
		if g.Family == family {
			return true
		}
	}
	return false
}
