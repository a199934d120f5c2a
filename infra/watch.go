package main

import (
	"fmt"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"agentsocial/events/audit"
	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/metrics"
	"agentsocial/tables"
)

// An alarm costs 0.10 USD a month for each of its metrics, so metrics are few. A failure
// has no alarm if it always sets off another. Functions behind the gateway need no alarms
// of their own: if they fail, the gateway answers 5xx.
//
// These are the bounds of the alarms for the whole service.
const (
	// slowest is above the longest intended time, the two seconds of a request about a
	// recovery.
	slowest = 3 * time.Second

	// mailsAnHour is far above normal mail, and far below the limits of a day's mails.
	mailsAnHour = 500

	// slowOf is the least number of requests in a period for a meaningful p99.
	slowOf = 20

	// AWS reviews an account at 5 % bounces or 0.1 % complaints; the alarms ring earlier.
	// Among few mails a rate means nothing, so at least returnedOf mails must have come
	// back.
	bounceRate    = 0.02
	complaintRate = 0.0005
	returnedOf    = 3
)

// throttledMetric counts the requests that the gateway turned away. Only the gateway's
// access log has them.
const throttledMetric = "throttled"

func (d deployment) watchAll(stack awscdk.Stack, g *gateway) {
	ofGateway := func(name, statistic string) metric {
		return metric{"AWS/ApiGateway", name, []by{{"ApiId", g.api.Ref()}}, statistic}
	}
	d.alarm(stack, "ServerErrors", alarm{
		What: "More than 1 % of requests fail with 5xx (or at least half, if fewer than five failed). In the functions' logs, the lines of the failed requests name the endpoint and the cause. If the cause is DynamoDB itself, look at AWS's health page.",
		Of:   []metric{ofGateway("5xx", "Sum"), ofGateway("Count", "Sum")},
		Math: "IF(m1 >= 5 OR 2 * m1 >= m2, 100 * m1 / m2, 0)", Above: 1, Every: 5 * time.Minute, Times: 2,
	})
	d.alarm(stack, "Slow", alarm{
		What: fmt.Sprintf("One request in a hundred takes more than %s. See in the logs which endpoints are slow, and whether the table throttles.", inWords(slowest)),
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
		What: "The gateway turns requests away. See whether requests grow (then raise throttleRate) or somebody floods the service (then do nothing).",
		Of:   []metric{d.own(throttledMetric, "", "")}, Above: 100, Every: 5 * time.Minute,
	})
	d.alarm(stack, "FunctionsThrottled", alarm{ // of all functions in the account: they share its quota
		What: "Lambda turns calls away: more come at once than the account's quota or a function's reservation allows. Find out which functions are affected. If a reservation is used up, raise groupConcurrency (endpoints) or reservedConcurrency (readers, schedules, returns); otherwise ask AWS to raise the quota.",
		Of:   []metric{{"AWS/Lambda", "Throttles", nil, "Sum"}}, Above: 10, Every: 5 * time.Minute,
	})
	d.alarm(stack, "TableThrottled", alarm{
		What: "The table turns requests away. See whether these are reads or writes, and whether a cap or a maximum (tableReads, tableWrites) is too low.",
		Of:   d.throttled(), Math: "MAX([FILL(m1, 0), FILL(m3, 0)]) + MAX([FILL(m2, 0), FILL(m4, 0)])", Above: 50, Every: 5 * time.Minute,
	})
	d.alarm(stack, "BooksWrong", alarm{
		What: "The accounts do not sum to zero. If the tally reader has stopped, that is the cause. Otherwise run `make audit TABLE=aws:NAME`. If it names wrong accounts, stop payments until you know why.",
		Of:   []metric{d.logged(audit.Wrong)}, Every: 2 * audit.New(&app.App{}).Every, // two periods, since audits run a little late
	})
	d.alarm(stack, "BooksUnproved", alarm{
		What: "At least three of a day's four audits could not prove the books: money moved during the audits, or they ran out of time. Run `make audit TABLE=aws:NAME`, which works while money is moving.",
		Of:   []metric{d.logged(audit.Unproved)}, Above: 2, Every: 24 * time.Hour,
	})
	d.alarm(stack, "PaymentsUnheard", alarm{
		What: "A notification from Stripe could not be processed. The log of the function credits names the event and the reason.",
		Of:   d.loggedAny(unheard), Every: 5 * time.Minute, Once: true,
	})
	d.alarm(stack, "NotRedriven", alarm{ // S3 counts once a day
		What:  fmt.Sprintf("The bucket of the output FailedBatchesBucket has batches of stream records that a reader gave up on. They are deleted after %d days. Find out why they failed, then redrive them.", failedBatchesKeepDays),
		Of:    []metric{{"AWS/S3", "NumberOfObjects", []by{{"BucketName", d.store.failed.BucketName()}, {"StorageType", jsii.String("AllStorageTypes")}}, "Average"}},
		Every: daily,
	})
	if d.edge != nil {
		d.alarm(stack, "EdgeWrong", alarm{
			What: "CloudFront and the functions do not agree. If the logs say \"edge not recognised\", requests have a wrong secret of the edge, or none: see whether all requests are refused. If they say \"edge sent no address\", CloudFront does not pass on the callers' addresses, and rate limits count many callers as one.",
			Of:   d.loggedAny([]string{api.EdgeUnknown, api.EdgeAddressed}), Above: 10, Every: 5 * time.Minute,
		})
	}
	if d.mail != nil {
		d.watchMail(stack)
	}
}

