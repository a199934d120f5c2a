// Package schedule declares functions that run on a schedule, and helps them to process
// what is due.
package schedule

import (
	"context"
	"time"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

// Function runs on a schedule.
type Function struct {
	Name  string // of the folder and the function
	Doc   string
	Every time.Duration // whole minutes

	// Timeout bounds one call; 0 for the default.
	Timeout time.Duration

	// Outside is true for a function that checks the service from outside, without the
	// table. Repeating a failed call later would be useless, so the call leaves no dead
	// letter.
	Outside bool

	// Handle does the work that is due. What does not fit into a [Sweep]'s time
	// stays due. Calls may overlap.
	Handle func(context.Context) error

	Reads, Writes tables.Families  // the families that it may read and write
	Needs         app.Capabilities // besides the table
}

// Capabilities returns everything that the function needs.
func (f Function) Capabilities() app.Capabilities {
	if f.Outside {
		return f.Needs
	}
	return app.Table | f.Needs
}
