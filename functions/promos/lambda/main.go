package main

import (
	"agentsocial/functions/promos"
	"agentsocial/shared/host"
	"agentsocial/shared/host/secret"
	"agentsocial/shared/host/table"
)

func main() { host.API(promos.New, table.DynamoDB, secret.Manager) }
