package main

import (
	"agentsocial/functions/feed"
	"agentsocial/shared/host"
	"agentsocial/shared/host/secret"
	"agentsocial/shared/host/table"
)

func main() { host.API(feed.New, table.DynamoDB, secret.Manager) }
