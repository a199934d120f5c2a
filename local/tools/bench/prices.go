package bench

// Prices in US dollars, us-east-1, without free tiers, taxes and discounts by
// volume, as they were known on the date below. Beside each stands AWS's page that
// decides: look there before you rely on one, and then change the date. `make golden`
// writes the page that is made of them, infra/COST.md.
const (
	pricesOf = "22 November 2026"

	// https://aws.amazon.com/dynamodb/pricing/on-demand/: Standard table class,
	// since 1 November 2024. What Lambda reads of the stream is free.
	readPrice    = 0.125 // a million read request units
	writePrice   = 0.625 // a million write request units
	storagePrice = 0.25  // a GB of data and indexes and month
	backupPrice  = 0.20  // the same, for point-in-time recovery

	// https://aws.amazon.com/dynamodb/pricing/provisioned/: a unit of capacity and hour.
	readHourPrice  = 0.00013
	writeHourPrice = 0.00065

	// https://aws.amazon.com/lambda/pricing/, arm64.
	invocationPrice = 0.20         // a million
	gbSecondPrice   = 0.0000133334 // a GB of memory and second, by the millisecond

	// https://aws.amazon.com/api-gateway/pricing/: HTTP API, requests of up to
	// 512 KB. What the gateway throttles it does not charge for
	// (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-pricing.html).
	requestPrice = 1.00 // a million

	// https://aws.amazon.com/ec2/pricing/on-demand/: data transfer out to the internet.
	egressPrice = 0.09 // a GB

	// https://aws.amazon.com/cloudwatch/pricing/
	logPrice        = 0.50 // a GB taken in, by Lambda or by the gateway
	logStoragePrice = 0.03 // a GB and month, compressed
	metricPrice     = 0.30 // a custom metric and month, by the hours in which it has values
	alarmPrice      = 0.10 // a metric of an alarm and month
	dashboardPrice  = 3.00 // a month

	// https://aws.amazon.com/ec2/pricing/on-demand/, https://aws.amazon.com/ebs/pricing/,
	// https://aws.amazon.com/vpc/pricing/, https://aws.amazon.com/elasticloadbalancing/pricing/,
	// https://aws.amazon.com/rds/postgresql/pricing/: by the hour, arm64, Linux, and of
	// PostgreSQL in one zone. Two zones cost twice as much, storage included.
	smallServer     = 0.0168 // t4g.small: 2 processors for a fifth of the time, 2 GB
	mediumServer    = 0.0336 // t4g.medium
	largeServer     = 0.58   // c7g.4xlarge: 16 processors, 32 GB
	addressPrice    = 0.005  // a public IPv4 address
	balancerPrice   = 0.0225 // a load balancer
	balancerUnit    = 0.008  // and a unit of its use, such as a GB
	smallDatabase   = 0.016  // db.t4g.micro: 2 processors for a tenth of the time, 1 GB
	mediumDatabase  = 0.168  // db.m7g.large: 2 processors, 8 GB
	largeDatabase   = 7.648  // db.r8g.16xlarge: 64 processors, 512 GB
	diskPrice       = 0.08   // a GB of a server's disk and month
	databaseDisk    = 0.115  // the same of a database in one zone
	databaseBackups = 0.095  // a GB of backups and month, beyond the size of the disk

	// https://aws.amazon.com/secrets-manager/pricing/
	secretPrice = 0.40 // a secret and month

	// https://aws.amazon.com/ses/pricing/
	mailPrice = 0.10 // a thousand mails

	// https://aws.amazon.com/eventbridge/pricing/: the scheduler.
	tickPrice = 1.00 // a million ticks
)

const (
	million    = 1e6
	gb         = 1073741824.0
	daysAMonth = 30
	secondsDay = 24 * 60 * 60
	hoursMonth = 24 * daysAMonth
)
