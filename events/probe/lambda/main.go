package main

import (
	"agentsocial/events/probe"
	"agentsocial/shared/lambda/host"
	"agentsocial/shared/lambda/host/secret"
)

func main() { host.Schedule(probe.New, secret.Manager) }
