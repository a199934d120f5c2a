package main

import (
	"agentsocial/functions/promos"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.API(promos.New, table.DynamoDB, secret.Manager, secret.Edge) }
