// Command hello is a Lambda function as in AWS's documentation, with the SDK's config
// package. `make weigh` compares the service's functions with it.
package main

import (
	"context"
	"log"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"agentsocial/local/tools/weigh/hello"
)

func main() {
	c, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	hello.Start(dynamodb.NewFromConfig(c))
}
