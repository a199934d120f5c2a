package bench

// What the table costs with provisioned capacity (setting capacity).
const (
	// used is how much of provisioned capacity is used on average: autoscaling keeps
	// capacityTarget percent (60) in use where it follows, and shrinks later than the load.
	used = 0.5

	// The least capacities, as they are set: of the table, and of each of the three indexes.
	leastOfTable, leastOfIndexes = 25, 3 * 5

	// scalingPolicies for reads and writes of the table and of three indexes have four
	// alarms each.
	scalingPolicies, alarmsOfPolicy = 8, 4
)

// provisioned returns what the month's units cost with provisioned capacity.
func (m month) provisioned() float64 {
	// Reads and writes have the same ratio of prices both ways.
	const perHour = readHourPrice * 1e6 / 3600 / readPrice // of what a unit costs on demand
	least := hoursMonth * (leastOfTable + leastOfIndexes) * (readHourPrice + writeHourPrice)
	return max((m.Table+m.After)*perHour/used, least) + scalingPolicies*alarmsOfPolicy*alarmPrice
}

// provisionedTotal returns the whole month's bill with provisioned capacity.
func (m month) provisionedTotal() float64 { return m.total() - m.Table - m.After + m.provisioned() }
