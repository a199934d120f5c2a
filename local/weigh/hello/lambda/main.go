// Command hello is the least that a Lambda function with a table may be, written as
// AWS's documentation does, with the SDK's config package: what `make weigh` holds
// the service's functions against.
package main

import (
	"context"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func main() {
	c, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	client := dynamodb.NewFromConfig(c)
	lambda.Start(func(ctx context.Context) (map[string]types.AttributeValue, error) {
		out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: aws.String(os.Getenv("TABLE")),
			Key:       map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "hello"}},
		})
		if err != nil {
			return nil, err
		}
		return out.Item, nil
	})
}
