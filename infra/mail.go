package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsses"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/lambda/mailevent"
)

// mailing holds what sending mail needs.
type mailing struct {
	from       string
	identities *string // ARN pattern of all the account's identities
	set        awsses.ConfigurationSet
	setARN     *string
}

// mailDimension is the dimension of SES's metrics. Its value is the name of the
// configuration set.
const mailDimension = "ses:configuration-set"

// newMailing sets up the sending of mail. It returns nil if mailFrom is empty.
//
// The mails carry codes, which are credentials, so they go only to servers with TLS. SES's
// own suppression list is off. It would hold plain addresses, and the owner of an address
// that bounced once could not recover an agent.
func newMailing(stack awscdk.Stack, s Settings) *mailing {
	if s.MailFrom == "" {
		return nil
	}
	set := awsses.NewConfigurationSet(stack, jsii.String("MailSet"), &awsses.ConfigurationSetProps{
		TlsPolicy:              awsses.ConfigurationSetTlsPolicy_REQUIRE,
		ReputationMetrics:      jsii.Bool(true),
		DisableSuppressionList: jsii.Bool(true),
	})
	// `make stop-mail` switches sending off, and a deployment leaves the switch as it is.
	output(stack, "MailConfiguration", set.ConfigurationSetName(), "SES's configuration set, which make stop-mail stops")
	awsses.NewConfigurationSetEventDestination(stack, jsii.String("MailEvents"), &awsses.ConfigurationSetEventDestinationProps{
		ConfigurationSet: set,
		Events: &[]awsses.EmailSendingEvent{
			awsses.EmailSendingEvent_BOUNCE, awsses.EmailSendingEvent_COMPLAINT,
			awsses.EmailSendingEvent_REJECT, awsses.EmailSendingEvent_DELIVERY_DELAY,
		},
		Destination: awsses.EventDestination_CloudWatchDimensions(&[]*awsses.CloudWatchDimension{{
			Name: jsii.String(mailDimension), Source: awsses.CloudWatchDimensionSource_MESSAGE_TAG, DefaultValue: jsii.String("none"),
		}}),
	})
	awsses.NewConfigurationSetEventDestination(stack, jsii.String("ReturnedMail"), &awsses.ConfigurationSetEventDestinationProps{
		ConfigurationSet: set,
		Events:           &[]awsses.EmailSendingEvent{awsses.EmailSendingEvent_BOUNCE, awsses.EmailSendingEvent_COMPLAINT},
		// SES sends to the default bus only.
		Destination: awsses.EventDestination_EventBus(awsevents.EventBus_FromEventBusName(stack, jsii.String("Bus"), jsii.String("default"))),
	})
	identify(stack, s, set)
	arn := func(resource string, name *string) *string {
		return stack.FormatArn(&awscdk.ArnComponents{Service: jsii.String("ses"), Resource: jsii.String(resource), ResourceName: name})
	}
	return &mailing{s.MailFrom, arn("identity", jsii.String("*")), set, arn("configuration-set", set.ConfigurationSetName())}
}

// mailEventAge bounds the time for which EventBridge tries to deliver an event. Lambda has
// the same bound after it has accepted the event.
const mailEventAge = 6 * time.Hour

// tellOfMail lets EventBridge call a function with the bounces and complaints of this
// stage's mail. It returns the metrics that count dropped events.
//
// Dropped events go to no queue: they contain the recipient's address, which nothing
// outside SES may keep.
func (d deployment) tellOfMail(f awslambda.Function) (dropped []metric) {
	rule := awsevents.NewCfnRule(f, jsii.String("Events"), &awsevents.CfnRuleProps{
		Description: jsii.String("Mail of this stage that came back"),
		EventPattern: map[string]any{
			"source":      []string{"aws.ses"},
			"detail-type": []string{"Email Bounced", "Email Complaint Received"},
			"detail":      map[string]any{"mail": map[string]any{"tags": map[string]any{mailDimension: []*string{d.mail.set.ConfigurationSetName()}}}},
		},
		Targets: []any{&awsevents.CfnRule_TargetProperty{
			Id: jsii.String("function"), Arn: f.FunctionArn(),
			RetryPolicy: &awsevents.CfnRule_RetryPolicyProperty{MaximumRetryAttempts: jsii.Number(float64(mailevent.Retries)), MaximumEventAgeInSeconds: jsii.Number(mailEventAge.Seconds())},
		}},
	})
	awslambda.NewCfnPermission(f, jsii.String("EventsPermission"), &awslambda.CfnPermissionProps{
		Action: jsii.String("lambda:InvokeFunction"), FunctionName: f.FunctionArn(),
		Principal: jsii.String("events.amazonaws.com"), SourceArn: rule.AttrArn(),
	})
	return []metric{
		{Namespace: "AWS/Events", Name: "FailedInvocations", By: []by{{"RuleName", rule.Ref()}}},
		{Namespace: "AWS/Lambda", Name: "AsyncEventsDropped", By: []by{{"FunctionName", f.FunctionName()}}},
	}
}

func (d deployment) watchMailEvents(m mailevent.Function, f awslambda.Function, dropped []metric) {
	d.alarm(f, "Dropped", alarm{
		What: "Events for the function " + m.Name + " were dropped: mail came back and its recipient was not remembered. Find out whether the function was called and failed, or was not called.",
		Of:   dropped, Every: 5 * time.Minute, Once: true,
	})
}

// identify makes SES's identity of mailFrom, unless mailIdentity is existing.
//
// SES holds an address or domain only once per account and region, so two stages need two
// domains, or an identity outside both stacks. Mails from a single address carry only SES's
// signature, and many servers treat them as spam.
//
// Forwarding of bounces and complaints is off, because they name the recipient.
func identify(stack awscdk.Stack, s Settings, set awsses.ConfigurationSet) {
	_, domain, _ := strings.Cut(s.MailFrom, "@")
	made := func(id string, of awsses.Identity) awsses.EmailIdentity {
		return awsses.NewEmailIdentity(stack, jsii.String(id), &awsses.EmailIdentityProps{Identity: of, ConfigurationSet: set, FeedbackForwarding: jsii.Bool(false)})
	}
	switch s.MailIdentity {
	case identityExisting:
		return
	case identityAddress:
		output(stack, "MailAddress", jsii.String(s.MailFrom), "SES has mailed a link to this address; no mail is sent until somebody follows it")
		made("MailSender", awsses.Identity_Email(jsii.String(s.MailFrom)))
		return
	}
	identity := made("MailDomain", awsses.Identity_Domain(jsii.String(domain)))
	for i, r := range *identity.DkimRecords() {
		record := awscdk.Fn_Join(jsii.String(""), &[]*string{r.Name, jsii.String(" CNAME "), r.Value})
		output(stack, fmt.Sprintf("MailRecord%d", i+1), record, "For the DNS of "+domain+"; no mail is sent until it is there")
	}
	output(stack, "MailPolicy", jsii.String(`_dmarc.`+domain+` TXT "v=DMARC1; p=quarantine"`),
		"A DMARC policy for the DNS of "+domain+", against forged mails, unless a parent domain has one")
}
