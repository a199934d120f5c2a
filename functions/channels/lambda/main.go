package main

import (
	"agentsocial/functions/channels"
	"agentsocial/shared/host"
	"agentsocial/shared/host/secret"
	"agentsocial/shared/host/table"
)

func main() { host.API(channels.New, table.DynamoDB, secret.Manager) }
