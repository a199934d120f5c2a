// Package events lists what no caller starts: the readers of the table's
// stream. It is the only such list: infra and local read it.
package events

import (
	"agentsocial/events/inbox"
	"agentsocial/events/karma"
	"agentsocial/shared/app"
	"agentsocial/shared/stream"
)

// All readers of the stream, each from its dependencies. A zero App is enough
// to list what a reader declares. A stream shard bears two readers, no more.
func All() []func(*app.App) stream.Function {
	return []func(*app.App) stream.Function{inbox.New, karma.New}
}
