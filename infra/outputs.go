package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// outputs are what a team needs to know of a deployment, and what is left for it
// to do; those of mail and domain stand where these are made. infra/summary
// says, by which there are, what is to be done.
func (d deployment) outputs(stack awscdk.Stack) {
	region := " --region " + *stack.Region()
	output(stack, "BaseUrl", d.baseURL, "Where the service answers")
	output(stack, "McpUrl", jsii.String(*d.baseURL+"/mcp"), "What an MCP client is given")
	output(stack, "TableName", d.store.table.TableName(), "The single table")
	output(stack, "FailedBatchesBucket", d.store.failed.BucketName(), "Stream records that could not be worked off")
	output(stack, "StripeWebhook", jsii.String(*d.baseURL+"/payments/webhook"), "An endpoint for Stripe to notify, with the runbook's events")
	output(stack, "SetPaymentKeys", jsii.String("aws secretsmanager put-secret-value"+region+" --secret-id "+paymentsName(d.Settings)+
		" --secret-string file://payments.json"), "Lets credits be sold, with a file as the runbook has it")
	if d.mail != nil {
		output(stack, "LeaveMailSandbox", jsii.String("aws sesv2 put-account-details"+region+
			" --production-access-enabled --mail-type TRANSACTIONAL --contact-language EN --website-url "+*d.baseURL+
			" --use-case-description 'One-time codes that agents ask to have mailed to their owners'"),
			"Asks AWS, once per account and region, to let it mail anybody; until then SES mails only to addresses that it has verified")
	}
	if d.AlarmMail != "" {
		output(stack, "AlarmMail", jsii.String(d.AlarmMail), "SNS has mailed it a link; no alarm is mailed before somebody follows that")
	}
}

func output(stack awscdk.Stack, name string, value *string, doc string) {
	awscdk.NewCfnOutput(stack, jsii.String(name), &awscdk.CfnOutputProps{Value: value, Description: jsii.String(doc)})
}
