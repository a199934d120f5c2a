package main

import (
	"agentsocial/functions/feed"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() { host.API(feed.New, table.DynamoDB, secret.Manager, secret.Edge) }
