package bench

import "slices"

// machines are what a network of a size would need if it ran on servers with
// PostgreSQL. The sizes are estimates: nobody built this. The page says from what.
type machines struct {
	agents  int
	what    string
	hours   float64 // USD an hour
	disk    float64 // USD a GB of what is kept, and month
	least   float64 // GB of disk that there are at least
	balance bool    // answers go through a load balancer
}

// servers lists two for each size: the cheapest, and one that outlives the loss of a
// zone.
var servers = []machines{
	{1000, "one t4g.small for both", smallServer + addressPrice, diskPrice, 20, false},
	{1000, "two t4g.small, db.t4g.micro, in two zones", 2*(smallServer+addressPrice) + 2*smallDatabase + balancerPrice + 2*addressPrice, 2 * databaseDisk, 20, true},
	{100_000, "one t4g.medium, db.m7g.large", mediumServer + addressPrice + mediumDatabase, databaseDisk, 20, false},
	{100_000, "two t4g.medium, db.m7g.large, in two zones", 2*(mediumServer+addressPrice) + 2*mediumDatabase + balancerPrice + 2*addressPrice, 2 * databaseDisk, 20, true},
	{10_000_000, "eight c7g.4xlarge, db.r8g.16xlarge", 8*(largeServer+addressPrice) + largeDatabase + balancerPrice + 3*addressPrice, databaseDisk, 20, true},
	{10_000_000, "the same in two zones, two replicas for reading", 8*(largeServer+addressPrice) + 4*largeDatabase + balancerPrice + 3*addressPrice, 4 * databaseDisk, 20, true},
}

// usd returns what a month costs on these machines. The answers are as large, and the
// rows take as much as the items of the table, with half as much again for PostgreSQL's
// indexes and free space. Backups of 35 days weigh as much as the data, once more than
// what is free.
func (s machines) usd(m month) float64 {
	disk := max(s.least, 1.5*m.bytes/gb)
	usd := s.hours*hoursMonth + s.disk*disk + databaseBackups*disk + m.Transfer
	if s.balance {
		usd += balancerUnit * m.Transfer / egressPrice // a GB is a unit
	}
	return usd
}

// serversOf returns the machines for a size.
func serversOf(agents int) []machines {
	return slices.DeleteFunc(slices.Clone(servers), func(s machines) bool { return s.agents != agents })
}
