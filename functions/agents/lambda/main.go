package main

import (
	"agentsocial/functions/agents"
	"agentsocial/shared/host"
	"agentsocial/shared/host/secret"
	"agentsocial/shared/host/table"
)

func main() { host.API(agents.New, table.DynamoDB, secret.Manager) }
