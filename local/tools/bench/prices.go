package bench

// Prices in US dollars, in us-east-1, without free tiers and taxes, as of pricesOf. The
// comment above a group names the AWS pages with its prices. `make golden` makes
// infra/COST.md from these prices.
const (
	pricesOf = "22 November 2026"

	// https://aws.amazon.com/dynamodb/pricing/on-demand/: Standard table class,
	// since 1 November 2024. What Lambda reads of the stream is free.
	readPrice    = 0.125 // per million read request units
	writePrice   = 0.625 // per million write request units
	storagePrice = 0.25  // per GB and month, of data and indexes
	backupPrice  = 0.20  // per GB and month, of data, for point-in-time recovery

	// https://aws.amazon.com/dynamodb/pricing/provisioned/: per unit of capacity and hour.
	readHourPrice  = 0.00013
	writeHourPrice = 0.00065

	// The same page: the discount on a unit that is reserved for one year or three, in
	// blocks of a hundred. Only capacity of the class Standard can be reserved.
	reservedOneYear    = 0.54
	reservedThreeYears = 0.77
	reservedBlock      = 100

	// The same page: the table class Standard-IA. Its backups cost the same as Standard's.
	rareStoragePrice = 0.10
	rareUnits        = 1.25 // times the price of a unit of Standard

	// https://aws.amazon.com/backup/pricing/: DynamoDB with advanced features, warm storage.
	// The transfer is from us-east-1, and is billed to the account that sends.
	backupStoragePrice  = 0.10 // per GB and month
	betweenRegionsPrice = 0.02 // per GB copied to another region
	restorePrice        = 0.15 // per GB

	// https://aws.amazon.com/lambda/pricing/, arm64.
	invocationPrice = 0.20         // per million
	gbSecondPrice   = 0.0000133334 // per GB of memory and second, by the millisecond

	// https://aws.amazon.com/api-gateway/pricing/: HTTP API, requests of up to 512 KB.
	// Throttled requests are free
	// (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-pricing.html).
	requestPrice = 1.00 // per million; see requestTiers

	// https://aws.amazon.com/cloudfront/pricing/pay-as-you-go/: from North America and
	// Europe, HTTPS. What an AWS origin sends to CloudFront is free, and so are requests
	// that the web ACL blocks. Left out: 0.02 a GB for the bodies of requests that
	// CloudFront passes on.
	edgeRequestPrice  = 1.00  // per million
	edgeFunctionPrice = 0.10  // per million calls of a CloudFront function
	edgeEgressPrice   = 0.085 // per GB to callers, of the first 10 TB; see edgeTiers

	// https://aws.amazon.com/waf/pricing/
	webACLPrice     = 5.00 // per web ACL and month
	webACLRulePrice = 1.00 // per rule of a web ACL and month
	inspectPrice    = 0.60 // per million requests, blocked or not

	// https://aws.amazon.com/ec2/pricing/on-demand/: data transfer out to the internet.
	egressPrice = 0.09 // per GB; see egressTiers

	// https://aws.amazon.com/cloudwatch/pricing/
	logPrice        = 0.50 // per GB taken in, by Lambda or by the gateway
	logStoragePrice = 0.03 // per GB and month, compressed
	metricPrice     = 0.30 // per custom metric and month, by the hours in which it has values
	alarmPrice      = 0.10 // per metric of an alarm and month
	dashboardPrice  = 3.00 // per month

	// https://aws.amazon.com/ec2/pricing/on-demand/, https://aws.amazon.com/ebs/pricing/,
	// https://aws.amazon.com/vpc/pricing/, https://aws.amazon.com/elasticloadbalancing/pricing/,
	// https://aws.amazon.com/rds/postgresql/pricing/: by the hour, for arm64 and Linux. The
	// databases are PostgreSQL in one zone. Two zones cost twice as much, storage included.
	smallServer     = 0.0168 // t4g.small: 2 processors for a fifth of the time, 2 GB
	mediumServer    = 0.0336 // t4g.medium
	largeServer     = 0.58   // c7g.4xlarge: 16 processors, 32 GB
	addressPrice    = 0.005  // a public IPv4 address
	balancerPrice   = 0.0225 // a load balancer
	balancerUnit    = 0.008  // a unit of a load balancer's use, such as a GB
	smallDatabase   = 0.016  // db.t4g.micro: 2 processors for a tenth of the time, 1 GB
	mediumDatabase  = 0.168  // db.m7g.large: 2 processors, 8 GB
	largeDatabase   = 7.648  // db.r8g.16xlarge: 64 processors, 512 GB
	diskPrice       = 0.08   // per GB of a server's disk and month
	databaseDisk    = 0.115  // per GB of a database's disk and month, in one zone
	databaseBackups = 0.095  // per GB of backups and month, beyond the size of the disk

	// https://aws.amazon.com/secrets-manager/pricing/
	secretPrice = 0.40 // per secret and month

	// https://aws.amazon.com/ses/pricing/
	mailPrice = 0.10 // per thousand mails

	// https://aws.amazon.com/eventbridge/pricing/: the scheduler.
	tickPrice = 1.00 // per million ticks
)

// tier is the price for the part of a month's amount between the previous tier's most and
// its own. The last tier has no end: its most is 0.
type tier struct{ most, price float64 }

var (
	requestTiers = []tier{{300, requestPrice}, {0, 0.90}} // by million requests
	egressTiers  = []tier{{10 * tb, egressPrice}, {50 * tb, 0.085}, {150 * tb, 0.07}, {0, 0.05}}
	edgeTiers    = []tier{{10 * tb, edgeEgressPrice}, {50 * tb, 0.08}, {150 * tb, 0.06}, {500 * tb, 0.04}, {0, 0.03}}
)

// tb is a terabyte in gigabytes.
const tb = 1024

// usd returns what a month's amount costs.
func usd(amount float64, tiers []tier) (sum float64) {
	below := 0.0
	for _, t := range tiers {
		if t.most == 0 || amount <= t.most {
			return sum + (amount-below)*t.price
		}
		sum, below = sum+(t.most-below)*t.price, t.most
	}
	return sum
}

const (
	million    = 1e6
	gb         = 1073741824.0
	daysAMonth = 30
	secondsDay = 24 * 60 * 60
	hoursMonth = 24 * daysAMonth
)
