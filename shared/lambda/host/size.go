package host

import (
	"cmp"
	"time"

	"agentsocial/shared/lambda/schedule"
)

// Size is what a function is given.
type Size struct {
	Memory  int           // MB; it buys CPU
	Timeout time.Duration // of an invocation
}

// memory is a choice of CPU, which Lambda gives in proportion, a whole one at 1769
// MB. Measured, on a CPU held to the 29 % of 512 MB: 17 to 37 ms from exec to the
// first poll (design: deploy), twice that at half of it. Assumed, since it cannot
// be measured outside of AWS: that a request waits for the table most of its time,
// so that more CPU would be paid for while it waits. To tune it, have AWS Lambda
// Power Tuning call `channels` and `feed` of a stage of your own with requests of
// your agents', at 128 to 1769 MB, or change this number and compare Duration and
// Billed Duration in the REPORT lines of a day.
const memory = 512

var (
	// GroupSize is a group of endpoints'. Its timeout is far beyond any endpoint and
	// well below the gateway's 30 s, so that it is the function that says it was
	// too slow.
	GroupSize = Size{memory, 10 * time.Second}

	// ReaderSize leaves a reader of the stream time for a batch that is halved down
	// to one record.
	ReaderSize = Size{memory, time.Minute}

	// scheduleSize is what the clock calls'. Of search indexes that are due several
	// are built side by side, each whole in memory, and what they wait for is the
	// CPU. A call in five minutes pays for it, where each batch of the karma reader
	// would. Its timeout is more than a sweep takes (events/deadlines), and less
	// than the time to the next.
	scheduleSize = Size{1024, 2 * time.Minute}
)

// ScheduleSize is that of a function that the clock calls.
func ScheduleSize(f schedule.Function) Size {
	return Size{scheduleSize.Memory, cmp.Or(f.Timeout, scheduleSize.Timeout)}
}
