package main

import (
	"agentsocial/functions/oauth"
	"agentsocial/shared/host"
	"agentsocial/shared/host/fetch"
	"agentsocial/shared/host/mail"
	"agentsocial/shared/host/secret"
	"agentsocial/shared/host/table"
)

func main() {
	host.API(oauth.New, table.DynamoDB, secret.Manager, secret.Pepper, mail.SES, fetch.Public)
}
