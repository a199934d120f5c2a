package main

import (
	"agentsocial/functions/docs"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
)

func main() { host.API(docs.New, secret.Edge) }
