package bench

import "math"

// Assumptions about provisioned capacity (setting capacity).
const (
	// target is the setting capacityTarget in cdk.json. shrinks is the share of the
	// target that is used on average, because capacity shrinks later than the load.
	target, shrinks = 0.6, 5.0 / 6

	// quiet is the load of the quietest hour of a week, as a share of the average load.
	// The capacity for it is never idle, so it can be reserved.
	quiet = 0.5

	// The least capacity of the table, and of its three indexes together.
	leastOfTable, leastOfIndexes = 25, 3 * 5

	// scalingPolicies counts the policies for reads and writes of the table and its three
	// indexes. Each policy has alarmsOfPolicy alarms.
	scalingPolicies, alarmsOfPolicy = 8, 4
)

// plan is a way to pay for the table's capacity.
type plan struct {
	target   float64 // the setting capacityTarget
	discount float64 // on reserved capacity; 0 reserves nothing
	rare     bool    // with the table class Standard-IA
}

// The plans of the page. oneYearAt has the target that AWS's console suggests.
var (
	hourly     = plan{target: target}
	oneYear    = plan{target: target, discount: reservedOneYear}
	oneYearAt  = plan{target: 0.7, discount: reservedOneYear}
	threeYears = plan{target: target, discount: reservedThreeYears}
	rarely     = plan{target: target, rare: true}
)

// provisioned returns what the month's units cost with provisioned capacity, including the
// alarms for autoscaling.
func (m month) provisioned(p plan) float64 {
	month := func(units, price float64) float64 {
		second := units / (daysAMonth * secondsDay)
		reserved := math.Floor(second*quiet/p.target/reservedBlock) * reservedBlock
		return (max(second/(p.target*shrinks), leastOfTable+leastOfIndexes) - p.discount*reserved) * price * hoursMonth
	}
	units := month(m.Units.ReadUnits, readHourPrice) + month(m.Units.WriteUnits, writeHourPrice)
	if p.rare {
		units *= rareUnits
	}
	return units + scalingPolicies*alarmsOfPolicy*alarmPrice
}

// provisionedTotal returns the whole month's bill with provisioned capacity.
func (m month) provisionedTotal(p plan) float64 {
	total := m.total() - m.Table - m.After + m.provisioned(p)
	if p.rare {
		total -= m.rareSaves()
	}
	return total
}

// rareSaves returns what Standard-IA saves on storage in a month.
func (m month) rareSaves() float64 { return m.storage * (1 - rareStoragePrice/storagePrice) }

// rarePays returns the number of years after which Standard-IA costs less, if the data
// grows evenly. adds is what the class adds to the price of a month's units.
func (m month) rarePays(adds float64) float64 { return adds / m.rareSaves() }
