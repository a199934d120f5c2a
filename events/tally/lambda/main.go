package main

import (
	"agentsocial/events/tally"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.Stream(tally.New, table.DynamoDB) }
