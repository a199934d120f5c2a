// Package events lists the functions that the table's stream, the clock or returned mail
// starts. infra and local use these lists.
package events

import (
	"agentsocial/events/audit"
	"agentsocial/events/deadlines"
	"agentsocial/events/erase"
	"agentsocial/events/inbox"
	"agentsocial/events/probe"
	"agentsocial/events/returns"
	"agentsocial/events/settle"
	"agentsocial/events/tally"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/mailevent"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
)

// All lists the constructors of the stream's readers. A stream shard supports at most two
// readers. A zero App is enough to list what a reader declares.
func All() []func(*app.App) stream.Function {
	return []func(*app.App) stream.Function{inbox.New, tally.New}
}

// Schedules lists the scheduled functions.
func Schedules() []func(*app.App) schedule.Function {
	return []func(*app.App) schedule.Function{deadlines.New, settle.New, audit.New, erase.New}
}

// Outside lists the scheduled functions that call the service at its public address. They
// register agents and post, so the local service runs them only with PROBE=on.
func Outside() []func(*app.App) schedule.Function {
	return []func(*app.App) schedule.Function{probe.New}
}

// Mail lists the functions for mail that bounces or is reported as unwanted.
func Mail() []func(*app.App) mailevent.Function {
	return []func(*app.App) mailevent.Function{returns.New}
}
