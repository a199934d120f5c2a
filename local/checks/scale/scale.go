// Package scale puts the whole service under the load of a large network, on one machine
// and in virtual time: `make scale SCENARIO=votes`. The functions, the readers of the stream
// and the client of DynamoDB are real. The embedded table has a model of AWS's limits.
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
//     unless all the load is on one item. AWS only says that it takes minutes
//     (aws.amazon.com/blogs/database, "Scaling DynamoDB: How partitions, hot keys, and
//     split for heat impact performance", parts 2 and 3).
//   - A transaction costs double. A write is refused while a transaction with the same
//     item is under way (DDB/transaction-apis.html, "Transaction conflict handling").
//   - A batched read is refused only if all of its keys are. Otherwise the answer names the
//     refused keys (API/API_BatchGetItem.html).
//
// Lambda and the HTTP API, by their developer guides (LAMBDA, GATEWAY):
//
//   - The stream has a shard for each key range of the table (DDB/Streams.html). Lambda
//     polls a shard four times a second, and halves batches that fail. It runs one to ten
//     batches of a shard at once, and keeps the order of each item's records
//     (LAMBDA/with-ddb.html, LAMBDA/services-ddb-params.html,
//     LAMBDA/services-ddb-batchfailurereporting.html).
//   - At most 1 000 executions run at once, one request in each process
//     (LAMBDA/lambda-concurrency.html). A new process takes 150 ms, an assumption.
//   - The gateway admits 10 000 requests a second (GATEWAY/limits.html), and 5 000 at once.
//
// The times of calls are assumed. They vary by a factor of 0.7 + 0.3 E, where E is
// exponential with mean one, so p99 is about twice the mean. The pauses between the tries of
// a failing record are assumed, too: AWS names no time.
//
// # What is not modelled
//
//   - The whole table's and the account's limits, and how an on-demand table grows: each
//     scenario begins with as many ranges as a table of its size would have.
//   - Burst and adaptive capacity, which AWS does not promise.
//   - The cost of a refused attempt.
//   - Network failures and lost answers (make simulate has those).
//   - Lambda's rate of scaling (1 000 more executions of a function in ten seconds,
//     LAMBDA/scaling-behavior.html).
//   - Storage, egress and logs in the cost.
//   - Separate memory: here all processes share what [app.App] points to, except the
//     [retry.Table], which bounds retries, and a function's memory of public reads.
//   - Followers beyond the simulated agents: a slice's lists of followers are short.
//
// # Slices
//
// A large network is simulated as a slice: one in k of its agents with their neighbours,
// and one in k of the table's ranges. A range then has the same load as in the whole
// network. A key that all agents share ([Growing]) would have only a k-th of its load, so
// each of its units counts k times. The slice has fewer conflicts on these keys, because it
// has fewer shards and readers.
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

// Mean times of calls. infra/COST.md assumes 5 ms for each trip to the table.
const (
	getTrip      = 3 * time.Millisecond
	batchTrip    = 4 * time.Millisecond
	queryTrip    = 4 * time.Millisecond
	writeTrip    = 5 * time.Millisecond
	transactTrip = 10 * time.Millisecond
	refusedTrip  = 2 * time.Millisecond

	ownTime   = 3 * time.Millisecond // an invocation without its trips
	coldStart = 150 * time.Millisecond
)

// stretched varies a mean time by x, a random number from 0 to 1.
func stretched(d time.Duration, x float64) time.Duration {
	return time.Duration(float64(d) * (0.7 - 0.3*math.Log1p(-x)))
}
