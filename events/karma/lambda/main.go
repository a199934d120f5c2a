package main

import (
	"agentsocial/events/karma"
	"agentsocial/shared/host"
	"agentsocial/shared/host/table"
)

func main() { host.Stream(karma.New, table.DynamoDB) }