// Messages of log lines that raise an alarm.
var (
	unheard = []string{
		"notification failed", "notification unclear: an operator must decide",
		"payment not credited: it belongs to no agent of this stage",
	}
	unsent = []string{"recovery not mailed", "recovery code not checked"}
	usedUp = []string{"link mails used up"}
	full   = []string{"reconnections used up"}
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

// bouncesADay returns the number of bounces in a day above which an alarm rings: two fifths
// of the number at which mails for linking stop.
func (d deployment) bouncesADay() float64 { return float64(d.Limits.BouncesDay * 2 / 5) }

func (d deployment) watchMail(stack awscdk.Stack) {
	d.alarm(stack, "RecoveryFull", alarm{
		What: "All callers together use up the consent page's limit of reconnections, so people cannot reconnect their agents. See in the log of the function oauth how many requests a minute arrive, and how many are refused. If they come from many people, raise reconnects_minute. If they are a flood, lower recoveries_hour and consents_hour, and raise pageBits.",
		Of:   d.loggedAny(full), Every: 5 * time.Minute,
	})
	d.alarm(stack, "MailUnsent", alarm{
		What: "Recovery mails are not sent, or recovery codes not checked, and callers are not told. The logs of the functions access and oauth say why.",
		Of:   d.loggedAny(unsent), Above: 2, Every: time.Hour,
	})
	d.alarm(stack, "MailFlood", alarm{ // the quota is the account's
		What: fmt.Sprintf("The whole account sent more than %d mails in an hour. See in the logs of the functions access (origins, recovery) and oauth (reconnecting) which routes cause them, and lower the limits on mails.", mailsAnHour),
		Of:   []metric{{"AWS/SES", "Send", nil, "Sum"}}, Above: mailsAnHour, Every: time.Hour,
	})
	reputation := func(rate, returned string) []metric {
		set := []by{{mailDimension, d.mail.set.ConfigurationSetName()}}
		return []metric{{"AWS/SES", rate, set, "Maximum"}, {"AWS/SES", returned, set, "Sum"}}
	}
	several := fmt.Sprintf("IF(m2 >= %d, m1, 0)", returnedOf)
	d.alarm(stack, "MailBounces", alarm{
		What: fmt.Sprintf("More than %g %% of mails bounce; at 5 %% AWS reviews the account, and at 10 %% it may stop all its mail. Find out who asks for mails to false addresses.", 100*bounceRate),
		Of:   reputation("Reputation.BounceRate", "Bounce"), Math: several, Above: bounceRate, Every: 6 * time.Hour,
	})
	d.alarm(stack, "MailBack", alarm{ // SES computes its rate over days of mail, so the first bounces hardly move it
		What: fmt.Sprintf("More than %.0f mails bounced in a day; after %d bounces, no mails for linking origins are sent until the next day. Find out who asks for mails to false addresses.", d.bouncesADay(), d.Limits.BouncesDay),
		Of:   []metric{d.own(metrics.Returned, metrics.ByReason, tables.BackBounce)}, Above: d.bouncesADay(), Every: daily,
	})
	d.alarm(stack, "MailUsedUp", alarm{
		What: "The day's limit of mails for linking origins is used up, by the requests of all agents together or by bounces. Recovery goes on. Find out which agents ask for these mails; raise all_links_day only if the mails are wanted.",
		Of:   d.loggedAny(usedUp), Every: time.Hour,
	})
	d.alarm(stack, "MailComplaints", alarm{
		What: fmt.Sprintf("Recipients complain about more than %g %% of mails; at 0.1 %% AWS reviews the account, and at 0.5 %% it may stop all its mail. Find out who asks for mails to other people's addresses.", 100*complaintRate),
		Of:   reputation("Reputation.ComplaintRate", "Complaint"), Math: several, Above: complaintRate, Every: daily,
	})
}

// throttled returns four metrics that together show any throttling. Those of queries and
// transactions also count what an index throttles. DynamoDB publishes no zeros, so the
// alarm fills them in; otherwise it would never end.
func (d deployment) throttled() []metric {
	table := by{"TableName", d.store.table.TableName()}
	of := func(operation string) metric {
		return metric{"AWS/DynamoDB", "ThrottledRequests", []by{table, {"Operation", jsii.String(operation)}}, "Sum"}
	}
	return []metric{
		{"AWS/DynamoDB", "ReadThrottleEvents", []by{table}, "Sum"}, {"AWS/DynamoDB", "WriteThrottleEvents", []by{table}, "Sum"},
		of("Query"), of("TransactWriteItems"),
	}
}

// throttleEvents returns the throttle metrics of the table and its indexes.
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

// operations lists the DynamoDB operations that functions call.
var operations = []string{"GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"}

// tableErrors returns the metrics of DynamoDB's own failures. UserErrors are left out:
// DynamoDB counts them for the whole account.
func (d deployment) tableErrors() (of []metric) {
	for _, o := range operations {
		of = append(of, metric{"AWS/DynamoDB", "SystemErrors", []by{{"TableName", d.store.table.TableName()}, {"Operation", jsii.String(o)}}, "Sum"})
	}
	return of
}
