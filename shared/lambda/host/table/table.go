// Package table gives a Lambda function its table.
package table

import (
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
	"agentsocial/tables/dynamo"
	"agentsocial/tables/retry"
)

// DynamoDB opens the table that the environment names. It repeats failed calls within a
// budget that all calls of the process share.
var DynamoDB = host.Part{
	Is: app.Table,
	Add: func(e host.Env, a *app.App) {
		a.Table = retry.Over(dynamo.Open(dynamo.Config{
			Table: e.Table, Region: e.Region, Endpoint: e.DynamoDBURL, HTTP: newTraced(client(), a, e.Region, e.Table, e.XRayDaemon),
			Credentials: dynamo.Credentials(e.AccessKey, e.SecretKey, e.SessionToken),
		}), a.Intn)
	},
}

// connections bounds the connections to the table. A catchup reads up to two hundred
// channels concurrently. The SDK's default client would open a connection for each, and
// keep ten.
const connections = 64

func client() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		t.MaxIdleConnsPerHost, t.MaxConnsPerHost = connections, connections
	})
}
