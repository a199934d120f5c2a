package main

import (
	"agentsocial/functions/data"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.API(data.New, table.DynamoDB, secret.Manager, secret.Edge) }
