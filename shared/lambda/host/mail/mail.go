// Package mail lets a Lambda function send mail with Amazon SES.
package mail

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/smithy-go"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
	mails "agentsocial/shared/outside/mail"
)

// SES sends from the address that the environment names. Without an address, requests that
// send mail fail.
var SES = host.Part{
	Is: app.Mail,
	Add: func(e host.Env, a *app.App) {
		if e.MailFrom == "" {
			a.Mail = mails.None{}
			return
		}
		a.Mail = newSender(sesv2.Options{
			Region: e.Region, BaseEndpoint: host.Endpoint(e.SESURL),
			Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
				return aws.Credentials{AccessKeyID: e.AccessKey, SecretAccessKey: e.SecretKey, SessionToken: e.SessionToken}, nil
			}),
		}, e.MailFrom, e.MailSet)
	},
}

// Bounds for sending one mail. SES takes about 100 ms to accept it. A retry may send the
// mail twice, which does no harm.
const (
	sendWithin = 3 * time.Second
	attempts   = 2
	backoff    = 200 * time.Millisecond // at most, before the second attempt
)

// sender implements [mails.Sender].
type sender struct {
	client    *sesv2.Client
	from, set string
	within    time.Duration
}

func newSender(o sesv2.Options, from, set string) *sender {
	o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff = attempts, backoff
	})
	return &sender{sesv2.New(o), from, set, sendWithin}
}

func (s *sender) Send(ctx context.Context, m mails.Message) error {
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	_, err := s.client.SendEmail(ctx, &sesv2.SendEmailInput{
		FromEmailAddress:     &s.from,
		ConfigurationSetName: &s.set,
		Destination:          &types.Destination{ToAddresses: []string{m.To.Reveal()}},
		Content: &types.EmailContent{Simple: &types.Message{
			Subject: content(m.Subject),
			Body:    &types.Body{Text: content(m.Text), Html: content(m.HTML)},
			// Prevents automatic absence replies (RFC 3834 5).
			Headers: []types.MessageHeader{{Name: aws.String("Auto-Submitted"), Value: aws.String("auto-generated")}},
		}},
	})
	if err != nil {
		return reason(ctx, err)
	}
	return nil
}

func content(s string) *types.Content {
	return &types.Content{Data: &s, Charset: aws.String("UTF-8")}
}

// reason says why sending a mail failed. It leaves out SES's message, which may name
// addresses.
func reason(ctx context.Context, err error) error {
	var refused smithy.APIError
	var request interface{ ServiceRequestID() string }
	var broken *net.OpError
	switch {
	case errors.As(err, &refused):
		id := ""
		if errors.As(err, &request) {
			id = request.ServiceRequestID()
		}
		if refused.ErrorFault() == smithy.FaultClient {
			return fmt.Errorf("%w by SES: %q, request %q", mails.ErrRefused, refused.ErrorCode(), id)
		}
		return fmt.Errorf("mail: SES failed: %q, request %q", refused.ErrorCode(), id)
	case ctx.Err() != nil:
		return fmt.Errorf("mail: SES did not answer in time: %w", ctx.Err())
	case errors.As(err, &broken):
		return fmt.Errorf("mail: SES cannot be reached: %w", broken)
	}
	return fmt.Errorf("mail: the request to SES failed: %T", innermost(err))
}

func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
