package main

import (
	"agentsocial/events/erase"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/payments"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.Schedule(erase.New, table.DynamoDB, payments.StripePages()) }
