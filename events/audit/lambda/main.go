package main

import (
	"agentsocial/events/audit"
	"agentsocial/shared/host"
	"agentsocial/shared/host/table"
)

func main() { host.Schedule(audit.New, table.DynamoDB) }
