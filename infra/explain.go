package main

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

// kind explains a type of resource: its purpose, and its monthly cost without calls, in US
// dollars in us-east-1. For an alarm, USD is the cost of one metric; for a secret, that of
// one region. infra/COST.md says what calls cost.
type kind struct {
	Type, For string
	USD       float64
}

var kinds = []kind{
	{Type: "AWS::ApiGatewayV2::Api", For: "the HTTP API"},
	{Type: "AWS::ApiGatewayV2::ApiMapping", For: "maps your domain to the API (setting domain)"},
	{Type: "AWS::ApiGatewayV2::DomainName", For: "the domain, with its certificate and TLS 1.2 at least (setting domain)"},
	{Type: "AWS::ApiGatewayV2::Integration", For: "connects the API to a group's function"},
	{Type: "AWS::ApiGatewayV2::Route", For: "an endpoint, the HEAD of a public GET, or the default route"},
	{Type: "AWS::ApiGatewayV2::Stage", For: "throttles, and the log of requests"},
	{Type: "AWS::ApplicationAutoScaling::ScalableTarget", For: "bounds of the table's or an index's capacity (setting capacity)"},
	{Type: "AWS::ApplicationAutoScaling::ScalingPolicy", For: "lets that capacity follow the load, with four alarms of AWS's own (setting capacity)", USD: 0.40},
	{Type: "AWS::Backup::BackupPlan", For: "backs the table up once a day, and copies the backup elsewhere (setting copyTo)"},
	{Type: "AWS::Backup::BackupSelection", For: "names the table as what the plan backs up (setting copyTo)"},
	{Type: "AWS::Backup::BackupVault", For: "keeps each backup until it is copied; backups cost by the gigabyte (setting copyTo)"},
	{Type: "AWS::Budgets::Budget", For: "tells the operators when the bill passes it, or is forecast to (setting budgetUsd); two are free"},
	{Type: "AWS::CloudFront::CachePolicy", For: "lets the edge store what Cache-Control allows (setting edge)"},
	{Type: "AWS::CloudFront::Distribution", For: "the edge: stores public answers, and hides the API (setting edge)"},
	{Type: "AWS::CloudFront::Function", For: "tells the API the caller's address (setting edge)"},
	{Type: "AWS::CloudWatch::Alarm", For: "tells the operators that something is wrong: see the runbook", USD: 0.10},
	{Type: "AWS::CloudWatch::Dashboard", For: "shows a day's traffic, errors and lag (setting dashboard)", USD: 3},
	{Type: "AWS::CodeDeploy::Application", For: "moves requests to new code gradually (setting canary)"},
	{Type: "AWS::CodeDeploy::DeploymentGroup", For: "moves the requests of a group (setting canary)"},
	{Type: "AWS::DynamoDB::Table", For: "the single table; data and backup cost by the gigabyte"},
	{Type: "AWS::Events::Rule", For: "calls a function when mail comes back (setting mailFrom)"},
	{Type: "AWS::IAM::Role", For: "permissions of a function, of the clock to call it, of CodeDeploy, or of AWS Backup"},
	{Type: "AWS::Lambda::Alias", For: "the version of a group's function that gets the requests (setting canary)"},
	{Type: "AWS::Lambda::EventInvokeConfig", For: "bounds the tries of a tick, or of an event about mail that came back"},
	{Type: "AWS::Lambda::EventSourceMapping", For: "gives a reader the table's changes that match its filters"},
	{Type: "AWS::Lambda::Function", For: "a group of endpoints, a reader of the stream, a scheduled job, or what remembers mail that came back"},
	{Type: "AWS::Lambda::Permission", For: "allows only the API to call a group's function, or only the rule about mail to call its function"},
	{Type: "AWS::Lambda::Version", For: "a version of a group's function (setting canary)"},
	{Type: "AWS::Logs::LogGroup", For: "the log of a function, or of the API"},
	{Type: "AWS::Logs::MetricFilter", For: "counts requests that the gateway turned away, for an alarm; up to 0.30 USD a month, if every hour has such requests"},
	{Type: "AWS::Logs::QueryDefinition", For: "a query of the logs, for the runbook's questions"},
	{Type: "AWS::Route53::RecordSet", For: "the domain's entry in the DNS (setting hostedZone)"},
	{Type: "AWS::S3::Bucket", For: "keeps batches that a reader of the stream gave up on"},
	{Type: "AWS::S3::BucketPolicy", For: "refuses access to the bucket without TLS"},
	{Type: "AWS::SES::ConfigurationSet", For: "sends mail over TLS only; make stop-mail stops it (setting mailFrom)"},
	{Type: "AWS::SES::ConfigurationSetEventDestination", For: "counts bounces, complaints, refusals and delays, or reports what came back (setting mailFrom)"},
	{Type: "AWS::SES::EmailIdentity", For: "the sender of mail (setting mailFrom)"},
	{Type: "AWS::SNS::Subscription", For: "mails alarms to the operators (setting alarmMail)"},
	{Type: "AWS::SNS::Topic", For: "where alarms go"},
	{Type: "AWS::SNS::TopicPolicy", For: "lets only alarms and the budget publish to the topic, over TLS"},
	{Type: "AWS::SQS::Queue", For: "keeps failed ticks of the clock"},
	{Type: "AWS::SQS::QueuePolicy", For: "refuses access to the queue without TLS"},
	{Type: "AWS::Scheduler::Schedule", For: "calls a scheduled function at fixed intervals"},
	{Type: "AWS::SecretsManager::Secret", For: "a key that encrypts tokens, a key that hashes addresses, the payment processor's keys, or the edge's secret", USD: 0.40},
	{Type: "AWS::WAFv2::WebACL", For: "blocks floods and known attackers at the edge (setting webAcl); two rules", USD: 7},
}

