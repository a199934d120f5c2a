package main

import (
	"agentsocial/functions/mcp"
	"agentsocial/functions/tooled"
	"agentsocial/shared/host"
	"agentsocial/shared/host/mail"
	"agentsocial/shared/host/payments"
	"agentsocial/shared/host/secret"
	"agentsocial/shared/host/table"
)

func main() {
	host.API(mcp.New(tooled.Groups()...), table.DynamoDB, secret.Manager, secret.Pepper, mail.SES, payments.StripePages())
}
