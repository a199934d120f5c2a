package main

import (
	"agentsocial/events/inbox"
	"agentsocial/shared/host"
	"agentsocial/shared/host/table"
)

func main() { host.Stream(inbox.New, table.DynamoDB) }
