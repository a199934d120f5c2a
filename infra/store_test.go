package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentsocial/tables"
)

// Logical ids of data never change: another id means another, empty resource.
func TestLogicalIDsOfData(t *testing.T) {
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
				t.Errorf("%s: logical ids are %s, want %s", kind, got, want)
			}
		}
	})
}

func TestTable(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		_, table := s.only(t, "AWS::DynamoDB::Table")
		table.expect(t, "table", map[string]string{
			"BillingMode":                      "PAY_PER_REQUEST",
			"TableClass":                       "STANDARD",
			"KeySchema":                        `[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}]`,
			"TimeToLiveSpecification":          `{"AttributeName":"ttl","Enabled":true}`,
			"StreamSpecification":              `{"StreamViewType":"NEW_AND_OLD_IMAGES"}`,
			"PointInTimeRecoverySpecification": `{"PointInTimeRecoveryEnabled":true}`,
			"DeletionProtectionEnabled":        "true",
			"SSESpecification":                 "", // a key that AWS owns
			"TableName":                        "",
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

func TestTableClass(t *testing.T) {
	_, table := of(t, whole).only(t, "AWS::DynamoDB::Table")
	table.expect(t, "table", map[string]string{"TableClass": "STANDARD_INFREQUENT_ACCESS", "BillingMode": "PAY_PER_REQUEST"})
	table.keeps(t, "Retain")
}

// While restoredTable is set, functions have rights on both tables, because a deployment
// changes the variable TABLE minutes after the rights.
func TestRestoredTable(t *testing.T) {
	const arn = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/agentsocial-prod-Table-restored"
	const stream = "arn:aws:dynamodb:eu-central-1:123456789012:table/agentsocial-prod-Table-restored/stream/2026-11-21T00:00:00.000"
	back := func() (*service, error) {
		return synthesise("back", all(), map[string]any{"restoredTable": "agentsocial-prod-Table-restored"})
	}
	for way, c := range map[string]struct {
		which         func() (*service, error)
		table, stream string // of the table in use
	}{
		"there": {restored, "agentsocial-prod-Table-restored", stream},
		"back":  {back, "${OWN}", "${OWN.StreamArn}"},
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
					t.Errorf("TABLE of %s is %v, want %s", name, has, here.Replace(c.table))
				}
				over := map[string][]string{} // tables, by action and index
				for _, line := range s.statements(t, name) {
					action, resource, _ := strings.Cut(line, " on ")
					if !strings.HasPrefix(action, "dynamodb:") {
						continue
					}
					resource, _, _ = strings.Cut(resource, " if ")
					if slices.Contains([]string{"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"}, action) {
						if resource != here.Replace(c.stream) {
							t.Errorf("%s reads the stream %s, want %s", name, resource, here.Replace(c.stream))
						}
						continue
					}
					table, below, _ := strings.Cut(resource, "/index/")
					over[action+" "+below] = append(over[action+" "+below], table)
				}
				listed := over["dynamodb:ListStreams "]
				delete(over, "dynamodb:ListStreams ")
				if may[name].Stream != slices.Equal(listed, []string{"*"}) {
					t.Errorf("%s may list the streams of %v, want *, or none if it reads no stream", name, listed)
				}
				for what, names := range over {
					if slices.Sort(names); !slices.Equal(names, both) {
						t.Errorf("%s: %s is allowed on %v, want %v", name, what, names, both)
					}
				}
				if (has != "") != (len(over) > 0) {
					t.Errorf("%s with TABLE %q: got rights %v, want rights on tables if TABLE is set, and else none", name, has, over)
				}
			}
			mappings := s.all("AWS::Lambda::EventSourceMapping")
			for id, m := range mappings {
				m.expect(t, id, map[string]string{"EventSourceArn": here.Replace(c.stream), "StartingPosition": "TRIM_HORIZON"})
			}
			if got := plain(s.Outputs["TableName"].Value); got != here.Replace(c.table) || len(mappings) != len(s.readers) {
				t.Errorf("got the output TableName %s and %d mappings, want %s and %d", got, len(mappings), here.Replace(c.table), len(s.readers))
			}
		})
	}
}

