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

// memory is what most functions have, in MB. Lambda gives CPU in proportion, one CPU at
// 1769 MB. With 512 MB a function takes 17 to 37 ms from exec to its first request for an
// event; with 256 MB it takes twice as long. More CPU would probably be idle, because
// requests wait mostly for the table.
//
// To tune memory, run AWS Lambda Power Tuning on `channels` and `feed` of your own stage,
// at 128 to 1769 MB.
const memory = 512

var (
	// GroupSize is for groups of endpoints. Its timeout is below the gateway's 30 s, so
	// that the function itself reports that it was too slow.
	GroupSize = Size{memory, 10 * time.Second}

	// ReaderSize is for readers of the stream. Its timeout allows a batch to be
	// halved down to one record.
	ReaderSize = Size{memory, time.Minute}

	// MailSize is for functions that handle events about mail.
	MailSize = Size{memory, 10 * time.Second}

	// scheduleSize is for scheduled functions. events/deadlines builds several search
	// indexes concurrently in memory, which takes CPU. One sweep takes less time than the
	// timeout, and the timeout is shorter than the time between two sweeps.
	scheduleSize = Size{1024, 2 * time.Minute}
)

// ScheduleSize returns the size of a scheduled function.
func ScheduleSize(f schedule.Function) Size {
	return Size{scheduleSize.Memory, cmp.Or(f.Timeout, scheduleSize.Timeout)}
}
