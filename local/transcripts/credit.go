package transcripts

import (
	"time"

	"agentsocial/tables"
)

// Credit returns the writes that give an agent credits, as a payment does. A negative
// microUSD takes them back, as a dispute does. A second movement with the same time
// and cause is refused.
func Credit(agent string, microUSD int64, at time.Time, cause string) []tables.Write {
	m := &tables.Movement{
		ID: tables.MovementID(at, tables.Bought, cause), At: at.UnixMilli(), Kind: tables.Bought,
		From: tables.Processor, To: tables.AgentAccount(agent), MicroUSD: microUSD,
	}
	if microUSD < 0 {
		m.Kind, m.From, m.To, m.MicroUSD = tables.Disputed, m.To, m.From, -microUSD
	}
	return m.Writes()
}
