package main

import (
	"agentsocial/functions/ideas"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.API(ideas.New, table.DynamoDB, secret.Manager, secret.Edge) }
