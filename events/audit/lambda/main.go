package main

import (
	"agentsocial/events/audit"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.Schedule(audit.New, table.DynamoDB) }
