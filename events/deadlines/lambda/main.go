package main

import (
	"agentsocial/events/deadlines"
	"agentsocial/shared/host"
	"agentsocial/shared/host/table"
)

func main() { host.Schedule(deadlines.New, table.DynamoDB) }
