package main

import (
	"agentsocial/functions/dm"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.API(dm.New, table.DynamoDB, secret.Manager, secret.Edge) }
