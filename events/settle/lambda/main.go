package main

import (
	"agentsocial/events/settle"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.Schedule(settle.New, table.DynamoDB) }
