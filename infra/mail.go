package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsses"
	"github.com/aws/jsii-runtime-go"
)

// mailing holds what sending mail needs.
type mailing struct {
	from       string
	identities *string // ARN pattern of all the account's identities
	set        awsses.ConfigurationSet
	setARN     *string
}

// mailDimension is the dimension of SES's metrics in AWS/SES. SES sets it on every
// mail; its value is the name of the configuration set.
const mailDimension = "ses:configuration-set"

// newMailing returns nil if mailFrom is empty.
//
// A code is a credential, so it is sent only to servers with TLS. SES keeps a list of
// addresses that bounced or complained, and mails them no more; alarms watch its
// counts. The sending function logs what SES refuses.
func newMailing(stack awscdk.Stack, s Settings) *mailing {
	if s.MailFrom == "" {
		return nil
	}
	set := awsses.NewConfigurationSet(stack, jsii.String("MailSet"), &awsses.ConfigurationSetProps{
		TlsPolicy:          awsses.ConfigurationSetTlsPolicy_REQUIRE,
		ReputationMetrics:  jsii.Bool(true),
		SuppressionReasons: awsses.SuppressionReasons_BOUNCES_AND_COMPLAINTS,
	})
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
	identify(stack, s, set)
	arn := func(resource string, name *string) *string {
		return stack.FormatArn(&awscdk.ArnComponents{Service: jsii.String("ses"), Resource: jsii.String(resource), ResourceName: name})
	}
	return &mailing{s.MailFrom, arn("identity", jsii.String("*")), set, arn("configuration-set", set.ConfigurationSetName())}
}

// identify sets up the address that mail is sent from in SES.
//
// SES has a name once per account and region: two stages need two domains (such as
// subdomains), or an identity outside both stacks. For a domain SES signs with its own
// keys (Easy DKIM), and accepts mail once three records are in the DNS. A single
// address is verified by a mail to it; its mails carry only SES's signature, and many
// servers treat them as spam.
func identify(stack awscdk.Stack, s Settings, set awsses.ConfigurationSet) {
	_, domain, _ := strings.Cut(s.MailFrom, "@")
	made := func(id string, of awsses.Identity) awsses.EmailIdentity {
		return awsses.NewEmailIdentity(stack, jsii.String(id), &awsses.EmailIdentityProps{Identity: of, ConfigurationSet: set})
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
		"For the DNS of "+domain+", against forged mails, unless a parent domain has one")
}
