// Package hello is a minimal Lambda function with a table: it reads an item.
package hello

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Start answers every call with an item.
func Start(client *dynamodb.Client) {
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