// Bounds of a deployment, below AWS's own: 500 resources, and 50 MB of a function's zip.
const (
	maxResources = 400
	maxZip       = 15_000_000 // bytes; Lambda fetches the zip before a function starts
)

// explain prints a table of the resources in a folder's templates. It returns an error for
// a type that kinds lacks, or a bound that is reached.
func explain(w io.Writer, folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.template.json"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s has no template; run `make synth`", folder)
	}
	var problems []error
	for _, file := range files {
		var t struct {
			Resources map[string]explained
		}
		if err := readJSON(file, &t); err != nil {
			return err
		}
		counts, paid := map[string]int{}, map[string]int{}
		for _, r := range t.Resources {
			counts[r.Type]++
			paid[r.Type] += r.paid()
		}
		name := strings.TrimSuffix(filepath.Base(file), ".template.json")
		fmt.Fprintf(w, "%s: %d resources\n", name, len(t.Resources))
		problems = append(problems, checkExplained(counts), checkCount(len(t.Resources)), tabulate(w, counts, paid))
		problems = append(problems, weigh(w, strings.TrimSuffix(file, ".template.json")+".assets.json"))
	}
	return errors.Join(problems...)
}

// explained is the part of a resource that [explain] reads.
type explained struct {
	Type       string
	Properties struct {
		Metrics        []struct{ MetricStat json.RawMessage } // of an alarm on several metrics
		ReplicaRegions []json.RawMessage                      // of a secret
	}
}

// paid returns how many times a resource is paid for: an alarm once for each metric, a
// secret once for each region.
func (e explained) paid() (n int) {
	for _, m := range e.Properties.Metrics {
		if m.MetricStat != nil { // else it is an expression
			n++
		}
	}
	return max(1, n) + len(e.Properties.ReplicaRegions)
}

func checkExplained(counts map[string]int) error {
	var problems []error
	for name := range counts {
		if !slices.ContainsFunc(kinds, func(k kind) bool { return k.Type == name }) {
			problems = append(problems, fmt.Errorf("resource type %s has no explanation; add it to kinds in infra/explain.go", name))
		}
	}
	slices.SortFunc(problems, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	return errors.Join(problems...)
}

func checkCount(n int) error {
	if n >= maxResources {
		return fmt.Errorf("%d resources; stay under %d, below CloudFormation's 500: split the stack", n, maxResources)
	}
	return nil
}

func tabulate(w io.Writer, counts, paid map[string]int) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	sum := 0.0
	for _, k := range kinds {
		n := counts[k.Type]
		if n == 0 {
			continue
		}
		cost := "-"
		if k.USD > 0 {
			usd := float64(paid[k.Type]) * k.USD
			cost = fmt.Sprintf("%.2f", usd)
			sum += usd
		}
		fmt.Fprintf(table, "  %4d\t%s\t%s\t%s\n", n, k.Type, cost, k.For)
	}
	fmt.Fprintf(table, "  \tUSD a month without calls\t%.2f\t\n", sum)
	return table.Flush()
}

// weigh prints the number of the functions' zips and the size of the largest, and refuses
// zips that are too large. The CDK makes the zips only when it deploys.
func weigh(w io.Writer, assets string) error {
	var manifest struct {
		Files map[string]struct {
			DisplayName string
			Source      struct{ Path, Packaging string }
		}
	}
	if err := readJSON(assets, &manifest); err != nil {
		return err
	}
	var problems []error
	var heaviest int64
	n, of := 0, ""
	for _, f := range manifest.Files {
		if f.Source.Packaging != "zip" {
			continue
		}
		size, err := zipped(filepath.Join(filepath.Dir(assets), f.Source.Path))
		if err != nil {
			return err
		}
		if n++; size > heaviest {
			heaviest, of = size, f.DisplayName
		}
		problems = append(problems, checkZip(f.DisplayName, size))
	}
	if n == 0 {
		problems = append(problems, fmt.Errorf("%s names no zip; run `make synth` again", assets))
	}
	fmt.Fprintf(w, "  %d zips, the heaviest %.1f MB (%s)\n", n, float64(heaviest)/1e6, of)
	return errors.Join(problems...)
}

func checkZip(name string, size int64) error {
	if size >= maxZip {
		return fmt.Errorf("%s: a zip of %.1f MB; it must be under %d MB", name, float64(size)/1e6, maxZip/1_000_000)
	}
	return nil
}

// zipped returns the size of a folder as a zip.
func zipped(folder string) (int64, error) {
	var size counter
	z := zip.NewWriter(&size)
	if err := z.AddFS(os.DirFS(folder)); err != nil {
		return 0, err
	}
	err := z.Close()
	return int64(size), err
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func readJSON(file string, into any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
