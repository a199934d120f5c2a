// Package table gives a Lambda function its table.
package table

import (
	"agentsocial/shared/app"
	"agentsocial/shared/host"
	"agentsocial/tables/dynamo"
)

// DynamoDB is the table that the environment names, with the function's own credentials.
var DynamoDB = host.Part{
	Needs: func(e host.Env) []string {
		return host.Missing(map[string]string{"TABLE": e.Table, "AWS_REGION": e.Region})
	},
	Add: func(e host.Env, a *app.App) {
		a.Table = dynamo.Open(dynamo.Config{
			Table: e.Table, Region: e.Region,
			Credentials: dynamo.Credentials(e.AccessKey, e.SecretKey, e.SessionToken),
		})
	},
}
