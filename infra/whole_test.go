package main

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The real template in each kind of deployment.
var (
	defaults    = sync.OnceValues(func() (*service, error) { return synthesise("defaults", all(), nil) })
	whole       = sync.OnceValues(func() (*service, error) { return synthesise("everything", all(), everything) })
	trial       = sync.OnceValues(func() (*service, error) { return synthesise("trial", all(), map[string]any{"stage": "dev"}) })
	provisioned = sync.OnceValues(func() (*service, error) {
		return synthesise("provisioned", all(), map[string]any{
			"capacity": "provisioned", "tableReads": "4000", "tableWrites": "2000", "tableReadsLeast": "100", "tableWritesLeast": "200", "indexReadsLeast": "10", "indexWritesLeast": "20", "capacityTarget": "70"})
	})
	edged = sync.OnceValues(func() (*service, error) {
		return synthesise("edge", all(), map[string]any{
			"region": "us-east-1", "edge": "true", "dashboard": "true", "webAcl": "own", "edgeSecretVersion": edgeVersion,
			"domain": "agents.example", "certificateArn": edgeCertificateARN, "hostedZone": "Z0123456789", "throttleRate": "100"})
	})
	restored = sync.OnceValues(func() (*service, error) {
		return synthesise("restored", all(), map[string]any{
			"restoredTable":  "agentsocial-prod-Table-restored",
			"restoredStream": "arn:aws:dynamodb:eu-central-1:123456789012:table/agentsocial-prod-Table-restored/stream/2026-11-21T00:00:00.000",
		})
	})
)

// deployments runs a check on each of these deployments.
func deployments(t *testing.T, check func(*testing.T, *service)) {
	needNode(t) // skips the whole test, not only its subtests
	t.Run("defaults", func(t *testing.T) { check(t, of(t, defaults)) })
	t.Run("everything", func(t *testing.T) { check(t, of(t, whole)) })
	t.Run("dev", func(t *testing.T) { check(t, of(t, trial)) })
	t.Run("provisioned", func(t *testing.T) { check(t, of(t, provisioned)) })
	t.Run("edge", func(t *testing.T) { check(t, of(t, edged)) })
	t.Run("restored", func(t *testing.T) { check(t, of(t, restored)) })
}

// everything changes each setting that is not in [others].
var everything = map[string]any{
	"region": "eu-central-1", "account": "123456789012",
	"domain": "agents.example", "certificateArn": certificateARN, "hostedZone": "Z0123456789",
	"powBits": "20", "pageBits": "15", "microUsdPerChar": "20", "limits": `{"posts_per_minute": 3}`, "webOrigins": "https://inspector.example",
	"throttleRate": "100", "throttleBurst": "200", "tableReads": "20000", "tableWrites": "5000", "tableClass": "infrequent-access", "warmReads": "15000", "warmWrites": "5000",
	"accountConcurrency": "2000", "groupConcurrency": `{"feed": 500, "docs": 0}`, "reservedConcurrency": "10", "budgetUsd": "50",
	"contact": "ops@agents.example", "index": "true", "mailFrom": mailFrom, "alarmMail": alarmMail, "logRetentionDays": "90", "logReads": "4", "canary": "true", "endpointMetrics": "true", "dashboard": "true", "xray": "true", "contributorInsights": "true",
	"copyTo": vaultARN, "copyDays": "30",
	"version": deployedVersion, "previousVersion": "v1.2.0",
}

const deployedVersion = "v1.2.0-3-g0123456789ab"

// others lists settings that choose another kind of deployment, or make fewer resources.
// Other tests cover them.
var others = []string{
	"capacity", "capacityTarget", "tableReadsLeast", "tableWritesLeast", "indexReadsLeast", "indexWritesLeast",
	"edge", "webAcl", "edgeSecretVersion",
	"stage", "mailIdentity", "restoredTable", "restoredStream", "existingSecrets", "unprotected",
}

func TestEverythingIsSet(t *testing.T) {
	set, err := ReadSettings(everything)
	if err != nil {
		t.Fatal(err)
	}
	normal := DefaultSettings()
	fields, usual := reflect.ValueOf(set), reflect.ValueOf(normal)
	for _, f := range reflect.VisibleFields(fields.Type()) {
		name := f.Name
		if f.Anonymous { // its own fields are visible, too
			continue
		}
		same := fields.FieldByIndex(f.Index).Equal(usual.FieldByIndex(f.Index))
		other := slices.ContainsFunc(others, func(o string) bool { return strings.EqualFold(o, name) })
		if same != other {
			t.Errorf("setting %s is %v in everything, want it either changed there or listed in others", name, fields.FieldByIndex(f.Index))
		}
	}
}

// contextOf returns the settings in cdk.json.
func contextOf(t *testing.T) map[string]any {
	t.Helper()
	b, err := os.ReadFile("../cdk.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Context map[string]any }
	if err := json.Unmarshal(b, &file); err != nil {
		t.Fatal(err)
	}
	delete(file.Context, "cli-telemetry") // the CDK's own
	return file.Context
}
