package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// backups lists the types of AWS Backup that the setting copyTo adds.
var backups = []string{"AWS::Backup::BackupPlan", "AWS::Backup::BackupSelection", "AWS::Backup::BackupVault"}

// here returns a stage with copyTo in another region, unless more says otherwise.
func here(name string, more map[string]any) func() (*service, error) {
	context := map[string]any{"region": "eu-central-1", "copyTo": "arn:aws:backup:eu-west-1:123456789012:backup-vault:copies"}
	maps.Copy(context, more)
	return func() (*service, error) { return synthesise(name, fakes, context) }
}

var (
	copied    = sync.OnceValues(here("copied", nil))
	notCopied = sync.OnceValues(here("not-copied", map[string]any{"copyTo": ""}))
)

func TestCopies(t *testing.T) {
	s := of(t, whole)
	vault, made := s.only(t, "AWS::Backup::BackupVault")
	made.expect(t, "vault", map[string]string{"BackupVaultName": "agentsocial-prod", "EncryptionKeyArn": "", "AccessPolicy": "", "LockConfiguration": ""})
	made.keeps(t, "RetainExceptOnCreate")
	plan, x := s.only(t, "AWS::Backup::BackupPlan")
	x.expect(t, "plan", map[string]string{
		"BackupPlan": `{"BackupPlanName":"agentsocial-prod","BackupPlanRule":[{"CompletionWindowMinutes":720,` +
			`"CopyActions":[{"DestinationBackupVaultArn":"` + vaultARN + `","Lifecycle":{"DeleteAfterDays":30}}],` +
			`"Lifecycle":{"DeleteAfterDays":2},"RuleName":"daily","ScheduleExpression":"cron(0 3 * * ? *)","StartWindowMinutes":60,"TargetBackupVault":{"Ref":"` + vault + `"}}]}`,
	})
	role, _ := s.named(t, "AWS::IAM::Role", "BackupRole")
	table, _ := s.only(t, "AWS::DynamoDB::Table")
	_, selection := s.only(t, "AWS::Backup::BackupSelection")
	selection.expect(t, "selection", map[string]string{
		"BackupPlanId":    "${" + plan + "}",
		"BackupSelection": `{"IamRoleArn":{"Fn::GetAtt":["` + role + `","Arn"]},"Resources":[{"Fn::GetAtt":["` + table + `","Arn"]}],"SelectionName":"table"}`,
	})
	_, alarm := s.named(t, "AWS::CloudWatch::Alarm", "NotCopied")
	want := "SUM(METRICS()) of m1=Sum of AWS/Backup NumberOfCopyJobsCompleted BackupVaultName=${" + vault + "}, " +
		"m2=Sum of AWS/Backup NumberOfCopyJobsCompleted BackupVaultName=agentsocial-copies in 21600 s LessThanThreshold 1, 6 times, missing is breaching"
	if got := alarm.rings(); got != want {
		t.Errorf("the alarm is\n  %s, want\n  %s", got, want)
	}
	if got := plain(s.Outputs["BackupVault"].Value); got != "${"+vault+"}" {
		t.Errorf("got the output BackupVault %s, want the vault", got)
	}
}

func TestCopiesOfRestored(t *testing.T) {
	const name = "agentsocial-prod-Table-restored"
	s := of(t, here("restored-copied", map[string]any{"restoredTable": name, "restoredStream": "arn:aws:dynamodb:eu-central-1:123456789012:table/" + name + "/stream/2026-11-21T00:00:00.000"}))
	_, selection := s.only(t, "AWS::Backup::BackupSelection")
	if got := plain(selection.Properties["BackupSelection"]); !strings.Contains(got, ":table/"+name) || strings.Contains(got, "TableCD117FA1") {
		t.Errorf("the plan backs up %s, want only %s", got, name)
	}
}

func TestReplicas(t *testing.T) {
	inRegion := func(region string) string { return `[{"Region":"` + region + `"}]` }
	for name, c := range map[string]struct {
		which func() (*service, error)
		want  string
	}{
		"another region":  {copied, inRegion("eu-west-1")},
		"another account": {whole, inRegion("eu-west-1")},
		"same region":     {here("account-copied", map[string]any{"region": "eu-west-1", "account": "210987654321"}), ""},
		"off":             {fake, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := of(t, c.which)
			for id, want := range map[string]string{secretID: c.want, pepperID: c.want, paymentsID: ""} {
				s.Resources[id].expect(t, id, map[string]string{"ReplicaRegions": want})
			}
			for _, id := range []string{secretID, pepperID} {
				s.Resources[id].expect(t, id, map[string]string{"GenerateSecretString": `{"ExcludePunctuation":true,"IncludeSpace":false,"PasswordLength":64}`})
			}
		})
	}
}

func TestCopiesAddNothingElse(t *testing.T) {
	off, on := of(t, notCopied), of(t, copied)
	var added []string
	for id, r := range on.Resources {
		before, ok := off.Resources[id]
		if !ok {
			added = append(added, r.Type)
			continue
		}
		if id != secretID && id != pepperID && plain(before.Properties) != plain(r.Properties) {
			t.Errorf("%s: copyTo changes it from\n  %s\nto\n  %s\nwant no change", id, plain(before.Properties), plain(r.Properties))
		}
	}
	slices.Sort(added)
	if want := append(slices.Clone(backups), "AWS::CloudWatch::Alarm", "AWS::IAM::Role"); !slices.Equal(added, want) {
		t.Errorf("copyTo adds %v, want %v", added, want)
	}
	for _, which := range []func() (*service, error){fake, defaults, trial, restored} {
		s := of(t, which)
		for _, kind := range backups {
			if found := s.all(kind); len(found) > 0 {
				t.Errorf("without copyTo: got %v, want no %s", keys(found), kind)
			}
		}
	}
}

func TestCopiesKeepPrivacyPromise(t *testing.T) {
	page, err := os.ReadFile("../functions/docs/pages/privacy.md")
	if want := fmt.Sprintf("Backups of the database keep deleted data for %d days", copyDaysMost); err != nil || !strings.Contains(string(page), want) {
		t.Errorf("/privacy lacks the sentence %q (error %v)", want, err)
	}
}

func TestExistingSecrets(t *testing.T) {
	s := of(t, func() (*service, error) {
		return synthesise("elsewhere", all(), map[string]any{"existingSecrets": "true"})
	})
	if got := keys(s.all("AWS::SecretsManager::Secret")); !slices.Equal(got, []string{paymentsID}) {
		t.Errorf("got the secrets %v, want only %s", got, paymentsID)
	}
	form := "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:agentsocial/prod/%s"
	for variable, secret := range map[string]string{"SECRET_ARN": "seal", "PEPPER_ARN": "pepper"} {
		arn := fmt.Sprintf(form, secret)
		readers := 0
		for _, name := range s.names() {
			_, f := s.function(t, name)
			has := plain(f.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)[variable])
			may := slices.Contains(s.statements(t, name), "secretsmanager:GetSecretValue on "+arn+"-??????")
			if has != "" && has != arn || may != (has != "") {
				t.Errorf("%s has %s %q and may read it: %v; want %s and the right to read it, or neither", name, variable, has, may, arn)
			}
			if may {
				readers++
			}
		}
		if readers == 0 {
			t.Errorf("no function reads the %s", secret)
		}
	}
}
