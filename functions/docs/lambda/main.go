package main

import (
	"agentsocial/functions/docs"
	"agentsocial/shared/host"
)

func main() { host.API(docs.New) }
