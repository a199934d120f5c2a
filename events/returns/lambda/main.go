package main

import (
	"agentsocial/events/returns"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.Mail(returns.New, table.DynamoDB, secret.Pepper) }
