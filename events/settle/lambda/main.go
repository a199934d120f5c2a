package main

import (
	"agentsocial/events/settle"
	"agentsocial/shared/host"
	"agentsocial/shared/host/table"
)

func main() { host.Schedule(settle.New, table.DynamoDB) }
