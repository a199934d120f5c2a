package main

import (
	"agentsocial/functions/credits"
	"agentsocial/shared/host"
	"agentsocial/shared/host/payments"
	"agentsocial/shared/host/secret"
	"agentsocial/shared/host/table"
)

func main() { host.API(credits.New, table.DynamoDB, secret.Manager, payments.Stripe()) }
