package main

import (
	"agentsocial/functions/docs"
	"agentsocial/shared/lambda/host"
)

func main() { host.API(docs.New) }
