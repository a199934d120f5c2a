package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsses"
	"github.com/aws/jsii-runtime-go"
)

// mailing is what mail is sent with.
type mailing struct {
	from       string
	identities *string // ARNs of all that the account has
	set        awsses.ConfigurationSet
	setARN     *string
}

// mailDimension is by which SES's own counts, in AWS/SES, are told apart; its
// value is the name of the configuration set. SES marks every mail with it.
const mailDimension = "ses:configuration-set"

// newMailing is nil where no address to send from is set.
//
// A code is a credential, so it goes to no server that would take it without
// TLS. Whoever could not be reached, or complained, gets no more: SES keeps the
// list, and counts what became of mails, by which alarms ring. That SES takes
// none for now, or not this one, stands in the sending function's log.
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

// identify makes SES know the address that mail is sent from.
//
// SES knows a name once per account and region: two stages need two domains,
// such as subdomains, or an identity that neither owns. It signs for a domain
// with keys of its own (Easy DKIM) once three records stand in the DNS, and takes
// no mail before. An address alone is verified by a mail to it; its mails are
// signed by SES's domain only, and many servers will take them for spam. It
// holds nothing that a stage could want to keep.
func identify(stack awscdk.Stack, s Settings, set awsses.ConfigurationSet) {
	_, domain, _ := strings.Cut(s.MailFrom, "@")
	made := func(id string, of awsses.Identity) awsses.EmailIdentity {
		return awsses.NewEmailIdentity(stack, jsii.String(id), &awsses.EmailIdentityProps{Identity: of, ConfigurationSet: set})
	}
	switch s.MailIdentity {
	case identityExisting:
		return
	case identityAddress:
		output(stack, "MailAddress", jsii.String(s.MailFrom), "SES has mailed it a link; no mail is sent before somebody follows that")
		made("MailSender", awsses.Identity_Email(jsii.String(s.MailFrom)))
		return
	}
	identity := made("MailDomain", awsses.Identity_Domain(jsii.String(domain)))
	for i, r := range *identity.DkimRecords() {
		record := awscdk.Fn_Join(jsii.String(""), &[]*string{r.Name, jsii.String(" CNAME "), r.Value})
		output(stack, fmt.Sprintf("MailRecord%d", i+1), record, "For the DNS of "+domain+", or no mail is sent")
	}
	output(stack, "MailPolicy", jsii.String(`_dmarc.`+domain+` TXT "v=DMARC1; p=quarantine"`),
		"For the DNS of "+domain+", unless a domain above it has one: who forges its mails is not believed")
}
