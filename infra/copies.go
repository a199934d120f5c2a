package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbackup"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/infra/awscli"
)

const (
	// backupKeepDays is short, because a backup is kept only to be copied. The second day
	// lets an operator repeat a copy that failed.
	backupKeepDays = 2

	// backupAt is when the daily backup starts, in UTC.
	backupAt = "cron(0 3 * * ? *)"

	// AWS Backup gives up a backup that has not started after backupStarts minutes, or has
	// not ended after backupEnds minutes.
	backupStarts = 60
	backupEnds   = 12 * 60

	// The alarm rings after copyWatchTimes periods of copyWatch without a copy.
	copyWatch      = 6 * time.Hour
	copyWatchTimes = 6
)

// copyElsewhere has AWS Backup copy the table once a day to the vault copyTo, if that is
// set. This has not been tried in an AWS account.
//
// A copy can leave the region or the account only with AWS Backup's advanced features for
// DynamoDB. CloudFormation cannot turn them on, so `make preflight` checks them. A backup
// and its copy are encrypted with the keys of their vaults. Both may be AWS's own keys,
// also across accounts.
// https://docs.aws.amazon.com/aws-backup/latest/devguide/advanced-ddb-backup.html
// https://docs.aws.amazon.com/aws-backup/latest/devguide/create-cross-account-backup.html
func (d deployment) copyElsewhere(stack awscdk.Stack) {
	if d.CopyTo == "" {
		return
	}
	vault := awsbackup.NewCfnBackupVault(stack, jsii.String("Backups"), &awsbackup.CfnBackupVaultProps{BackupVaultName: jsii.String("agentsocial-" + d.Stage)})
	vault.ApplyRemovalPolicy(d.removal(), nil) // a vault with backups cannot be deleted
	plan := awsbackup.NewCfnBackupPlan(stack, jsii.String("BackupPlan"), &awsbackup.CfnBackupPlanProps{
		BackupPlan: &awsbackup.CfnBackupPlan_BackupPlanResourceTypeProperty{
			BackupPlanName: stack.StackName(),
			BackupPlanRule: []any{&awsbackup.CfnBackupPlan_BackupRuleResourceTypeProperty{
				RuleName: jsii.String("daily"), TargetBackupVault: vault.Ref(),
				ScheduleExpression: jsii.String(backupAt), StartWindowMinutes: jsii.Number(backupStarts), CompletionWindowMinutes: jsii.Number(backupEnds),
				Lifecycle: keepFor(backupKeepDays),
				CopyActions: []any{&awsbackup.CfnBackupPlan_CopyActionResourceTypeProperty{
					DestinationBackupVaultArn: jsii.String(d.CopyTo), Lifecycle: keepFor(d.CopyDays),
				}},
			}},
		},
	})
	role := awsiam.NewRole(stack, jsii.String("BackupRole"), &awsiam.RoleProps{
		Description:    jsii.String("What AWS Backup may do: back the table up, and copy the backups to the vault copyTo"),
		AssumedBy:      awsiam.NewServicePrincipal(jsii.String("backup.amazonaws.com"), nil),
		InlinePolicies: &map[string]awsiam.PolicyDocument{"own": d.backupPolicy(stack, vault)},
	})
	awsbackup.NewCfnBackupSelection(stack, jsii.String("BackedUp"), &awsbackup.CfnBackupSelectionProps{
		BackupPlanId: plan.Ref(),
		BackupSelection: &awsbackup.CfnBackupSelection_BackupSelectionResourceTypeProperty{
			SelectionName: jsii.String("table"), IamRoleArn: role.RoleArn(), Resources: &[]*string{d.store.table.TableArn()},
		},
	})
	d.watchCopies(stack, vault)
	output(stack, "BackupVault", vault.Ref(), "Where AWS Backup keeps a backup of the table until it is copied to the vault of the setting copyTo")
}

func keepFor(days int) *awsbackup.CfnBackupPlan_LifecycleResourceTypeProperty {
	return &awsbackup.CfnBackupPlan_LifecycleResourceTypeProperty{DeleteAfterDays: jsii.Number(float64(days))}
}

