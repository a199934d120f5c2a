package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"agentsocial/shared/lambda/stream"
)

func TestMappings(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		tableID, _ := s.only(t, "AWS::DynamoDB::Table")
		bucketID, _ := s.only(t, "AWS::S3::Bucket")
		mappings := s.all("AWS::Lambda::EventSourceMapping")
		if len(mappings) != len(s.readers) {
			t.Errorf("got %d mappings, want one for each of %d readers", len(mappings), len(s.readers))
		}
		for _, r := range s.readers {
			function, _ := s.function(t, r.Name)
			i := slices.IndexFunc(keys(mappings), func(id string) bool { return strings.HasPrefix(id, r.Name+"Function") })
			if i < 0 {
				t.Errorf("%s has no mapping", r.Name)
				continue
			}
			m := mappings[keys(mappings)[i]]
			m.expect(t, r.Name, map[string]string{
				"FunctionName":                   "${" + function + ".Arn}",
				"EventSourceArn":                 "${" + tableID + ".StreamArn}",
				"StartingPosition":               "TRIM_HORIZON",
				"BatchSize":                      strconv.Itoa(r.Batch),
				"MaximumBatchingWindowInSeconds": strconv.Itoa(int(r.Window.Seconds())),
				"ParallelizationFactor":          "1",
				"BisectBatchOnFunctionError":     "true",
				"FunctionResponseTypes":          `["ReportBatchItemFailures"]`,
				"MaximumRetryAttempts":           "10",
				"MaximumRecordAgeInSeconds":      "43200", // the stream keeps 24 hours
				"MetricsConfig":                  `{"Metrics":["EventCount"]}`,
				"DestinationConfig":              `{"OnFailure":{"Destination":{"Fn::GetAtt":["` + bucketID + `","Arn"]}}}`,
			})
			var got []string
			for _, f := range m.Properties["FilterCriteria"].(map[string]any)["Filters"].([]any) {
				got = append(got, f.(map[string]any)["Pattern"].(string))
			}
			if want, _ := patternsOf(r); !slices.Equal(got, want) || len(got) > 5 {
				t.Errorf("%s: filters %v, want %v, at most 5", r.Name, got, want)
			}
		}
	})
}

func TestReadersAreDeployedFirst(t *testing.T) {
	production(t, func(t *testing.T, s *service) {
		mappings := keys(s.all("AWS::Lambda::EventSourceMapping"))
		for _, name := range s.names() {
			_, f := s.function(t, name)
			after := list(f.DependsOn)
			reader := slices.ContainsFunc(s.readers, func(r stream.Function) bool { return r.Name == name })
			for _, m := range mappings {
				if slices.Contains(after, m) == reader {
					t.Errorf("%s depends on %v; on mapping %s: got %v, want %v", name, after, m, reader, !reader)
				}
			}
		}
	})
}

func TestFilters(t *testing.T) {
	want := [][]string{
		{
			`{"dynamodb":{"NewImage":{"type":{"S":["post","profile"]}}},"eventName":["INSERT"]}`,
			`{"dynamodb":{"NewImage":{"type":{"S":["profile"]}}},"eventName":["MODIFY"]}`,
		},
		{
			`{"dynamodb":{"NewImage":{"type":{"S":["vote"]}}},"eventName":["INSERT","MODIFY"]}`,
			`{"dynamodb":{"OldImage":{"type":{"S":["vote"]}}},"eventName":["REMOVE"]}`,
		},
	}
	for i, r := range fakeReaders {
		if got, err := patternsOf(r); err != nil || !slices.Equal(got, want[i]) {
			t.Errorf("%s: got patterns %v, %v; want %v", r.Name, got, err, want[i])
		}
	}
}

func keys[V any](m map[string]V) []string {
	var k []string
	for name := range m {
		k = append(k, name)
	}
	slices.Sort(k)
	return k
}
