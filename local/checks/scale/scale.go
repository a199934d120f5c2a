// Package scale puts the whole service under the load of a large network, on one
// machine and without an AWS account: the real functions and readers of the stream, the
// real client of DynamoDB with its retries, and behind it the embedded table with a model
// of DynamoDB's and Lambda's limits, all in virtual time. `make scale SCENARIO=votes`.
//
// # What is modelled
//
// DynamoDB, by its developer guide (DDB below) and API reference (API):
//
//   - A key range of the table or of an index serves 1 000 write units and 3 000 read
//     units in a second, and refuses what comes after
//     (DDB/throttling-key-range-limit-exceeded-mitigation.html,
//     DDB/warm-throughput-scenarios.html). An index that is full refuses writes of the
//     table (DDB/gsi-throttling.html).
//   - A range that has refused calls for five minutes is split in the middle of its load,
//     unless all the load is on one item. AWS names no time; it writes of minutes
//     (aws.amazon.com/blogs/database, "Scaling DynamoDB: How partitions, hot keys, and
//     split for heat impact performance", parts 2 and 3). The growing end of a sorted
//     collection stays in one half, so a split does not help it.
//   - A transaction costs double. A write is refused while a transaction with the same
//     item is under way (DDB/transaction-apis.html, "Transaction conflict handling"). The
//     model leaves out what a refused attempt costs. A batched read is refused only if
//     all of its keys are; otherwise the answer names the refused keys
//     (API/API_BatchGetItem.html).
//
// Lambda and the HTTP API, by their developer guides (LAMBDA, GATEWAY):
//
//   - The stream has a shard for each key range of the table (DDB/Streams.html). Lambda
//     polls a shard four times a second, gathers batches and halves those that fail. It
//     runs one to ten batches of a shard at once, and keeps the order of each item's
//     records (LAMBDA/with-ddb.html, LAMBDA/services-ddb-params.html,
//     LAMBDA/services-ddb-batchfailurereporting.html).
//   - At most 1 000 executions run at once, one request in each process
//     (LAMBDA/lambda-concurrency.html). A new process takes 150 ms, an assumption.
//   - The gateway admits 10 000 requests a second (GATEWAY/limits.html), and 5 000 at once.
//
// Times are assumed: a trip to the table takes 3 ms for a read of an item, 4 for a batch or
// a query, 5 for a write and 10 for a transaction, times 0.7 + 0.3 E, where E is
// exponential with mean one. So p99 is about twice the mean. A refusal takes 2 ms. An
// invocation takes 3 ms besides its trips. (infra/COST.md assumes 5 ms for each trip.) The
// pauses between the ten tries of a failing record begin at 0.2 s and double up to 10 s;
// AWS names no time.
//
// # What is not modelled
//
//   - The whole table's and the account's limits, and how an on-demand table grows: each
//     scenario begins with as many ranges as a table of its size would have.
//   - Burst and adaptive capacity: a range serves its limit in each second and no more,
//     because AWS promises no more.
//   - Network failures and lost answers (make simulate has those).
//   - Lambda's rate of scaling (1 000 more executions of a function in ten seconds,
//     LAMBDA/scaling-behavior.html).
//   - Storage, egress and logs in the cost.
//   - Separate memory: on AWS each process has its own copy of what [app.App] points to,
//     but here all processes share one. Only the [retry.Table], which bounds retries, is
//     separate for each process.
//   - Followers beyond the simulated agents: a slice's lists of followers are short.
//
// # Slices
//
// A large network is simulated as a slice: one in k of its agents with their neighbours,
// and one in k of the table's ranges. A range and a shard then have the same load as in
// the whole network. A key that all agents share ([Growing]) would have only a k-th of its
// load, so each of its units counts k times. Conflicts on such keys are those of the
// slice, which has fewer shards and readers. The printed report says what was simulated.
package scale

import (
	"math"
	"time"
)

// Limits are the limits of AWS that the model keeps.
type Limits struct {
	Writes, Reads float64       // units of a key range in a second
	SplitAfter    time.Duration // how long a range refuses calls before it is split
	Executions    int           // of all functions together at one time
	Parallel      int           // batches of a shard at one time, as infra sets it
}

// AWS are the limits of an account whose concurrency is the usual 1 000.
var AWS = Limits{Writes: 1000, Reads: 3000, SplitAfter: 5 * time.Minute, Executions: 1000, Parallel: 1}

// What a call takes in virtual time.
const (
	getTrip      = 3 * time.Millisecond
	batchTrip    = 4 * time.Millisecond
	queryTrip    = 4 * time.Millisecond
	writeTrip    = 5 * time.Millisecond
	transactTrip = 10 * time.Millisecond
	refusedTrip  = 2 * time.Millisecond

	ownTime   = 3 * time.Millisecond // an invocation takes this besides its trips
	coldStart = 150 * time.Millisecond
)

// stretched makes a time of the model longer or shorter by chance; x is a random number
// from 0 to 1.
func stretched(d time.Duration, x float64) time.Duration {
	return time.Duration(float64(d) * (0.7 - 0.3*math.Log1p(-x)))
}