// backupPolicy returns what AWS Backup needs for backups and copies of the table. It lacks
// dynamodb:CreateBackup on purpose: with it, backups without the advanced features would
// succeed, but could not be copied.
func (d deployment) backupPolicy(stack awscdk.Stack, vault awsbackup.CfnBackupVault) awsiam.PolicyDocument {
	to := jsii.String(d.CopyTo)
	// AWS Backup chooses the names of recovery points.
	own := stack.FormatArn(&awscdk.ArnComponents{Service: jsii.String("backup"), Resource: jsii.String("recovery-point"), ResourceName: jsii.String("*"), ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME})
	place, _, _ := strings.Cut(d.CopyTo, vaultPart)
	copies := jsii.String(place + ":recovery-point:*")
	allow := func(sid string, actions []string, resources ...*string) awsiam.PolicyStatement {
		return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Sid: jsii.String(sid), Actions: jsii.Strings(actions...), Resources: &resources})
	}
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &[]awsiam.PolicyStatement{
		allow("BackUp", []string{"dynamodb:DescribeTable", "dynamodb:ListTagsOfResource", "dynamodb:StartAwsBackupJob"}, d.store.table.TableArn()),
		allow("Vaults", []string{"backup:DescribeBackupVault"}, vault.AttrBackupVaultArn(), to),
		allow("CopyFrom", []string{"backup:CopyFromBackupVault"}, own),
		allow("CopyInto", []string{"backup:CopyIntoBackupVault"}, to),
		allow("Tag", []string{"backup:TagResource"}, own, copies), // backups get the table's tags
	}})
}

// watchCopies makes the alarm of copies that do not arrive. A copy is the last step, so the
// alarm also rings if the backup before it fails.
//
// AWS does not say whether the metric is under the name of the backup's vault or of the
// copy's, so the alarm adds up both.
func (d deployment) watchCopies(stack awscdk.Stack, vault awsbackup.CfnBackupVault) {
	of := func(name *string) metric {
		return metric{Namespace: "AWS/Backup", Name: "NumberOfCopyJobsCompleted", By: []by{{"BackupVaultName", name}}}
	}
	_, _, name := d.copyVault()
	d.alarm(stack, "NotCopied", alarm{
		What: fmt.Sprintf("For %.0f hours no copy of the table has arrived in the vault of the setting copyTo. If this region or account were lost now, everything since the last copy would be lost, too. See AWS Backup's jobs for the reason.", (copyWatchTimes * copyWatch).Hours()),
		Of:   []metric{of(vault.Ref()), of(jsii.String(name))}, Every: copyWatch, Times: copyWatchTimes, Silent: true,
	})
}

// vaultPart is between the account and the name in a vault's ARN.
const vaultPart = ":backup-vault:"

// copyVault returns the region, the account and the name of the vault copyTo, which must be
// set.
func (s Settings) copyVault() (region, account, name string) {
	place, name, _ := strings.Cut(s.CopyTo, vaultPart)
	part := strings.Split(place, ":")
	return part[3], part[4], name
}

// replicas returns the region of the vault copyTo, to which the seal and the pepper are
// copied; nil if copyTo is empty or in the stage's own region. Replicas stay in the stage's
// account. If the vault is in another account, an operator copies the secrets there
// (runbook).
func (s Settings) replicas() *[]*awssecretsmanager.ReplicaRegion {
	if s.CopyTo == "" {
		return nil
	}
	region, _, _ := s.copyVault()
	if region == s.Region {
		return nil
	}
	return &[]*awssecretsmanager.ReplicaRegion{{Region: jsii.String(region)}}
}

// copying checks what AWS Backup needs to copy the table. If something is missing, the
// deployment still succeeds, but no copy arrives.
func (c *checks) copying() {
	if c.CopyTo == "" {
		c.ok("the table is not copied elsewhere (copyTo is empty)")
		return
	}
	region, account, vault := c.copyVault()
	var settings struct{ ResourceTypeManagementPreference map[string]bool }
	if c.ask("whether AWS Backup can copy tables", &settings, "backup", "describe-region-settings") {
		if settings.ResourceTypeManagementPreference["DynamoDB"] {
			c.ok("AWS Backup can copy tables from %s", c.aws.Region)
		} else {
			c.warn("Run aws backup update-region-settings --resource-type-management-preference DynamoDB=true --resource-type-opt-in-preference DynamoDB=true",
				"AWS Backup's advanced features for DynamoDB are off in %s: no copy can leave it", c.aws.Region)
		}
	}
	if account != c.account {
		c.ok("the vault %s is in the account %s, and was not checked", vault, account)
		return
	}
	there := awscli.CLI{Region: region}
	var found struct{ BackupVaultArn string }
	if err := there.Do(c.ctx, &found, "backup", "describe-backup-vault", "--backup-vault-name", vault); err != nil { // also if the vault does not exist
		c.warn("Run aws backup create-backup-vault --region "+region+" --backup-vault-name "+vault, "the vault %s in %s was not found: %v", vault, region, err)
		return
	}
	c.ok("the vault %s is in %s", vault, region)
}
