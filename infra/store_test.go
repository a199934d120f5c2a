package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentsocial/tables"
)

// What holds data is found again by its logical id: another one is another
// table, empty. These have been deployed.
func TestLogicalIDsOfWhatHoldsData(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		for kind, want := range map[string]string{
			"AWS::DynamoDB::Table":        "TableCD117FA1",
			"AWS::SecretsManager::Secret": paymentsID + " " + pepperID + " " + secretID,
			"AWS::S3::Bucket":             "FailedBatches983C92EC",
			"AWS::ApiGatewayV2::Api":      "Api",
		} {
			ids := keys(s.all(kind))
			slices.Sort(ids)
			if got := strings.Join(ids, " "); got != want {
				t.Errorf("%s is %s, was %s", kind, got, want)
			}
		}
	})
}

func TestTable(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		_, table := s.only(t, "AWS::DynamoDB::Table")
		table.expect(t, "table", map[string]string{
			"BillingMode":                      "PAY_PER_REQUEST",
			"KeySchema":                        `[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]`,
			"TimeToLiveSpecification":          `{"AttributeName":"ttl","Enabled":true}`,
			"StreamSpecification":              `{"StreamViewType":"NEW_AND_OLD_IMAGES"}`,
			"PointInTimeRecoverySpecification": `{"PointInTimeRecoveryEnabled":true}`,
			"DeletionProtectionEnabled":        "true",
			"SSESpecification":                 "", // a key that AWS owns
			"TableName":                        "", // CloudFormation's choice
			"AttributeDefinitions": `[{"AttributeName":"pk","AttributeType":"S"},{"AttributeName":"sk","AttributeType":"S"},` +
				`{"AttributeName":"rank_pk","AttributeType":"S"},{"AttributeName":"rank_sk","AttributeType":"S"},` +
				`{"AttributeName":"parent_pk","AttributeType":"S"},{"AttributeName":"parent_sk","AttributeType":"S"},` +
				`{"AttributeName":"author_pk","AttributeType":"S"},{"AttributeName":"author_sk","AttributeType":"S"}]`,
			"GlobalSecondaryIndexes": `[` +
				`{"IndexName":"by_rank","KeySchema":[{"AttributeName":"rank_pk","KeyType":"HASH"},{"AttributeName":"rank_sk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}},` +
				`{"IndexName":"by_parent","KeySchema":[{"AttributeName":"parent_pk","KeyType":"HASH"},{"AttributeName":"parent_sk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}},` +
				`{"IndexName":"by_author","KeySchema":[{"AttributeName":"author_pk","KeyType":"HASH"},{"AttributeName":"author_sk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}]`,
		})
		table.keeps(t, "Retain")
	})
}

// A table that was restored takes the place of the stack's own with all who read
// or write it; the stack's own stays. While it is set functions may use both, on
// the way there and back: TABLE changes minutes after their rights.
func TestRestoredTable(t *testing.T) {
	const arn = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/agentsocial-prod-Table-restored"
	const stream = "arn:aws:dynamodb:eu-central-1:123456789012:table/agentsocial-prod-Table-restored/stream/2026-11-21T00:00:00.000"
	back := func() (*service, error) {
		return synthesise("back", all(), map[string]any{"restoredTable": "agentsocial-prod-Table-restored"})
	}
	for way, c := range map[string]struct {
		which               func() (*service, error)
		table, stream, over string // in use, of which over is the ARN
	}{
		"there": {restored, "agentsocial-prod-Table-restored", stream, arn},
		"back":  {back, "${OWN}", "${OWN.StreamArn}", "${OWN.Arn}"},
	} {
		t.Run(way, func(t *testing.T) {
			s := of(t, c.which)
			id, own := s.only(t, "AWS::DynamoDB::Table")
			own.keeps(t, "Retain")
			own.expect(t, "the stack's own table", map[string]string{"DeletionProtectionEnabled": "true", "TableName": ""})
			here := strings.NewReplacer("OWN", id)
			both := []string{"${" + id + ".Arn}", arn}
			may := s.rights()
			for _, name := range s.names() {
				_, f := s.function(t, name)
				has := plain(f.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)["TABLE"])
				if has != "" && has != here.Replace(c.table) {
					t.Errorf("%s has the table %v", name, has)
				}
				over := map[string][]string{} // by action and what is below a table
				for _, line := range s.statements(t, name) {
					action, resource, _ := strings.Cut(line, " on ")
					if !strings.HasPrefix(action, "dynamodb:") {
						continue
					}
					resource, _, _ = strings.Cut(resource, " if ")
					if slices.Contains([]string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"}, action) {
						if resource != here.Replace(c.stream) {
							t.Errorf("%s reads the stream %s", name, resource)
						}
						continue
					}
					table, below, _ := strings.Cut(resource, "/index/")
					over[action+" "+below] = append(over[action+" "+below], table)
				}
				listed := over["dynamodb:ListStreams "]
				delete(over, "dynamodb:ListStreams ")
				if want := here.Replace(c.over) + "/stream/*"; may[name].Stream != slices.Equal(listed, []string{want}) {
					t.Errorf("%s lists the streams of %v, want %s", name, listed, want)
				}
				for what, names := range over {
					if slices.Sort(names); !slices.Equal(names, both) {
						t.Errorf("%s: %s is over %v, want %v", name, what, names, both)
					}
				}
				if (has != "") != (len(over) > 0) {
					t.Errorf("%s, which has the table %q, has rights %v", name, has, over)
				}
			}
			mappings := s.all("AWS::Lambda::EventSourceMapping")
			for id, m := range mappings {
				m.expect(t, id, map[string]string{"EventSourceArn": here.Replace(c.stream), "StartingPosition": "TRIM_HORIZON"})
			}
			if got := plain(s.Outputs["TableName"].Value); got != here.Replace(c.table) || len(mappings) != len(s.readers) {
				t.Errorf("the table is %s, with %d readers", got, len(mappings))
			}
		})
	}
}

