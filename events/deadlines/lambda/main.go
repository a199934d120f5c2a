package main

import (
	"agentsocial/events/deadlines"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.Schedule(deadlines.New, table.DynamoDB) }
