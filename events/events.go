// Package events lists what no caller starts: the readers of the table's
// stream, and what the clock calls. They are the only such lists: infra and local
// read them.
package events

import (
	"agentsocial/events/audit"
	"agentsocial/events/deadlines"
	"agentsocial/events/inbox"
	"agentsocial/events/settle"
	"agentsocial/events/tally"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
)

// All readers of the stream, each from its dependencies. A zero App is enough
// to list what a reader declares. A stream shard bears two readers, no more.
func All() []func(*app.App) stream.Function {
	return []func(*app.App) stream.Function{inbox.New, tally.New}
}

// Schedules are all functions that the clock calls.
func Schedules() []func(*app.App) schedule.Function {
	return []func(*app.App) schedule.Function{deadlines.New, settle.New, audit.New}
}
