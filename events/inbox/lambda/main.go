package main

import (
	"agentsocial/events/inbox"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.Stream(inbox.New, table.DynamoDB) }
