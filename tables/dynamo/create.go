package dynamo

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"agentsocial/tables"
)

// CreateTable makes a table with [tables.Indexes] and TTL, optionally with a stream, and
// waits until it is ready. It is for DynamoDB Local and tests: infra makes production's
// table.
func CreateTable(ctx context.Context, client *dynamodb.Client, name string, stream bool) error {
	in := &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
	}
	if stream {
		in.StreamSpecification = &types.StreamSpecification{
			StreamEnabled:  aws.Bool(true),
			StreamViewType: types.StreamViewTypeNewAndOldImages,
		}
	}
	schema := func(pk, sk string) []types.KeySchemaElement {
		for _, a := range []string{pk, sk} {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
				AttributeName: aws.String(a), AttributeType: types.ScalarAttributeTypeS,
			})
		}
		return []types.KeySchemaElement{
			{AttributeName: aws.String(pk), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(sk), KeyType: types.KeyTypeRange},
		}
	}
	in.KeySchema = schema(tables.AttrPK, tables.AttrSK)
	for _, x := range tables.Indexes {
		projection := types.ProjectionTypeKeysOnly
		if x.All {
			projection = types.ProjectionTypeAll
		}
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName:  aws.String(string(x.Name)),
			KeySchema:  schema(x.PK, x.SK),
			Projection: &types.Projection{ProjectionType: projection},
		})
	}
	if _, err := client.CreateTable(ctx, in); err != nil {
		return fmt.Errorf("dynamo: CreateTable: %w", err)
	}
	exists := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) {
		o.MinDelay, o.MaxDelay = 10*time.Millisecond, 5*time.Second
	})
	if err := exists.Wait(ctx, &dynamodb.DescribeTableInput{TableName: &name}, 2*time.Minute); err != nil {
		return fmt.Errorf("dynamo: CreateTable: %w", err)
	}
	_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{
		TableName: &name,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{
			AttributeName: aws.String(tables.AttrTTL), Enabled: aws.Bool(true),
		},
	})
	if err != nil {
		return fmt.Errorf("dynamo: UpdateTimeToLive: %w", err)
	}
	return nil
}
