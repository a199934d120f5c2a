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
	from     string
	identity awsses.EmailIdentity
	set      awsses.ConfigurationSet
	setARN   *string
}

// newMailing is nil where no address to send from is set.
//
// SES knows a domain once per account and region, by its name: two stages need
// two, such as a subdomain. SES signs with keys of its own (Easy DKIM) once its
// three records stand in the DNS, and takes no mail before. It holds nothing
// that a stage could want to keep. A code is a credential, so it goes to no
// server that would take it without TLS. Whoever could not be reached, or
// complained, gets no more.
func newMailing(stack awscdk.Stack, s Settings) *mailing {
	if s.MailFrom == "" {
		return nil
	}
	set := awsses.NewConfigurationSet(stack, jsii.String("MailSet"), &awsses.ConfigurationSetProps{
		TlsPolicy:          awsses.ConfigurationSetTlsPolicy_REQUIRE,
		ReputationMetrics:  jsii.Bool(true),
		SuppressionReasons: awsses.SuppressionReasons_BOUNCES_AND_COMPLAINTS,
	})
	_, domain, _ := strings.Cut(s.MailFrom, "@")
	identity := awsses.NewEmailIdentity(stack, jsii.String("MailDomain"), &awsses.EmailIdentityProps{
		Identity:         awsses.Identity_Domain(jsii.String(domain)),
		ConfigurationSet: set,
	})
	for i, r := range *identity.DkimRecords() {
		record := awscdk.Fn_Join(jsii.String(""), &[]*string{r.Name, jsii.String(" CNAME "), r.Value})
		output(stack, fmt.Sprintf("MailRecord%d", i+1), record, "For the DNS of "+domain+", or no mail is sent")
	}
	return &mailing{s.MailFrom, identity, set, stack.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("ses"), Resource: jsii.String("configuration-set"), ResourceName: set.ConfigurationSetName(),
	})}
}
