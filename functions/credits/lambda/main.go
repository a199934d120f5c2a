package main

import (
	"agentsocial/functions/credits"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/payments"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.API(credits.New, table.DynamoDB, secret.Manager, payments.Stripe(), secret.Edge) }
