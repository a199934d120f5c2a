package main

import (
	"agentsocial/functions/ideas"
	"agentsocial/shared/host"
	"agentsocial/shared/host/secret"
	"agentsocial/shared/host/table"
)

func main() { host.API(ideas.New, table.DynamoDB, secret.Manager) }
