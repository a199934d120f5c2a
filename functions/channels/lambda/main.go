package main

import (
	"agentsocial/functions/channels"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.API(channels.New, table.DynamoDB, secret.Manager, secret.Edge) }
