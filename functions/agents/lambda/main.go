package main

import (
	"agentsocial/functions/agents"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.API(agents.New, table.DynamoDB, secret.Manager, secret.Edge) }
