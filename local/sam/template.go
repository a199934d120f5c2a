package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// elsewhere are the variables that no deployment sets.
var elsewhere = []string{"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SECRETS_MANAGER", "AWS_ENDPOINT_URL_SESV2", "LOCAL"}

// localised is a template whose functions are those that were built in a folder
// for this machine, and whose variables, of which each function keeps its own,
// have the values that are given.
func localised(template []byte, folder string, vars map[string]string) ([]byte, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	var t map[string]any
	if err := json.Unmarshal(template, &t); err != nil {
		return nil, err
	}
	resources, _ := t["Resources"].(map[string]any)
	for id, r := range resources {
		r, _ := r.(map[string]any)
		metadata, _ := r["Metadata"].(map[string]any)
		path, _ := metadata["aws:cdk:path"].(string) // stack/function/Function/Resource
		delete(metadata, "aws:cdk:path")             // SAM takes it for one of its own
		if r["Type"] != "AWS::Lambda::Function" {
			continue
		}
		properties, _ := r["Properties"].(map[string]any)
		environment, _ := properties["Environment"].(map[string]any)
		own, _ := environment["Variables"].(map[string]any)
		parts := strings.Split(path, "/")
		if own == nil || len(parts) != 4 {
			return nil, fmt.Errorf("%s is no function of this service's", id)
		}
		properties["Architectures"] = []string{map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]}
		metadata["aws:asset:path"] = filepath.Join(folder, parts[1])
		for name := range own {
			if own[name] = vars[name]; vars[name] == "" {
				delete(own, name)
			}
		}
		for _, name := range elsewhere {
			own[name] = vars[name]
		}
	}
	return json.MarshalIndent(t, "", " ")
}
