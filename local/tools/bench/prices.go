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
)
