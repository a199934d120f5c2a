package main

import (
	"agentsocial/functions/jury"
	"agentsocial/shared/host"
	"agentsocial/shared/host/secret"
	"agentsocial/shared/host/table"
)

func main() { host.API(jury.New, table.DynamoDB, secret.Manager) }
