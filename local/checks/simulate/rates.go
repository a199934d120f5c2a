package simulate

import "time"

// Rates has the chances of faults, each between 0 and 1, and a bound for fast clocks.
type Rates struct {
	// Of a call of the table.
	Unreachable float64 // the call fails, and nothing was done
	Throttled   float64
	Conflict    float64
	LostRequest float64 // the outcome is unknown; the commit was not made
	LostAnswer  float64 // the outcome is unknown; the commit was made
	Stale       float64 // an eventually consistent read is some milliseconds old
	Killed      float64 // the process dies before the call
	KilledAfter float64 // the process dies after a commit
	Late        float64 // the call takes some milliseconds
	Stuck       float64 // the call takes up to three seconds

	// Of a batch of the stream.
	Redeliver, Shuffle, Split float64
	Stall                     float64 // the reader stops for some minutes

	// Of a schedule.
	Overdue float64 // it is called some minutes late
	Doubled float64 // it is called twice at once
	Cut     float64 // its time is up early

	// Of mail and payments.
	MailRefused, MailUnknown, MailSlow         float64
	PayRefused, PayUnknown, PaySlow            float64
	NoticeTwice, NoticeShuffled, NoticeDelayed float64

	// Of a caller.
	Deaf  float64 // an answer is lost, and the request is sent again
	Later float64 // a signed request is sent once more, minutes later
	Race  float64 // a step has several requests at once

	Ahead time.Duration // the most that a process's clock is ahead
}

// Usual has the rates of `make simulate`. They are far above those on AWS.
var Usual = Rates{
	Unreachable: .001, Throttled: .004, Conflict: .008, LostRequest: .002, LostAnswer: .004, Stale: .1, Killed: .0004, KilledAfter: .001,
	Late: .2, Stuck: .001,
	Redeliver: .1, Shuffle: .3, Split: .3, Stall: .02,
	Overdue: .05, Doubled: .03, Cut: .03,
	MailRefused: .03, MailUnknown: .03, MailSlow: .05,
	PayRefused: .05, PayUnknown: .05, PaySlow: .05, NoticeTwice: .2, NoticeShuffled: .3, NoticeDelayed: .2,
	Deaf: .04, Later: .02, Race: .25,
	Ahead: 900 * time.Millisecond,
}
