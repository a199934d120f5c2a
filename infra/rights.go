package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/mailevent"
	"agentsocial/shared/lambda/schedule"
	"agentsocial/shared/lambda/stream"
	"agentsocial/tables"
)

// rights lists what a function may do besides writing its log.
//
// [leading] restricts reads and writes to the partitions that the function declares. Two
// weaknesses remain. Most groups may write agents' partitions, so an intruder in such a
// group could make a credential. And rights on an index cover the whole index.
type rights struct {
	Reads  tables.Families // items and queries, never a scan
	Writes tables.Families
	Needs  app.Capabilities
	Stream bool // reads the table's stream, and leaves failed batches in the bucket
	Trace  bool // sends traces to X-Ray, if the deployment uses it
	Dead   bool // sends failed calls to the function's dead-letter queue
}

func rightsOf(g api.Group) rights {
	reads, writes := g.Rights()
	return rights{Reads: reads, Writes: writes, Needs: g.Capabilities()}
}

func rightsOfReader(r stream.Function) rights {
	return rights{Reads: r.Reads, Writes: r.Writes, Needs: app.Table, Stream: true}
}

func rightsOfSchedule(s schedule.Function) rights {
	return rights{Reads: s.Reads, Writes: s.Writes, Needs: s.Capabilities(), Dead: !s.Outside}
}

func rightsOfMail(m mailevent.Function) rights {
	return rights{Reads: m.Reads, Writes: m.Writes, Needs: mailevent.Needs}
}

// Transactions need no entries: IAM authorises the actions in them.
var (
	readActions  = []string{"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"}
	writeActions = []string{"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:ConditionCheckItem"}
)

// leading returns the condition that all touched partitions belong to these families; nil
// if there are no families. IAM judges a transaction by all its writes together, so all
// writes share one list. The condition also holds for a call without keys, but all actions
// above have keys.
//
// It has not been tried whether DynamoDB passes the keys of a transaction's items to IAM
// (UNTRIED.md). If it does not, a function has more rights than intended.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html
func leading(f tables.Families) map[string]any {
	var patterns []string
	for _, letter := range f.Letters() {
		patterns = append(patterns, letter+"#*")
	}
	if patterns == nil {
		return nil
	}
	return map[string]any{"ForAllValues:StringLike": map[string]any{"dynamodb:LeadingKeys": patterns}}
}

// policy turns rights into statements. The CDK's own grants are wider, such as Scan with
// every read.
func (r rights) policy(d deployment, log awslogs.LogGroup, dead awssqs.Queue) awsiam.PolicyDocument {
	st := d.store
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
	for _, c := range app.AllCapabilities {
		if !r.Needs.Has(c.Is) || c.Action == "" {
			continue
		}
		if resources, condition := d.grantable(c); resources != nil {
			allow(c.Name, []string{c.Action}, condition, resources...)
		}
	}
	if r.Stream { // only the stream of the table in use
		allow("Stream", []string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"}, nil, st.table.TableStreamArn())
		// The Service Authorization Reference has no resource for ListStreams but *,
		// although DynamoDB's guide shows the table's streams. Lambda needs ListStreams to
		// make a mapping. The action reads only ARNs.
		allow("ListStreams", []string{"dynamodb:ListStreams"}, nil, jsii.String("*"))
		allow("FailedBatches", []string{"s3:PutObject"}, nil, below(st.failed.BucketArn(), "/*"))
		allow("FailedBatchesBucket", []string{"s3:ListBucket"}, nil, st.failed.BucketArn())
	}
	if r.Trace {
		allow("Trace", []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"}, nil, jsii.String("*")) // they take no resource
	}
	if r.Dead { // Lambda sends dead letters with the function's role
		allow("DeadLetters", []string{"sqs:SendMessage"}, nil, dead.QueueArn())
	}
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements})
}

// generatedARN returns the ARN of the seal or the pepper for policies. The stack does not
// know the six random characters at the end of an existing secret's ARN.
func (d deployment) generatedARN(secret awssecretsmanager.ISecret) *string {
	if d.ExistingSecrets {
		return jsii.String(*secret.SecretArn() + "-??????")
	}
	return secret.SecretArn()
}

// grantable returns the resources and the condition with which a capability's action is
// granted. There are no resources if the deployment does not use the capability.
func (d deployment) grantable(c app.Capability) (resources []*string, condition map[string]any) {
	switch c.Resource {
	case "SECRET_ARN":
		return []*string{d.generatedARN(d.store.secret)}, nil
	case "PEPPER_ARN":
		return []*string{d.generatedARN(d.store.pepper)}, nil
	case "PAYMENTS_ARN":
		return []*string{d.store.payments.SecretArn()}, nil
	case "EDGE_SECRET_ARN":
		if d.edge == nil {
			return nil, nil
		}
		return []*string{d.edge.secret.SecretArn()}, nil
	case "MAIL_CONFIGURATION_SET":
		if d.mail == nil {
			return nil, nil
		}
		// Only this sender is allowed, but any identity: in SES's sandbox a mail also needs
		// the permission on its recipient's identity.
		return []*string{d.mail.identities, d.mail.setARN}, map[string]any{"StringEquals": map[string]any{"ses:FromAddress": d.mail.from}}
	}
	panic("infra: the capability " + c.Name + " is on " + c.Resource + ", which is unknown")
}
