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
	Reads  tables.Families // items and queries, never a scan
	Writes tables.Families
	Secret bool // the value of the secret
	Pepper bool // the pepper
	Mail   bool // sends mail, where the deployment does
	Pay    bool // the payment processor's keys
	Stream bool // reads the table's stream, and leaves failed batches in the bucket
	Trace  bool // tells X-Ray what Lambda does, where the deployment has it
	Dead   bool // leaves calls that failed in the function's queue of dead letters
}

// rightsOf a group: what it needs.
func rightsOf(g api.Group) rights {
	return rights{
		Reads: g.Reads(), Writes: g.Writes(),
		Secret: g.Needs.Secret, Pepper: g.Needs.Pepper, Mail: g.Needs.Mail, Pay: g.Needs.Payments,
	}
}

// rightsOfReader: every reader turns changes into items.
func rightsOfReader(r stream.Function) rights {
	return rights{Reads: r.Reads, Writes: r.Writes, Stream: true}
}

// rightsOfSchedule: what is due is found in the table and done there.
func rightsOfSchedule(s schedule.Function) rights {
	return rights{Reads: s.Reads, Writes: s.Writes, Dead: true}
}

// needs are those for which a function is told of something.
func (r rights) needs() api.Needs {
	return api.Needs{Table: r.Reads != "", Secret: r.Secret, Pepper: r.Pepper, Mail: r.Mail, Payments: r.Pay}
}

// Transactions and batches are authorised by the actions they are made of, and
// so name nothing of their own here.
var (
	readActions  = []string{"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"}
	writeActions = []string{"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:ConditionCheckItem"}
)

// leading is the condition that all partitions touched are of these families, nil
// if there are none. A
// batch has many; a transaction is judged by its writes, of whatever actions, and
// so all of these have one list. It is true of a call for which DynamoDB names no
// keys: among the actions above there is none, and were there one, it would go on
// working.
func leading(f tables.Families) map[string]any {
	var patterns []string
	for _, family := range f.List() {
		if _, index := tables.Index(family).Schema(); !index {
			patterns = append(patterns, family+"#*")
		}
	}
	if patterns == nil {
		return nil
	}
	return map[string]any{"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": patterns}}
}

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
	all := []*string{st.table.TableArn()}
	if st.other != nil {
		all = append(all, st.other.TableArn())
	}

	// The ARN of a log group ends in ":*": all its streams.
	allow("Log", []string{"logs:CreateLogStream", "logs:PutLogEvents"}, nil, log.LogGroupArn())
	if keys := leading(r.Reads); keys != nil {
		allow("Read", readActions, keys, all...)
	}
	var indexes []*string
	for _, x := range tables.Indexes {
		if r.Reads.HasIndex(x.Name) {
			for _, table := range all {
				indexes = append(indexes, below(table, "/index/"+string(x.Name)))
			}
		}
	}
	if indexes != nil {
		allow("ReadIndexes", []string{"dynamodb:Query"}, nil, indexes...)
	}
	if keys := leading(r.Writes); keys != nil {
		allow("Write", writeActions, keys, all...)
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
		// From this address only, by whichever identity SES takes for it. In SES's
		// sandbox a mail also needs the right on whom it is to, an identity there.
		allow("Mail", []string{"ses:SendEmail"}, map[string]any{
			"StringEquals": map[string]any{"ses:FromAddress": mail.from},
		}, mail.identities, mail.setARN)
	}
	if r.Stream { // of the table in use only: what is written to the other is not to be heard
		allow("Stream", []string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"}, nil, st.table.TableStreamArn())
		allow("ListStreams", []string{"dynamodb:ListStreams"}, nil, below(st.table.TableArn(), "/stream/*")) // it names no single stream
		allow("FailedBatches", []string{"s3:PutObject"}, nil, below(st.failed.BucketArn(), "/*"))
		allow("FailedBatchesBucket", []string{"s3:ListBucket"}, nil, st.failed.BucketArn())
	}
	if r.Trace {
		allow("Trace", []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"}, nil, jsii.String("*")) // they name no resource
	}
	if r.Dead { // Lambda sends them in the function's name
		allow("DeadLetters", []string{"sqs:SendMessage"}, nil, dead.QueueArn())
	}
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements})
}
