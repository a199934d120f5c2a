package sam

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// beyond lists variables that functions on a laptop may need and the template may lack: the
// addresses of the stand-ins, LOCAL, and settings that differ from their defaults.
var beyond = []string{
	"AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_SECRETS_MANAGER", "AWS_ENDPOINT_URL_SESV2", "LOCAL",
	"LIMITS", "WEB_ORIGINS",
}

// localise adapts a synthesised template for SAM, and returns it with the names of all
// functions' variables. The functions' code is in folder. Each function gets its variables and
// those in beyond, with the values in vars. A variable without a value is deleted.
func localise(template []byte, folder string, vars map[string]string) ([]byte, map[string]bool, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, nil, err
	}
	var t map[string]any
	if err := json.Unmarshal(template, &t); err != nil {
		return nil, nil, err
	}
	names := map[string]bool{}
	resources, _ := t["Resources"].(map[string]any)
	for id, r := range resources {
		r, _ := r.(map[string]any)
		metadata, _ := r["Metadata"].(map[string]any)
		path, _ := metadata["aws:cdk:path"].(string)
		delete(metadata, "aws:cdk:path") // SAM would take the resource's id from it
		if r["Type"] != "AWS::Lambda::Function" {
			continue
		}
		properties, _ := r["Properties"].(map[string]any)
		environment, _ := properties["Environment"].(map[string]any)
		own, _ := environment["Variables"].(map[string]any)
		parts := strings.Split(path, "/")
		if own == nil || len(parts) != 4 {
			return nil, nil, fmt.Errorf("%s is not one of this service's functions", id)
		}
		properties["Architectures"] = []string{architecture()}
		metadata["aws:asset:path"] = filepath.Join(folder, parts[1])
		for _, name := range slices.Concat(slices.Collect(maps.Keys(own)), beyond) {
			names[name] = true
			if own[name] = vars[name]; vars[name] == "" {
				delete(own, name)
			}
		}
	}
	b, err := json.MarshalIndent(t, "", " ")
	return b, names, err
}
