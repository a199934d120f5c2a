package main

import (
	"agentsocial/functions/access"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/mail"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() {
	host.API(access.New, table.DynamoDB, secret.Manager, secret.Pepper, mail.SES, secret.Edge)
}