func TestTheRunbookStopsTheClock(t *testing.T) {
	book, err := os.ReadFile("RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	query := regexp.MustCompile(`get-schedule [^{]*\{([^}]*)\}`).FindSubmatch(book)
	if query == nil {
		t.Fatal("the runbook has no get-schedule command")
	}
	kept := strings.Split(string(query[1]), ",")
	for id, r := range of(t, ours).all("AWS::Scheduler::Schedule") {
		for name := range r.Properties {
			if name != "State" && !slices.Contains(kept, name+":"+name) {
				t.Errorf("%s has %s, which the runbook's query drops: %s", id, name, query[1])
			}
		}
	}
	if !slices.Contains(kept, "Name:Name") || !slices.Contains(kept, "State:'$1'") {
		t.Errorf("the runbook's query lacks Name or State: %s", query[1])
	}
}

func TestCaps(t *testing.T) {
	_, table := of(t, whole).only(t, "AWS::DynamoDB::Table")
	reads, writes := everything["tableReads"].(string), everything["tableWrites"].(string)
	table.expect(t, "table", map[string]string{
		"OnDemandThroughput":               `{"MaxReadRequestUnits":` + reads + `,"MaxWriteRequestUnits":` + writes + `}`,
		"ContributorInsightsSpecification": `{"Enabled":true}`,
	})
	for _, x := range table.Properties["GlobalSecondaryIndexes"].([]any) {
		if got := plain(x.(map[string]any)["OnDemandThroughput"]); got != `{"MaxReadRequestUnits":`+reads+`}` {
			t.Errorf("index %v: throughput is %s, want a cap on reads only", x.(map[string]any)["IndexName"], got)
		}
	}
	production(t, func(t *testing.T, s *service) {
		_, table := s.only(t, "AWS::DynamoDB::Table")
		table.expect(t, "table", map[string]string{"OnDemandThroughput": "", "ContributorInsightsSpecification": `{"Enabled":false}`})
	})

	// CloudFormation cannot remove a cap, so the runbook must say how.
	book, err := os.ReadFile("RUNBOOK.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tables.Indexes {
		if !regexp.MustCompile(`for index in[a-z_ ]* ` + string(x.Name) + `\b`).Match(book) {
			t.Errorf("the runbook does not remove the cap of the index %s", x.Name)
		}
	}
}

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
				// A change here generates a new secret, which voids everything made with
				// the old one.
				"GenerateSecretString": `{"ExcludePunctuation":true,"IncludeSpace":false,"PasswordLength":64}`,
			})
			s.Resources[id].keeps(t, "RetainExceptOnCreate")
		}
		s.Resources[paymentsID].expect(t, paymentsID, map[string]string{
			"Name":                 "agentsocial/prod/payments",
			"SecretString":         `{"secret_key":"","webhook_secrets":[]}`, // any change overwrites the operator's keys
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

// keeps checks the deletion policy of a resource, and that a replaced one is retained.
func (r resource) keeps(t *testing.T, deletion string) {
	t.Helper()
	if r.DeletionPolicy != deletion || r.UpdateReplacePolicy != "Retain" {
		t.Errorf("%s: deletion %s, replacement %s, want %s and Retain", r.Type, r.DeletionPolicy, r.UpdateReplacePolicy, deletion)
	}
}

func TestUnprotected(t *testing.T) {
	s := of(t, func() (*service, error) {
		return synthesise("unprotected", all(), map[string]any{"unprotected": "true", "mailFrom": mailFrom})
	})
	_, table := s.only(t, "AWS::DynamoDB::Table")
	table.expect(t, "table", map[string]string{"DeletionProtectionEnabled": "false"})
	table.keeps(t, "RetainExceptOnCreate")
	kept := 0
	for id, r := range s.Resources {
		switch r.DeletionPolicy {
		case "RetainExceptOnCreate":
			kept++
		case "", "Delete":
		default:
			t.Errorf("%s: deletion policy is %s, want RetainExceptOnCreate, Delete or none", id, r.DeletionPolicy)
		}
	}
	if kept < 5 {
		t.Errorf("got %d resources that outlive the stack, want at least 5", kept)
	}
	for name, want := range map[string]bool{"prod": true, "dev": false} {
		if got := (Settings{Stage: name}).protected(); got != want {
			t.Errorf("stage %s: protected is %v, want %v", name, got, want)
		}
	}
}
