package main

import (
	"agentsocial/functions/mcp"
	"agentsocial/functions/toolgroups"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/mail"
	"agentsocial/shared/lambda/host/payments"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() {
	host.API(mcp.New(toolgroups.Groups()...), table.DynamoDB, secret.Manager, secret.Pepper, mail.SES, payments.StripePages(), secret.Edge)
}
