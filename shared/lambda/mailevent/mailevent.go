// Package mailevent declares functions that handle bounced and unwanted mail.
package mailevent

import (
	"context"

	"agentsocial/shared/app"
	"agentsocial/tables"
)

// Function handles events about mail that was sent.
type Function struct {
	Name string // of the folder and the function
	Doc  string

	// Handle handles an event. It may receive the same event again.
	Handle func(context.Context, Event) error

	Reads, Writes tables.Families // the families that it may read and write
}

// Needs holds the capabilities of all these functions. They need the pepper because the
// table has addresses only as keyed hashes.
const Needs = app.Table | app.Pepper

// Retries bounds the retries of an event that a function failed on or that Lambda
// did not accept.
const Retries = 2

// Event reports that a mail bounced or was reported as unwanted.
type Event struct {
	Mail       string   // id of the mail
	Reason     string   // tables.BackBounce or tables.BackComplaint
	Recipients []string // addresses as SES writes them
}
