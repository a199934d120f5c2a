package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/events/audit"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/tables"
)

// What rings for the service as a whole; a reader's and a schedule's own alarms
// stand with them. A function behind the gateway has none: whatever goes wrong
// with it, the gateway answers 5xx.
const (
	// slowest is more than the slowest endpoint takes by design: two seconds, for
	// whoever looks for an agent by its mail.
	slowest = 3 * time.Second

	// mailsAnHour is far more than agents ask for that lost their keys, and far less
	// than would cost the account its name: there is no cap on all mails together.
	mailsAnHour = 500

	// slowOf is of how many requests in five minutes one percent says anything.
	slowOf = 20

	// AWS looks into an account whose mails bounce by 5 %, or are complained of by
	// 0.1 %, and stops it at twice that: these are half. It goes by many mails: of a
	// few, one is a rate that says nothing, and several in a day are to be looked at.
	bounceRate    = 0.025
	complaintRate = 0.0005
	returnedOf    = 3
)

// filled is the sum of DynamoDB's counts, of which there are none where there is
// nothing to count: an alarm of those stays as it is, whatever it is told of missing
// data, and once it rings would never end.
const filled = "SUM(FILL(METRICS(), 0))"

// throttledMetric counts what the gateway turned away. It calls no function for
// that: its access log alone knows.
const throttledMetric = "throttled"

// watchAll makes the alarms of the service as a whole.
func (d deployment) watchAll(stack awscdk.Stack, g *gateway) {
	ofGateway := func(name, statistic string) metric {
		return metric{"AWS/ApiGateway", name, []by{{"ApiId", g.api.Ref()}}, statistic}
	}
	d.alarm(stack, "ServerErrors", alarm{
		What: "More than one request of a hundred fails with 5xx, or of a few every second one. See on the dashboard which endpoints, and in their function's log why.",
		Of:   []metric{ofGateway("5xx", "Sum"), ofGateway("Count", "Sum")},
		Math: "IF(m1 >= 5 OR 2 * m1 >= m2, 100 * m1 / m2, 0)", Above: 1, Every: 5 * time.Minute, Times: 2, // of a handful of requests one is no rate
	})
	d.alarm(stack, "Slow", alarm{
		What: fmt.Sprintf("One request of a hundred takes more than %s. See on the dashboard which endpoints, and whether the table throttles.", slowest),
		Of:   []metric{ofGateway("Latency", "p99"), ofGateway("Count", "Sum")},
		Math: fmt.Sprintf("IF(m2 >= %d, m1, 0)", slowOf), Above: float64(slowest.Milliseconds()), Every: 5 * time.Minute, Times: 3,
	})
	awslogs.NewCfnMetricFilter(stack, jsii.String("Throttled"), &awslogs.CfnMetricFilterProps{
		LogGroupName: g.log.LogGroupName(), FilterPattern: jsii.String(`{ $.status = "429" && $.integrationStatus = "-" }`),
		MetricTransformations: []any{&awslogs.CfnMetricFilter_MetricTransformationProperty{
			MetricNamespace: jsii.String(metrics.Namespace(d.Stage)), MetricName: jsii.String(throttledMetric), MetricValue: jsii.String("1"), Unit: jsii.String("Count"),
		}},
	})
	d.alarm(stack, "RequestsThrottled", alarm{
		What: "The gateway turns requests away. See on the dashboard whether that is growth, and raise throttleRate, or somebody's flood.",
		Of:   []metric{d.own(throttledMetric, "", "")}, Above: 100, Every: 5 * time.Minute,
	})
	d.alarm(stack, "FunctionsThrottled", alarm{ // of the account, as its limit is
		What: "Lambda turns calls away: more functions run at once than the account, or a reservation, allows. See which, and have the quota raised.",
		Of:   []metric{{"AWS/Lambda", "Throttles", nil, "Sum"}}, Above: 10, Every: 5 * time.Minute,
	})
	d.alarm(stack, "TableThrottled", alarm{
		What: "The table turns requests away. See on the dashboard whether reads or writes, and whether a cap (tableReads, tableWrites) is set too low.",
		Of:   d.throttleEvents(), Math: filled, Above: 50, Every: 5 * time.Minute,
	})
	d.alarm(stack, "TableFails", alarm{
		What: "DynamoDB itself fails. See AWS's own state of health, and whether requests fail or are only tried again.",
		Of:   d.tableErrors(), Math: filled, Above: 10, Every: 5 * time.Minute,
	})
	d.alarm(stack, "BooksWrong", alarm{
		What: "The accounts do not come to zero. See first whether the tally reader stands still: then it is that. If not, run `make audit TABLE=aws:NAME`, which names those that are wrong, and let nobody pay in before you know why.",
		Of:   []metric{d.logged(audit.Wrong)}, Every: 2 * audit.New(&app.App{}).Every, // until no audit finds it, each a little later than its hour
	})
	d.alarm(stack, "BooksUnproved", alarm{
		What: "For a day the books were in too much use to be proved, or there was too little time. Run `make audit TABLE=aws:NAME`, which proves them nevertheless.",
		Of:   []metric{d.logged(audit.Unproved)}, Above: 2, Every: 24 * time.Hour, // of four audits
	})
	d.alarm(stack, "PaymentsUnheard", alarm{
		What: "What Stripe told of a payment came to nothing. See the line in the log of the function credits: it names the event.",
		Of:   d.loggedAny(unheard), Every: 5 * time.Minute, Once: true,
	})
	d.alarm(stack, "NotRedriven", alarm{ // S3 counts once a day
		What:  fmt.Sprintf("Batches lie in the bucket of failed batches, and are removed after %d days. Find why they failed, and redrive them.", failedBatchesKeepDays),
		Of:    []metric{{"AWS/S3", "NumberOfObjects", []by{{"BucketName", d.store.failed.BucketName()}, {"StorageType", jsii.String("AllStorageTypes")}}, "Average"}},
		Every: daily,
	})
	if d.mail != nil {
		d.watchMail(stack)
	}
}

