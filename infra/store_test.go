package main

import (
	"slices"
	"strings"
	"testing"
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
// or write it; the stack's own stays.
func TestRestoredTable(t *testing.T) {
	s := of(t, restored)
	id, own := s.only(t, "AWS::DynamoDB::Table")
	own.keeps(t, "Retain")
	own.expect(t, "the stack's own table", map[string]string{"DeletionProtectionEnabled": "true", "TableName": ""})
	const arn = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/restored"
	const stream = "arn:aws:dynamodb:eu-central-1:123456789012:table/restored/stream/2026-11-21T00:00:00.000"
	may := s.rights()
	for _, name := range s.names() {
		_, f := s.function(t, name)
		has := f.Properties["Environment"].(map[string]any)["Variables"].(map[string]any)["TABLE"]
		if has != nil && has != "restored" {
			t.Errorf("%s has the table %v", name, has)
		}
		var over []string
		for _, line := range s.statements(t, name) {
			if _, resource, _ := strings.Cut(line, " on "); strings.HasPrefix(line, "dynamodb:") {
				resource, _, _ = strings.Cut(resource, " if ")
				over = append(over, resource)
			}
			if strings.Contains(line, id) {
				t.Errorf("%s may %s", name, line)
			}
		}
		for _, resource := range over {
			if resource != arn && !strings.HasPrefix(resource, arn+"/index/") && resource != arn+"/stream/*" && resource != stream {
				t.Errorf("%s has rights over %s", name, resource)
			}
		}
		if slices.Contains(over, arn) != (has != nil) || slices.Contains(over, stream) != may[name].Stream {
			t.Errorf("%s, which has the table %v, has rights over\n  %s", name, has, strings.Join(over, "\n  "))
		}
	}
	mappings := s.all("AWS::Lambda::EventSourceMapping")
	for id, m := range mappings {
		m.expect(t, id, map[string]string{"EventSourceArn": stream, "StartingPosition": "TRIM_HORIZON"})
	}
	if got := plain(s.Outputs["TableName"].Value); got != "restored" || len(mappings) != len(s.readers) {
		t.Errorf("the table is %s, with %d readers", got, len(mappings))
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
			s.Resources[id].keeps(t, "Retain")
		}
		s.Resources[paymentsID].expect(t, paymentsID, map[string]string{
			"Name":                 "agentsocial/prod/payments",
			"SecretString":         `{"secret_key":"","webhook_secrets":[]}`, // any change empties what an operator filled
			"GenerateSecretString": "",
		})
		s.Resources[paymentsID].keeps(t, "Retain")
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
		bucket.keeps(t, "Retain")
		_, policy := s.only(t, "AWS::S3::BucketPolicy")
		policy.expect(t, "bucket policy", map[string]string{
			"Bucket": "${" + id + "}",
			"PolicyDocument": `{"Statement":[{"Action":"s3:*","Condition":{"Bool":{"aws:SecureTransport":"false"}},"Effect":"Deny","Principal":{"AWS":"*"},` +
				`"Resource":[{"Fn::GetAtt":["` + id + `","Arn"]},{"Fn::Join":["",[{"Fn::GetAtt":["` + id + `","Arn"]},"/*"]]}]}],"Version":"2012-10-17"}`,
		})
	})
}

// keeps tells what becomes of a resource that leaves the stack.
func (r resource) keeps(t *testing.T, want string) {
	t.Helper()
	if r.DeletionPolicy != want || r.UpdateReplacePolicy != want {
		t.Errorf("%s: deletion %s, replacement %s, want %s", r.Type, r.DeletionPolicy, r.UpdateReplacePolicy, want)
	}
}
