package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/tables"
)

// failedBatchesKeepDays is shorter than tables.MarkerKeep: see newFailedBatches.
const failedBatchesKeepDays = 25

// store holds the resources with data, which outlive a deployment. The secrets are
// separate, because different functions read them.
type store struct {
	table  awsdynamodb.ITable // in use
	other  awsdynamodb.ITable // not in use, see inUse; nil unless restoredTable is set
	secret awssecretsmanager.ISecret
	pepper awssecretsmanager.ISecret
	failed awss3.Bucket

	payments awssecretsmanager.Secret
}

func newStore(stack awscdk.Stack, s Settings) store {
	table, other := inUse(stack, s, newTable(stack, s))
	return store{table, other, newSecret(stack, s), newPepper(stack, s), newFailedBatches(stack, s), newPayments(stack, s)}
}

// inUse returns the table in use and, if restoredTable is set, the table that is not in
// use. The restored table is in use if restoredStream is set, too. `make restore` gave it
// its stream, recovery, protection and TTL.
//
// Functions have the same permissions for both tables. A deployment changes their roles
// minutes before their environment, and calls in between must not fail. To go back to the
// stack's own table, the operator first empties only the setting restoredStream.
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

// newTable makes the single table, as package tables describes it. It is encrypted at rest
// with a key that AWS owns, which is free.
func newTable(stack awscdk.Stack, s Settings) awsdynamodb.Table {
	attribute := func(name string) *awsdynamodb.Attribute {
		return &awsdynamodb.Attribute{Name: jsii.String(name), Type: awsdynamodb.AttributeType_STRING}
	}
	p := s.chosenCapacity()
	table := awsdynamodb.NewTable(stack, jsii.String("Table"), &awsdynamodb.TableProps{
		PartitionKey: attribute(tables.AttrPK),
		SortKey:      attribute(tables.AttrSK),
		BillingMode:  p.mode,
		ReadCapacity: unlessZero(p.tableReads.least), WriteCapacity: unlessZero(p.tableWrites.least),
		TableClass:          s.tableClass(),
		TimeToLiveAttribute: jsii.String(tables.AttrTTL),
		Stream:              awsdynamodb.StreamViewType_NEW_AND_OLD_IMAGES,
		PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
			PointInTimeRecoveryEnabled: jsii.Bool(true),
		},
		DeletionProtection:  jsii.Bool(s.protected()),
		RemovalPolicy:       s.removalOfTable(),
		MaxReadRequestUnits: unlessZero(p.capReads), MaxWriteRequestUnits: unlessZero(p.capWrites),
		WarmThroughput:                   s.warm(),
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

			// No cap on the index's writes: it would slow the table down.
			MaxReadRequestUnits: unlessZero(p.capReads),
			ReadCapacity:        unlessZero(p.indexReads.least), WriteCapacity: unlessZero(p.indexWrites.least),
			WarmThroughput: s.warm(),
		})
	}
	s.scale(table)
	return table
}

// tableClass returns the class of the table and its indexes. It is always in the template,
// so that CloudFormation also changes it back to Standard.
func (s Settings) tableClass() awsdynamodb.TableClass {
	if s.TableClass == classRare {
		return awsdynamodb.TableClass_STANDARD_INFREQUENT_ACCESS
	}
	return awsdynamodb.TableClass_STANDARD
}

// warm returns the throughput that the table and each index can serve without scaling
// first; nil for AWS's default.
func (s Settings) warm() *awsdynamodb.WarmThroughput {
	if s.WarmReads == 0 && s.WarmWrites == 0 {
		return nil
	}
	return &awsdynamodb.WarmThroughput{ReadUnitsPerSecond: unlessZero(s.WarmReads), WriteUnitsPerSecond: unlessZero(s.WarmWrites)}
}

func unlessZero(n int) *float64 {
	if n == 0 {
		return nil
	}
	return jsii.Number(float64(n))
}

// newSecret makes the secret that seals tokens and derives keys. It has one value per line.
// The first line encrypts and every line decrypts, so rotation logs nobody out.
func newSecret(stack awscdk.Stack, s Settings) awssecretsmanager.ISecret {
	return generated(stack, s, "Secret", "seal", "Encrypts tokens and derives keys. One key per line: the first encrypts, all decrypt. Removing a line voids what it encrypted.")
}

// newPepper makes the key for hashes of mail addresses. It must never change: with another
// pepper a verified address is unknown, and its agent cannot be recovered.
func newPepper(stack awscdk.Stack, s Settings) awssecretsmanager.ISecret {
	return generated(stack, s, "Pepper", "pepper", "The key of the hashes of mail addresses. Never change it: with another value every verified address is unknown.")
}

// generated makes a secret of 64 random letters and digits, 381 bits. Never change
// GenerateSecretString: Secrets Manager would generate a new value.
//
// With existingSecrets the stack uses the secret that already has the name, such as a
// promoted replica.
func generated(stack awscdk.Stack, s Settings, id, name, doc string) awssecretsmanager.ISecret {
	name = "agentsocial/" + s.Stage + "/" + name
	if s.ExistingSecrets {
		return awssecretsmanager.Secret_FromSecretNameV2(stack, jsii.String(id), jsii.String(name))
	}
	return awssecretsmanager.NewSecret(stack, jsii.String(id), &awssecretsmanager.SecretProps{
		SecretName:     jsii.String(name),
		Description:    jsii.String(doc),
		ReplicaRegions: s.replicas(),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			PasswordLength:     jsii.Number(64),
			ExcludePunctuation: jsii.Bool(true),
			IncludeSpace:       jsii.Bool(false),
		},
		RemovalPolicy: s.removal(),
	})
}

// emptyKeys is the first value of the payments secret. An operator replaces it. Never
// change the text: CloudFormation writes it whenever it changes, which would empty the
// secret.
const emptyKeys = `{"secret_key":"","webhook_secrets":[]}`

func paymentsName(s Settings) string { return "agentsocial/" + s.Stage + "/payments" }

// newPayments makes the secret for the payment processor's keys.
func newPayments(stack awscdk.Stack, s Settings) awssecretsmanager.Secret {
	return awssecretsmanager.NewSecret(stack, jsii.String("Payments"), &awssecretsmanager.SecretProps{
		SecretName:        jsii.String(paymentsName(s)),
		Description:       jsii.String("The payment processor's keys: secret_key, and webhook_secrets, two while one is being changed. Without them no credits are sold."),
		SecretStringValue: awscdk.SecretValue_UnsafePlainText(jsii.String(emptyKeys)),
		RemovalPolicy:     s.removal(),
	})
}

// newFailedBatches makes the bucket for the batches that readers gave up on. Batches expire
// before the markers (tables.MarkerKeep) that keep a redriven record from counting twice.
//
// A disposable stage's bucket must be emptied by hand before the stack is destroyed. To
// empty it, CloudFormation would need a function with permissions for every object.
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
