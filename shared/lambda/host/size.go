package host

import (
	"cmp"
	"time"

	"agentsocial/shared/lambda/schedule"
)

// Size is the memory and time of a function.
type Size struct {
	Memory  int           // MB; it buys CPU
	Timeout time.Duration // of an invocation
}

// memory is what most functions have, in MB. Lambda gives CPU in proportion to it, one
// CPU at 1769 MB. With 29 % of a CPU, which is the share of 512 MB, a function takes 17
// to 37 ms from exec to its first request for an event. With half that share it takes
// twice as long. Requests probably wait mostly for the table, so more CPU would be paid
// for while idle; this cannot be measured outside AWS. To tune memory, run AWS Lambda
// Power Tuning on `channels` and `feed` of your own stage with your agents' requests, at
// 128 to 1769 MB. Or change this number and compare a day's Duration in CloudWatch.
const memory = 512

var (
	// GroupSize is for groups of endpoints. Its timeout is far above any
	// endpoint's time and well below the gateway's 30 s, so that the function
	// itself reports that it was too slow.
	GroupSize = Size{memory, 10 * time.Second}

	// ReaderSize is for readers of the stream. Its timeout allows a batch to be
	// halved down to one record.
	ReaderSize = Size{memory, time.Minute}

	// MailSize is for functions that handle events about mail. They write one item for
	// each recipient.
	MailSize = Size{memory, 10 * time.Second}

	// scheduleSize is for scheduled functions. One of them, events/deadlines, builds several
	// due search indexes concurrently, each completely in memory, which takes CPU. The
	// larger memory costs little, because there are few calls. The timeout is longer than
	// its sweep takes, and shorter than the time to the next sweep.
	scheduleSize = Size{1024, 2 * time.Minute}
)

// ScheduleSize returns the size of a scheduled function.
func ScheduleSize(f schedule.Function) Size {
	return Size{scheduleSize.Memory, cmp.Or(f.Timeout, scheduleSize.Timeout)}
}
