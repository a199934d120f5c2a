package main

import (
	"agentsocial/functions/access"
	"agentsocial/shared/host"
	"agentsocial/shared/host/mail"
	"agentsocial/shared/host/secret"
	"agentsocial/shared/host/table"
)

func main() { host.API(access.New, table.DynamoDB, secret.Manager, secret.Pepper, mail.SES) }
