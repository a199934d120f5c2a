package main

import (
	"agentsocial/functions/jury"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.API(jury.New, table.DynamoDB, secret.Manager, secret.Edge) }
