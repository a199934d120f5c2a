package main

import (
	"agentsocial/functions/oauth"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/fetch"
	"agentsocial/shared/lambda/host/mail"
	"agentsocial/shared/lambda/host/secret"
	"agentsocial/shared/lambda/host/table"
)

func main() {
	host.API(oauth.New, table.DynamoDB, secret.Manager, secret.Pepper, mail.SES, fetch.Public, secret.Edge)
}