// Lines in the log that ring, by their messages.
var (
	unheard = []string{
		"notification failed", "notification not written down: somebody has to look",
		"notification refused: the payment is not one of this stage's agents",
	}
	unsent = []string{"recovery not mailed", "recovery not looked up"}
)

func (d deployment) logged(message string) metric {
	return d.own(metrics.Logged, metrics.ByMessage, message)
}

func (d deployment) loggedAny(messages []string) (of []metric) {
	for _, m := range messages {
		of = append(of, d.logged(m))
	}
	return of
}

func (d deployment) watchMail(stack awscdk.Stack) {
	d.alarm(stack, "MailUnsent", alarm{
		What: "Mails with which agents recover are not sent, and who asked for them cannot be told. See the log of the functions access and oauth for why.",
		Of:   d.loggedAny(unsent), Above: 2, Every: time.Hour,
	})
	d.alarm(stack, "MailFlood", alarm{ // of the account, as its quota is
		What: fmt.Sprintf("More than %d mails were sent in an hour. See in the requests' log whether somebody has them sent, and lower the limits of mails.", mailsAnHour),
		Of:   []metric{{"AWS/SES", "Send", nil, "Sum"}}, Above: mailsAnHour, Every: time.Hour,
	})
	reputation := func(rate, returned string) []metric {
		set := []by{{mailDimension, d.mail.set.ConfigurationSetName()}}
		return []metric{{"AWS/SES", rate, set, "Maximum"}, {"AWS/SES", returned, set, "Sum"}}
	}
	several := fmt.Sprintf("IF(m2 >= %d, m1, 0)", returnedOf)
	d.alarm(stack, "MailBounces", alarm{
		What: fmt.Sprintf("More than %g %% of mails bounce; at 5 %% AWS looks into it, and may stop all mail. See who asks for mails to addresses that are none.", 100*bounceRate),
		Of:   reputation("Reputation.BounceRate", "Bounce"), Math: several, Above: bounceRate, Every: daily,
	})
	d.alarm(stack, "MailComplaints", alarm{
		What: fmt.Sprintf("More than %g %% of mails are complained of; at 0.1 %% AWS looks into it, and may stop all mail. See who asks for mails to others' addresses.", 100*complaintRate),
		Of:   reputation("Reputation.ComplaintRate", "Complaint"), Math: several, Above: complaintRate, Every: daily,
	})
}

// throttleEvents of the table and of its indexes.
func (d deployment) throttleEvents() (of []metric) {
	table := by{"TableName", d.store.table.TableName()}
	for _, name := range []string{"ReadThrottleEvents", "WriteThrottleEvents"} {
		of = append(of, metric{"AWS/DynamoDB", name, []by{table}, "Sum"})
		for _, x := range tables.Indexes {
			of = append(of, metric{"AWS/DynamoDB", name, []by{table, {"GlobalSecondaryIndexName", jsii.String(string(x.Name))}}, "Sum"})
		}
	}
	return of
}

// operations of DynamoDB's that the functions ask for.
var operations = []string{"GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"}

// tableErrors are DynamoDB's own failures. What it refuses because it is asked
// wrongly, UserErrors, it counts for the whole account, and perhaps transactions
// whose conditions do not hold among it: that is on the dashboard, and rings as 5xx.
func (d deployment) tableErrors() (of []metric) {
	for _, o := range operations {
		of = append(of, metric{"AWS/DynamoDB", "SystemErrors", []by{{"TableName", d.store.table.TableName()}, {"Operation", jsii.String(o)}}, "Sum"})
	}
	return of
}
