// Command bare is hello without the SDK's config package: it makes its client as the
// service's functions do. `make weigh` shows it beside hello.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func main() {
	client := dynamodb.New(dynamodb.Options{
		Region: os.Getenv("AWS_REGION"),
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{
				AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
			}, nil
		}),
	})
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
