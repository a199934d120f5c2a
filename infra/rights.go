package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/api"
	"agentsocial/shared/schedule"
	"agentsocial/shared/stream"
	"agentsocial/tables"
)

// rights are what a function may do beyond writing its log.
type rights struct {
	Read   bool // items and queries, never a scan
	Write  bool // any item
	Secret bool // the value of the secret
	Pepper bool // the pepper
	Mail   bool // sends mail, where the deployment does
	Pay    bool // the payment processor's keys
	Stream bool // reads the table's stream, and leaves failed batches in the bucket
	Dead   bool // leaves calls that failed in the function's queue of dead letters
}

// rightsOf a group: what it needs, and whether any endpoint has an effect.
func rightsOf(g api.Group) rights {
	return rights{
		Read: g.Needs.Table, Write: g.Needs.Table && g.Writes(),
		Secret: g.Needs.Secret, Pepper: g.Needs.Pepper, Mail: g.Needs.Mail, Pay: g.Needs.Payments,
	}
}

// rightsOfReader: every reader turns changes into items.
func rightsOfReader(stream.Function) rights {
	return rights{Read: true, Write: true, Stream: true}
}

// rightsOfSchedule: what is due is found in the table and done there.
func rightsOfSchedule(schedule.Function) rights { return rights{Read: true, Write: true, Dead: true} }

// Transactions and batches are authorised by the actions they are made of, and
// so name nothing of their own here.
var (
	readActions  = []string{"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"}
	writeActions = []string{"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:ConditionCheckItem"}
)

// policy spells rights out. The constructs' own grants are wider: Scan with
// every read, BatchWriteItem with every write, ListStreams on everything, and
// reading and deleting in the bucket of failed batches.
func (r rights) policy(st store, mail *mailing, log awslogs.LogGroup, dead awssqs.Queue) awsiam.PolicyDocument {
	var statements []awsiam.PolicyStatement
	allow := func(sid string, actions []string, condition map[string]any, resources ...*string) {
		p := &awsiam.PolicyStatementProps{
			Sid: jsii.String(sid), Actions: jsii.Strings(actions...), Resources: &resources,
		}
		if condition != nil {
			p.Conditions = &condition
		}
		statements = append(statements, awsiam.NewPolicyStatement(p))
	}
	below := func(arn *string, path string) *string { return jsii.String(*arn + path) }
	table := st.table.TableArn()

	// The ARN of a log group ends in ":*": all its streams.
	allow("Log", []string{"logs:CreateLogStream", "logs:PutLogEvents"}, nil, log.LogGroupArn())
	if r.Read {
		allow("Read", readActions, nil, table)
		var indexes []*string
		for _, x := range tables.Indexes {
			indexes = append(indexes, below(table, "/index/"+string(x.Name)))
		}
		allow("ReadIndexes", []string{"dynamodb:Query"}, nil, indexes...)
	}
	switch {
	case r.Write:
		allow("Write", writeActions, nil, table)
	case r.Read:
		// One read in a few is counted (api.Call's readLimit), and nothing else.
		// An update has exactly one leading key.
		allow("CountReads", []string{"dynamodb:UpdateItem"}, map[string]any{
			"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": []string{tables.QuotaPK("*")}},
		}, table)
	}
	if r.Secret {
		allow("Secret", []string{"secretsmanager:GetSecretValue"}, nil, st.secret.SecretArn())
	}
	if r.Pepper {
		allow("Pepper", []string{"secretsmanager:GetSecretValue"}, nil, st.pepper.SecretArn())
	}
	if r.Pay {
		allow("Payments", []string{"secretsmanager:GetSecretValue"}, nil, st.payments.SecretArn())
	}
	if r.Mail && mail != nil {
		// From this address only. In SES's sandbox a mail also needs a right on the
		// recipient, who is an identity of the account's there.
		allow("Mail", []string{"ses:SendEmail"}, map[string]any{
			"StringEquals": map[string]any{"ses:FromAddress": mail.from},
		}, mail.identity.EmailIdentityArn(), mail.setARN)
	}
	if r.Stream {
		allow("Stream", []string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"}, nil, st.table.TableStreamArn())
		allow("ListStreams", []string{"dynamodb:ListStreams"}, nil, below(table, "/stream/*")) // it names no single stream
		allow("FailedBatches", []string{"s3:PutObject"}, nil, below(st.failed.BucketArn(), "/*"))
		allow("FailedBatchesBucket", []string{"s3:ListBucket"}, nil, st.failed.BucketArn())
	}
	if r.Dead { // Lambda sends them in the function's name
		allow("DeadLetters", []string{"sqs:SendMessage"}, nil, dead.QueueArn())
	}
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements})
}
