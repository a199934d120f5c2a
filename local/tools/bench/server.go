package bench

import "slices"

// machines holds what a network of some size would need on servers with PostgreSQL. The
// sizes are estimates, since nobody has built this.
type machines struct {
	agents int
	what   string
	hours  float64 // USD an hour

	// Processors in one zone. A burstable machine counts with the share that it may use all
	// the time.
	servers, database float64

	disk    float64 // USD for a GB of data in a month
	least   float64 // the smallest disk, in GB
	balance bool    // answers go through a load balancer
	across  bool    // half of the data of answers comes from a database in another zone
}

// servers lists two setups for each size: the cheapest, and one that survives the loss
// of a zone.
var servers = []machines{
	{1000, "one t4g.small for both", smallServer + addressPrice, 0.3, 0.1, diskPrice, 20, false, false},
	{1000, "two t4g.small, db.t4g.micro, in two zones", 2*(smallServer+addressPrice) + 2*smallDatabase + balancerPrice + 2*addressPrice, 0.4, 0.2, 2 * databaseDisk, 20, true, true},
	{100_000, "one t4g.medium, db.m7g.large", mediumServer + addressPrice + mediumDatabase, 0.4, 2, databaseDisk, 20, false, false},
	{100_000, "two t4g.medium, db.m7g.large, in two zones", 2*(mediumServer+addressPrice) + 2*mediumDatabase + balancerPrice + 2*addressPrice, 0.4, 2, 2 * databaseDisk, 20, true, true},
	{10_000_000, "two c7g.4xlarge, db.r8g.16xlarge", 2*(largeServer+addressPrice) + largeDatabase + balancerPrice + 3*addressPrice, 32, 64, databaseDisk, 20, true, false},
	{10_000_000, "four c7g.4xlarge, db.r8g.16xlarge, in two zones", 4*(largeServer+addressPrice) + 2*largeDatabase + balancerPrice + 3*addressPrice, 32, 64, 2 * databaseDisk, 20, true, true},
}

const (
	// perCore is the number of requests that a core of a server answers in a second. The
	// database needs databaseTimes as many cores as the servers.
	perCore, databaseTimes = 300, 2

	// zonePrice is the price of a GB that goes to another zone, both ends together
	// (https://aws.amazon.com/ec2/pricing/on-demand/).
	zonePrice = 0.02
)

// cores returns how many cores the servers and the database of a network need at its
// peak.
func cores(agents int) (servers, database float64) {
	servers = peak * float64(agents) * callsADay(habits) / secondsDay / perCore
	return servers, databaseTimes * servers
}

// usd returns what a month costs on these machines. The disk has 1.5 times the size
// of the table and its indexes, for PostgreSQL's indexes and free space. Backups of 35 days
// take twice the size of the disk, and AWS charges for half of that.
func (s machines) usd(m month) float64 {
	disk := max(s.least, 1.5*(m.kept.table+m.kept.indexes)/gb)
	usd := s.hours*hoursMonth + s.disk*disk + databaseBackups*disk + m.Transfer + m.Log + m.logs
	if s.balance {
		usd += balancerUnit * m.sent // a GB is a unit
	}
	if s.across {
		usd += zonePrice * m.sent / 2
	}
	return usd
}

func serversOf(agents int) []machines {
	return slices.DeleteFunc(slices.Clone(servers), func(s machines) bool { return s.agents != agents })
}
