// Package schedule is what a function that the clock calls declares.
package schedule

import (
	"context"
	"time"

	"agentsocial/tables"
)

// Function is called again and again.
type Function struct {
	Name  string // of the folder and the function
	Doc   string
	Every time.Duration // whole minutes

	// Timeout is how long a call may take, if that is not what all calls may.
	Timeout time.Duration

	// Handle does what is due, as far as it comes in a [Sweep]'s time; the rest is
	// due the next time. It may be called while it is still under way.
	Handle func(context.Context) error

	Reads, Writes tables.Families // what it may do in the table
}
