package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/tables"
)

// failedBatchesKeepDays is shorter than tables.MarkerKeep.
const failedBatchesKeepDays = 25

// store is what holds data, and outlives a deployment.
type store struct {
	table  awsdynamodb.ITable // the one in use
	other  awsdynamodb.ITable // which functions may use too; nil unless one was restored
	secret awssecretsmanager.Secret
	pepper awssecretsmanager.Secret
	failed awss3.Bucket

	payments awssecretsmanager.Secret
}

func newStore(stack awscdk.Stack, s Settings) store {
	table, other := inUse(stack, s, newTable(stack, s))
	return store{table, other, newSecret(stack, s), newPepper(stack, s), newFailedBatches(stack, s), newPayments(stack, s)}
}

// inUse is the stack's own table, unless one is set that was restored from it,
// and its stream: then functions and the stream's readers have that one in its
// place, and the stack's own stays as it is, to be looked at. The restored one
// is not the stack's: whoever restored it gave it its stream, its recovery, its
// protection and the attribute of its TTL (make restore).
//
// Beside it is the other of the two, over which functions have the same rights. A
// deployment changes their roles minutes before it tells them of another table,
// and in between all they asked for would be refused. The way back is the same:
// without the stream the stack's own is in use, and the rights are still there.
func inUse(stack awscdk.Stack, s Settings, own awsdynamodb.ITable) (table, other awsdynamodb.ITable) {
	if s.RestoredTable == "" {
		return own, nil
	}
	a := &awsdynamodb.TableAttributes{TableName: jsii.String(s.RestoredTable)}
	if s.RestoredStream == "" {
		return own, awsdynamodb.Table_FromTableAttributes(stack, jsii.String("Restored"), a)
	}
	a.TableStreamArn = jsii.String(s.RestoredStream)
	return awsdynamodb.Table_FromTableAttributes(stack, jsii.String("Restored"), a), own
}

// newTable is the single table, as package tables describes it. It is
// encrypted at rest with a key that AWS owns: no charge and no key policy to
// get wrong, and nothing in it is readable by more than its functions.
func newTable(stack awscdk.Stack, s Settings) awsdynamodb.Table {
	attribute := func(name string) *awsdynamodb.Attribute {
		return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
	}
	table := awsdynamodb.NewTable(stack, jsii.String("Table"), &awsdynamodb.TableProps{
		PartitionKey:        attribute(tables.AttrPK),
		SortKey:             attribute(tables.AttrSK),
		BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
		TimeToLiveAttribute: jsii.String(tables.AttrTTL),
		Stream:              awsdynamodb.StreamViewType_NEW_AND_OLD_IMAGES,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
		DeletionProtection:  jsii.Bool(!s.Disposable()),
		RemovalPolicy:       s.removalOfTable(),
		MaxReadRequestUnits: unlessZero(s.TableReads), MaxWriteRequestUnits: unlessZero(s.TableWrites),
		ContributorInsightsSpecification: &awsdynamodb.ContributorInsightsSpecification{Enabled: jsii.Bool(s.ContributorInsights)},
	})
	for _, x := range tables.Indexes {
		projection := awsdynamodb.ProjectionType_KEYS_ONLY
		if x.All {
			projection = awsdynamodb.ProjectionType_ALL
		}
		table.AddGlobalSecondaryIndex(&awsdynamodb.GlobalSecondaryIndexProps{
			IndexName:      jsii.String(string(x.Name)),
			PartitionKey:   attribute(x.PK),
			SortKey:        attribute(x.SK),
			ProjectionType: projection,

			// A cap on what an index is written would slow the table down: it has the table's.
			MaxReadRequestUnits: unlessZero(s.TableReads),
		})
	}
	return table
}

func unlessZero(n int) *float64 {
	if n == 0 {
		return nil
	}
	return jsii.Number(float64(n))
}

// newSecret is what tokens are sealed with and keys are derived from.
func newSecret(stack awscdk.Stack, s Settings) awssecretsmanager.Secret {
	return generated(stack, s, "Secret", "seal", "Seals tokens and derives keys. Another value voids all that was sealed.")
}

// newPepper is what hashes of mail addresses are keyed with. It never changes,
// and is kept apart from the secret, which may: an address that was hashed with
// another pepper is unknown, and the agent behind it beyond recovery.
func newPepper(stack awscdk.Stack, s Settings) awssecretsmanager.Secret {
	return generated(stack, s, "Pepper", "pepper", "Keys the hashes of mail addresses. Never change it: with another value every verified address is unknown.")
}

// generated is a secret of 64 letters and digits, 381 bits. Secrets Manager
// makes them up when the secret is created, and again whenever how they are
// generated changes, which would void everything made with them before: leave
// these lines alone.
func generated(stack awscdk.Stack, s Settings, id, name, doc string) awssecretsmanager.Secret {
	return awssecretsmanager.NewSecret(stack, jsii.String(id), &awssecretsmanager.SecretProps{
		SecretName:  jsii.String("agentsocial/" + s.Stage + "/" + name),
		Description: jsii.String(doc),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			PasswordLength:     jsii.Number(64),
			ExcludePunctuation: jsii.Bool(true),
			IncludeSpace:       jsii.Bool(false),
		},
		RemovalPolicy: s.removal(),
	})
}

// emptyKeys is what an operator fills. CloudFormation writes a secret's value
// when it is created and whenever this text changes, which would empty it again:
// leave it alone.
const emptyKeys = `{"secret_key":"","webhook_secrets":[]}`

func paymentsName(s Settings) string { return "agentsocial/" + s.Stage + "/payments" }

// newPayments holds the payment processor's keys, which nobody can generate.
func newPayments(stack awscdk.Stack, s Settings) awssecretsmanager.Secret {
	return awssecretsmanager.NewSecret(stack, jsii.String("Payments"), &awssecretsmanager.SecretProps{
		SecretName:        jsii.String(paymentsName(s)),
		Description:       jsii.String("The payment processor's keys: secret_key, and webhook_secrets, two while one is being changed. Without them no credits are sold."),
		SecretStringValue: awscdk.SecretValue_UnsafePlainText(jsii.String(emptyKeys)),
		RemovalPolicy:     s.removal(),
	})
}

// newFailedBatches is where Lambda leaves batches that it gives up, records
// included. Each becomes an object under a name of its own, never written
// again, so that versions would keep nothing. They hold what agents wrote and
// must not be kept for ever, nor longer than the markers (tables.MarkerKeep) that
// keep a record put through again from counting twice.
//
// A disposable stage's bucket has to be emptied before the stack can be
// destroyed: emptying it by CloudFormation takes a function with rights over
// every object.
func newFailedBatches(stack awscdk.Stack, s Settings) awss3.Bucket {
	return awss3.NewBucket(stack, jsii.String("FailedBatches"), &awss3.BucketProps{
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		EnforceSSL:        jsii.Bool(true),
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Expiration:                          awscdk.Duration_Days(jsii.Number(failedBatchesKeepDays)),
			AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(1)),
		}},
		RemovalPolicy: s.removal(),
	})
}
