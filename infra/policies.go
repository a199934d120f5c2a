package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// writePolicies writes each policy of the roles in a folder's templates to a file of its
// own, for linters that do not read templates. It replaces each reference by an example.
func writePolicies(assembly, into string) error {
	files, err := filepath.Glob(filepath.Join(assembly, "*.template.json"))
	if err != nil {
		return err
	}
	if err := os.RemoveAll(into); err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	n := 0
	var problems []error
	for _, file := range files {
		var t struct {
			Resources map[string]struct {
				Type       string
				Properties map[string]any
			}
		}
		if err := readJSON(file, &t); err != nil {
			return err
		}
		typeOf := func(id string) string { return t.Resources[id].Type }
		for id, r := range t.Resources {
			if r.Type != "AWS::IAM::Role" {
				continue
			}
			policies, _ := r.Properties["Policies"].([]any)
			for i, p := range policies {
				document, err := resolved(p.(map[string]any)["PolicyDocument"], typeOf)
				if err != nil {
					problems = append(problems, fmt.Errorf("%s: %w", id, err))
					continue
				}
				b, err := json.MarshalIndent(document, "", " ")
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(into, fmt.Sprintf("%s-%d.json", id, i)), b, 0o644); err != nil {
					return err
				}
				n++
			}
		}
	}
	if n == 0 {
		problems = append(problems, fmt.Errorf("%s has no policies; run `make synth`", assembly))
	}
	return errors.Join(problems...)
}

// Examples of what CloudFormation puts in place of references.
const exampleAccount = "123456789012"

var pseudo = map[string]string{
	"AWS::Partition": "aws", "AWS::Region": "eu-central-1", "AWS::AccountId": exampleAccount, "AWS::URLSuffix": "amazonaws.com", "AWS::StackName": "agentsocial-prod",
}

// exampleARNs holds an example of an ARN for each type that policies name. % stands for the
// resource's name.
var exampleARNs = map[string]string{
	"AWS::Backup::BackupVault":    "arn:aws:backup:eu-central-1:" + exampleAccount + ":backup-vault:%",
	"AWS::DynamoDB::Table":        "arn:aws:dynamodb:eu-central-1:" + exampleAccount + ":table/%",
	"AWS::Lambda::Function":       "arn:aws:lambda:eu-central-1:" + exampleAccount + ":function:%",
	"AWS::Logs::LogGroup":         "arn:aws:logs:eu-central-1:" + exampleAccount + ":log-group:%:*",
	"AWS::S3::Bucket":             "arn:aws:s3:::%",
	"AWS::SQS::Queue":             "arn:aws:sqs:eu-central-1:" + exampleAccount + ":%",
	"AWS::SecretsManager::Secret": "arn:aws:secretsmanager:eu-central-1:" + exampleAccount + ":secret:%-AbCdEf",
}

// resolved returns v with examples in place of its references.
func resolved(v any, typeOf func(id string) string) (any, error) {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			var err error
			if out[i], err = resolved(x, typeOf); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		if len(v) == 1 {
			for name, of := range v {
				if name == "Ref" || strings.HasPrefix(name, "Fn::") {
					return exampleOf(name, of, typeOf)
				}
			}
		}
		out := map[string]any{}
		for name, x := range v {
			var err error
			if out[name], err = resolved(x, typeOf); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// exampleOf returns an example of what an intrinsic function returns.
func exampleOf(function string, of any, typeOf func(id string) string) (string, error) {
	arn := func(id string) (string, error) {
		example, ok := exampleARNs[typeOf(id)]
		if !ok {
			return "", fmt.Errorf("there is no example of the ARN of a %s; add it to exampleARNs in infra/policies.go", typeOf(id))
		}
		return strings.ReplaceAll(example, "%", strings.ToLower(id)), nil
	}
	switch parts, _ := of.([]any); function {
	case "Ref":
		id := fmt.Sprint(of)
		if name, ok := pseudo[id]; ok {
			return name, nil
		}
		if typeOf(id) == "AWS::SecretsManager::Secret" { // its Ref is its ARN
			return arn(id)
		}
		return strings.ToLower(id), nil
	case "Fn::GetAtt":
		id, attribute := fmt.Sprint(parts[0]), fmt.Sprint(parts[1])
		whole, err := arn(id)
		if attribute == "StreamArn" {
			whole += "/stream/2026-01-02" // a real ARN has colons there, which the linter parliament takes for separators
		}
		return whole, err
	case "Fn::Join":
		list, err := resolved(parts[1], typeOf)
		if err != nil {
			return "", err
		}
		var texts []string
		for _, x := range list.([]any) {
			texts = append(texts, fmt.Sprint(x))
		}
		return strings.Join(texts, fmt.Sprint(parts[0])), nil
	}
	return "", fmt.Errorf("the function %s is not known; add it to infra/policies.go", function)
}
