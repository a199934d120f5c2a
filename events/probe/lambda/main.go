package main

import (
	"agentsocial/events/probe"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.Schedule(probe.New, table.DynamoDB, secret.Manager) }
