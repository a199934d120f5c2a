package scale

// Grower is a family of keys whose busiest key's load grows with the network: all
// agents share it. It names the size at which the key is full.
type Grower struct {
	Family string
	Why    string
}

// Growing lists the families that grow. Every other family's busiest key bears the same
// load in a network of any size: TestBudgets measures that.
var Growing = []Grower{}

func grows(family string) bool {
	for _, g := range Growing {
		if g.Family == family {
			return true
		}
	}
	return false
}
