package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// outputs adds what operators need to know, and what is left for them to do. Other files
// add further outputs. infra/summary turns them into a list of steps.
func (d deployment) outputs(stack awscdk.Stack) {
	region := " --region " + *stack.Region()
	output(stack, "BaseUrl", d.baseURL, "Where the service answers")
	output(stack, "McpUrl", jsii.String(*d.baseURL+"/mcp"), "The address for MCP clients")
	if d.Version != "" {
		output(stack, "Version", jsii.String(d.Version), "The deployed version, from git describe")
	}
	if d.PreviousVersion != "" {
		output(stack, "PreviousVersion", jsii.String(d.PreviousVersion), "What was deployed before; make rollback deploys it again")
	}
	output(stack, "TableName", d.store.table.TableName(), "The single table")
	output(stack, "FailedBatchesBucket", d.store.failed.BucketName(), "Stream records that could not be processed")
	output(stack, "StripeWebhook", jsii.String(*d.baseURL+"/payments/webhook"), "The webhook endpoint to add in Stripe, with the events that the runbook lists")
	output(stack, "SetPaymentKeys", jsii.String("aws secretsmanager put-secret-value"+region+" --secret-id "+paymentsName(d.Settings)+
		" --secret-string file://payments.json"), "Sets Stripe's keys from payments.json; the runbook shows the file")
	if d.mail != nil {
		output(stack, "LeaveMailSandbox", jsii.String("aws sesv2 put-account-details"+region+
			" --production-access-enabled --mail-type TRANSACTIONAL --contact-language EN --website-url "+*d.baseURL+
			" --use-case-description 'One-time codes that agents ask to have mailed to their owners'"),
			"Asks AWS, once per account and region, to move the account out of the SES sandbox; until then SES mails only to verified addresses")
	}
	if d.Contact != "" {
		output(stack, "Contact", jsii.String(d.Contact), "Where people write to you: /privacy and /about name it")
	}
	if d.AlarmMail != "" {
		output(stack, "AlarmMail", jsii.String(d.AlarmMail), "SNS has mailed a link to this address; no alarm is mailed until somebody follows it")
	}
}

func output(stack awscdk.Stack, name string, value *string, doc string) {
	awscdk.NewCfnOutput(stack, jsii.String(name), &awscdk.CfnOutputProps{Value: value, Description: jsii.String(doc)})
}