// What the runbook writes back when it stops the clock is all that a schedule has.
func TestTheRunbookStopsTheClock(t *testing.T) {
	book, err := os.ReadFile("RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	query := regexp.MustCompile(`get-schedule [^{]*\{([^}]*)\}`).FindSubmatch(book)
	if query == nil {
		t.Fatal("it does not read schedules")
	}
	kept := strings.Split(string(query[1]), ",")
	for id, r := range of(t, ours).all("AWS::Scheduler::Schedule") {
		for name := range r.Properties {
			if name != "State" && !slices.Contains(kept, name+":"+name) {
				t.Errorf("%s has %s, which is lost: %s", id, name, query[1])
			}
		}
	}
	if !slices.Contains(kept, "Name:Name") || !slices.Contains(kept, "State:'$1'") {
		t.Errorf("%s", query[1])
	}
}

// A cap on reads is the table's and each index's; one on writes the table's
// alone, which the indexes follow.
func TestCaps(t *testing.T) {
	_, table := of(t, whole).only(t, "AWS::DynamoDB::Table")
	reads, writes := everything["tableReads"].(string), everything["tableWrites"].(string)
	table.expect(t, "table", map[string]string{
		"OnDemandThroughput":               `{"MaxReadRequestUnits":` + reads + `,"MaxWriteRequestUnits":` + writes + `}`,
		"ContributorInsightsSpecification": `{"Enabled":true}`,
	})
	for _, x := range table.Properties["GlobalSecondaryIndexes"].([]any) {
		if got := plain(x.(map[string]any)["OnDemandThroughput"]); got != `{"MaxReadRequestUnits":`+reads+`}` {
			t.Errorf("%v: %s", x.(map[string]any)["IndexName"], got)
		}
	}
	production(t, func(t *testing.T, s *service) {
		_, table := s.only(t, "AWS::DynamoDB::Table")
		table.expect(t, "table", map[string]string{"OnDemandThroughput": "", "ContributorInsightsSpecification": `{"Enabled":false}`})
	})

	// Where they do not come off by themselves the runbook does it, index by index.
	book, err := os.ReadFile("RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tables.Indexes {
		if !regexp.MustCompile(`for index in[a-z_ ]* ` + string(x.Name) + `\b`).Match(book) {
			t.Errorf("the runbook takes no cap off %s", x.Name)
		}
	}
}

// Resources of one type, which only their logical ids tell apart.
const (
	secretID = "SecretA720EF05"
	pepperID = "Pepper2B9638F2"

	paymentsID = "Payments130453D3"
)

func TestSecrets(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		for id, name := range map[string]string{secretID: "agentsocial/prod/seal", pepperID: "agentsocial/prod/pepper"} {
			s.Resources[id].expect(t, id, map[string]string{
				"Name": name,
				// Any change makes a new value, and voids what was made with the old.
				"GenerateSecretString": `{"ExcludePunctuation":true,"IncludeSpace":false,"PasswordLength":64}`,
			})
			s.Resources[id].keeps(t, "RetainExceptOnCreate")
		}
		s.Resources[paymentsID].expect(t, paymentsID, map[string]string{
			"Name":                 "agentsocial/prod/payments",
			"SecretString":         `{"secret_key":"","webhook_secrets":[]}`, // any change empties what an operator filled
			"GenerateSecretString": "",
		})
		s.Resources[paymentsID].keeps(t, "RetainExceptOnCreate")
	})
}

func TestFailedBatches(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		id, bucket := s.only(t, "AWS::S3::Bucket")
		bucket.expect(t, "bucket", map[string]string{
			"BucketEncryption":               `{"ServerSideEncryptionConfiguration":[{"ServerSideEncryptionByDefault":{"SSEAlgorithm":"AES256"}}]}`,
			"PublicAccessBlockConfiguration": `{"BlockPublicAcls":true,"BlockPublicPolicy":true,"IgnorePublicAcls":true,"RestrictPublicBuckets":true}`,
			"OwnershipControls":              `{"Rules":[{"ObjectOwnership":"BucketOwnerEnforced"}]}`,
			"LifecycleConfiguration":         `{"Rules":[{"AbortIncompleteMultipartUpload":{"DaysAfterInitiation":1},"ExpirationInDays":25,"Status":"Enabled"}]}`,
			"BucketName":                     "",
		})
		bucket.keeps(t, "RetainExceptOnCreate")
		_, policy := s.only(t, "AWS::S3::BucketPolicy")
		policy.expect(t, "bucket policy", map[string]string{
			"Bucket": "${" + id + "}",
			"PolicyDocument": `{"Statement":[{"Action":"s3:*","Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny","Principal":{"AWS":"*"},` +
				`"Resource":[{"Fn::GetAtt":["` + id + `","Arn"]},{"Fn::Join":["",[{"Fn::GetAtt":["` + id + `","Arn"]},"/*"]]}]}],"Version":"2012-10-17"}`,
		})
	})
}

// keeps tells what becomes of a resource that leaves the stack; one that is
// replaced always stays.
func (r resource) keeps(t *testing.T, deletion string) {
	t.Helper()
	if r.DeletionPolicy != deletion || r.UpdateReplacePolicy != "Retain" {
		t.Errorf("%s: deletion %s, replacement %s, want %s and Retain", r.Type, r.DeletionPolicy, r.UpdateReplacePolicy, deletion)
	}
}
