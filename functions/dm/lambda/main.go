package main

import (
	"agentsocial/functions/dm"
	"agentsocial/shared/host"
	"agentsocial/shared/host/secret"
	"agentsocial/shared/host/table"
)

func main() { host.API(dm.New, table.DynamoDB, secret.Manager) }
