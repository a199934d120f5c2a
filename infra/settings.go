package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/outside/mail"
)

// Settings holds the settings of a deployment, from the context of cdk.json or from options
// such as `-c stage=dev`. The README's table explains them.
type Settings struct {
	Stage           string // names the stack and the secrets; only the data of "dev" is deleted with its stack
	Region, Account string // "": those of the credentials

	Domain, CertificateARN, HostedZone string // if Domain is "", callers use AWS's address

	Edge              bool
	WebACL            string // "", webACLOwn or an ARN
	EdgeSecretVersion string // "": the current one

	PowBits, PageBits int
	MicroUSDPerChar   int
	Limits            app.Limits
	WebOrigins        string
	Contact           string // "": people are not told where to write
	Index             bool   // search engines may list pages with texts of agents

	ThrottleRate, ThrottleBurst int // of the whole API: requests a second, and in a burst
	TableReads, TableWrites     int // units a second: the cap on demand (0: none), or the maximum of provisioned capacity
	Capacity                    string
	CapacityTarget              int // percent of the capacity that is to be in use
	TableReadsLeast             int // units a second of capacity, of the table
	TableWritesLeast            int
	IndexReadsLeast             int // units a second of capacity, of each index
	IndexWritesLeast            int
	TableClass                  string
	WarmReads, WarmWrites       int // units a second that the table can serve at once; 0: AWS's default

	AccountConcurrency int    // executions that the account may run at once; 0: unknown
	GroupConcurrency   string // JSON: executions reserved for groups, where they differ from the default
	Reserved           int    // executions reserved for each reader, schedule and mail function; 0: the default

	BudgetUSD int // a month; 0: none

	MailFrom     string // "": no mail is sent
	MailIdentity string
	AlarmMail    string // "": no alarm is mailed
	LogDays      int
	LogReads     int // one in LogReads quick reads is logged; all if EndpointMetrics is true

	Canary                    bool
	EndpointMetrics           bool
	Dashboard                 bool
	XRay, ContributorInsights bool

	RestoredTable, RestoredStream string // if RestoredStream is empty, the stack's own table is in use

	CopyTo          string // "" or the ARN of a backup vault elsewhere
	CopyDays        int
	ExistingSecrets bool // the stack uses a seal and a pepper that it did not make

	passed
}

// passed holds what `make deploy` (infra/deploy) finds out and passes. Operators do not set
// it, so cdk.json and the README do not have it.
type passed struct {
	Version         string // what is deployed, as `git describe` names it; "" if unknown
	PreviousVersion string // what was deployed before, for `make rollback`; "" if unknown
	Unprotected     bool   // the stage is being created, see protected
}

// DefaultSettings returns the default of each setting.
func DefaultSettings() Settings {
	return Settings{
		Stage: "prod", PowBits: 18, PageBits: 14, MicroUSDPerChar: 10, ThrottleRate: api.DefaultThrottle.Rate, ThrottleBurst: api.DefaultThrottle.Burst,
		Limits: app.DefaultSettings().Limits, MailIdentity: identityDomain, LogDays: 30, LogReads: 16,
		Capacity: capacityOnDemand, TableClass: classStandard, CapacityTarget: 60, TableReadsLeast: 25, TableWritesLeast: 25, IndexReadsLeast: 5, IndexWritesLeast: 5,
		CopyDays: 7,
	}
}

// How the table's capacity is paid for: by the request, or by the hour.
const (
	capacityOnDemand    = "on-demand"
	capacityProvisioned = "provisioned"
)

// The table's classes. Standard-IA has cheaper storage than Standard, but its units cost
// more.
const (
	classStandard = "standard"
	classRare     = "infrequent-access"
)

// How SES verifies the address that mail is sent from.
const (
	identityDomain   = "domain"   // by records in the DNS of its domain (DKIM)
	identityAddress  = "address"  // by a mail to the address
	identityExisting = "existing" // not at all: it is verified already
)

// Ceilings of settings. AWS publishes no greatest value for these.
const (
	rateMost        = 1_000_000
	burstMost       = 500_000
	concurrencyMost = 100_000
	warmMost        = 10_000_000
)

// copyDaysMost bounds copyDays. /privacy promises that backups keep deleted data for at
// most this many days.
const copyDaysMost = 35

// Disposable reports whether the stage may be destroyed with all its data.
func (s Settings) Disposable() bool { return s.Stage == "dev" }

// setting reads a field of [Settings] from a context.
type setting struct {
	Name string
	Want string // what it must be
	take func(any) error
}

// all returns the settings in the order of the README's table.
func (s *Settings) all() []setting {
	return []setting{
		text("stage", &s.Stage, "1 to 16 of a-z, 0-9 and -", stageForm.MatchString),
		text("region", &s.Region, "a region such as eu-central-1, or empty", orEmpty(regionForm.MatchString)),
		text("account", &s.Account, "the 12 digits of an account, in quotes, or empty", orEmpty(accountForm.MatchString)),
		text("domain", &s.Domain, "a host's name in lower case, such as agents.example.com, or empty", orEmpty(isHost)),
		text("certificateArn", &s.CertificateARN, "the ARN of an ACM certificate, or empty", orEmpty(certificateForm.MatchString)),
		text("hostedZone", &s.HostedZone, "the id of a Route 53 hosted zone, or empty", orEmpty(zoneForm.MatchString)),
		boolean("edge", &s.Edge),
		text("webAcl", &s.WebACL, "own, the ARN of a web ACL of CloudFront, or empty", orEmpty(isWebACL)),
		text("edgeSecretVersion", &s.EdgeSecretVersion, "the id of a version of the edge's secret, or empty", orEmpty(secretForm.MatchString)),
		number("powBits", &s.PowBits, "8 to 26", between(8, 26)),
		number("pageBits", &s.PageBits, "8 to 20", between(8, 20)),
		number("microUsdPerChar", &s.MicroUSDPerChar, "1 to 1000000", between(1, 1_000_000)),
		limits("limits", &s.Limits),
		text("webOrigins", &s.WebOrigins, "origins (https:// and a host, with nothing after it) separated by commas, or *, or empty", areOrigins),
		text("contact", &s.Contact, "a mail address, or a URL that begins with https://, or empty", orEmpty(app.IsContact)),
		boolean("index", &s.Index),
		number("throttleRate", &s.ThrottleRate, "1 to 1000000 requests a second", between(1, rateMost)),
		number("throttleBurst", &s.ThrottleBurst, "1 to 500000 requests", between(1, burstMost)),
		number("tableReads", &s.TableReads, "100 to 10000000 read units a second, or 0", orZero(between(100, warmMost))),
		number("tableWrites", &s.TableWrites, "100 to 10000000 write units a second, or 0", orZero(between(100, warmMost))),
		number("warmReads", &s.WarmReads, "12000 to 10000000 read units a second, or 0", orZero(between(12_000, warmMost))),
		number("warmWrites", &s.WarmWrites, "4000 to 10000000 write units a second, or 0", orZero(between(4000, warmMost))),
		text("capacity", &s.Capacity, "on-demand or provisioned", func(v string) bool { return v == capacityOnDemand || v == capacityProvisioned }),
		number("capacityTarget", &s.CapacityTarget, "20 to 90 percent", between(20, 90)),
		number("tableReadsLeast", &s.TableReadsLeast, "1 to 1000000 read units a second", between(1, 1_000_000)),
		number("tableWritesLeast", &s.TableWritesLeast, "1 to 1000000 write units a second", between(1, 1_000_000)),
		number("indexReadsLeast", &s.IndexReadsLeast, "1 to 1000000 read units a second", between(1, 1_000_000)),
		number("indexWritesLeast", &s.IndexWritesLeast, "1 to 1000000 write units a second", between(1, 1_000_000)),
		text("tableClass", &s.TableClass, "standard or infrequent-access", func(v string) bool { return v == classStandard || v == classRare }),
		number("accountConcurrency", &s.AccountConcurrency, "10 to 100000, or 0", orZero(between(10, concurrencyMost))),
		reservations("groupConcurrency", &s.GroupConcurrency),
		number("reservedConcurrency", &s.Reserved, "1 to 100000, or 0", between(0, concurrencyMost)),
		number("budgetUsd", &s.BudgetUSD, "1 to 1000000 US dollars a month, or 0", between(0, 1_000_000)),
		text("mailFrom", &s.MailFrom, "a mail address in lower case, or empty", orEmpty(isAddress)),
		text("mailIdentity", &s.MailIdentity, "domain, address or existing", isIdentity),
		text("alarmMail", &s.AlarmMail, "a mail address in lower case, or empty", orEmpty(isAddress)),
		number("logRetentionDays", &s.LogDays, "one of "+allowedDays(), func(n int) bool { _, ok := retentions[n]; return ok }),
		number("logReads", &s.LogReads, "1 to 1000000", between(1, 1_000_000)),
		boolean("canary", &s.Canary),
		boolean("endpointMetrics", &s.EndpointMetrics),
		boolean("dashboard", &s.Dashboard),
		boolean("xray", &s.XRay),
		boolean("contributorInsights", &s.ContributorInsights),
		text("restoredTable", &s.RestoredTable, "the name of a table, or empty", orEmpty(tableForm.MatchString)),
		text("restoredStream", &s.RestoredStream, "the ARN of a table's stream, or empty", orEmpty(streamForm.MatchString)),
		text("copyTo", &s.CopyTo, "the ARN of a backup vault, or empty", orEmpty(vaultForm.MatchString)),
		number("copyDays", &s.CopyDays, "1 to 35 days", between(1, copyDaysMost)),
		boolean("existingSecrets", &s.ExistingSecrets),
	}
}

// passedOn returns what `make deploy` passes, in the form of settings.
func (s *Settings) passedOn() []setting {
	const want = "a version as `git describe` names it"
	return []setting{
		text("version", &s.Version, want, versionForm.MatchString),
		text("previousVersion", &s.PreviousVersion, want, versionForm.MatchString),
		boolean("unprotected", &s.Unprotected),
	}
}

// ReadSettings reads settings from a context, and reports all problems at once.
func ReadSettings(context map[string]any) (Settings, error) {
	s := DefaultSettings()
	var problems []error
	var names, bad []string
	passed := s.passedOn()
	for i, setting := range slices.Concat(passed, s.all()) {
		if i >= len(passed) {
			names = append(names, setting.Name)
		}
		if v := context[setting.Name]; v != nil {
			if err := setting.take(v); err != nil {
				problems, bad = append(problems, err), append(bad, setting.Name)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(context)) {
		if !slices.Contains(names, name) && !isCDKs(name) && !slices.ContainsFunc(passed, func(s setting) bool { return s.Name == name }) {
			problems = append(problems, fmt.Errorf("there is no setting %s; use one of %s", name, strings.Join(names, ", ")))
		}
	}
	return s, errors.Join(append(problems, s.together(bad)...)...)
}

// isCDKs reports whether the CDK itself puts this name into a context.
func isCDKs(name string) bool {
	return strings.HasPrefix(name, "@") || strings.Contains(name, ":") || name == "cli-telemetry"
}

// together reports settings that are valid by themselves but do not fit each other. It
// skips the settings in bad, which were refused.
func (s Settings) together(bad []string) (problems []error) {
	unfit := func(of, format string, args ...any) {
		if !slices.ContainsFunc(strings.Fields(of), func(name string) bool { return slices.Contains(bad, name) }) {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	elsewhere := func(arn string) bool {
		part := strings.Split(arn, ":")
		return s.Region != "" && part[3] != s.Region || s.Account != "" && part[4] != s.Account
	}
	switch {
	case (s.Domain == "") != (s.CertificateARN == ""):
		unfit("domain certificateArn", "setting domain is %q and certificateArn is %q; set both or neither", s.Domain, s.CertificateARN)
	case s.Domain != "" && s.Edge:
		if part := strings.Split(s.CertificateARN, ":"); part[3] != edgeRegion || s.Account != "" && part[4] != s.Account {
			unfit("certificateArn", "setting certificateArn is %q; with edge it must be in %s: CloudFront takes certificates from that region only", s.CertificateARN, place(edgeRegion, s.Account))
		}
	case s.Domain != "" && elsewhere(s.CertificateARN):
		unfit("certificateArn", "setting certificateArn is %q; like the API, it must be in %s", s.CertificateARN, place(s.Region, s.Account))
	}
	if s.Capacity == capacityProvisioned {
		for _, c := range []struct {
			most  int
			name  string
			least int
			lower string
		}{
			{s.TableReads, "tableReads", s.TableReadsLeast, "tableReadsLeast"}, {s.TableWrites, "tableWrites", s.TableWritesLeast, "tableWritesLeast"},
			{s.TableReads, "tableReads", s.IndexReadsLeast, "indexReadsLeast"}, {s.TableWrites, "tableWrites", s.IndexWritesLeast, "indexWritesLeast"},
		} {
			if c.most < c.least {
				unfit("capacity "+c.name+" "+c.lower, "setting %s is %d and %s is %d; when capacity is provisioned, %s is the maximum: raise it to at least %d", c.name, c.most, c.lower, c.least, c.name, c.least)
			}
		}
	}
	if s.WebACL != "" && !s.Edge {
		unfit("webAcl edge", "setting webAcl is %q and edge is false; a web ACL protects an edge only: set edge, or leave webAcl empty", s.WebACL)
	}
	if s.EdgeSecretVersion != "" && !s.Edge {
		unfit("edgeSecretVersion edge", "setting edgeSecretVersion is %q and edge is false; set edge, or leave edgeSecretVersion empty", s.EdgeSecretVersion)
	}
	if s.WebACL == webACLOwn && s.Region != edgeRegion {
		unfit("webAcl region", "setting webAcl is %q and region is %q; CloudFront takes web ACLs from %[3]s only: set region to %[3]s and deploy there, or make a web ACL there and set webAcl to its ARN", s.WebACL, s.Region, edgeRegion)
	}
	if s.HostedZone != "" && s.Domain == "" {
		unfit("hostedZone domain", "setting hostedZone is %q and domain is empty; set domain, or leave both empty", s.HostedZone)
	}
	if _, at, _ := strings.Cut(s.MailFrom, "@"); s.MailIdentity == identityDomain && isProviders(s.MailFrom) {
		unfit("mailIdentity", "setting mailFrom is %q and mailIdentity is %q; %s belongs to a mail provider, so you cannot add its DNS records: set mailIdentity to address", s.MailFrom, s.MailIdentity, at)
	}
	for _, c := range []struct {
		warm, most         string
		warmUnits, maximum int
	}{{"warmReads", "tableReads", s.WarmReads, s.TableReads}, {"warmWrites", "tableWrites", s.WarmWrites, s.TableWrites}} {
		if c.maximum > 0 && c.warmUnits > c.maximum {
			unfit(c.warm+" "+c.most, "setting %s is %d and %s is %d; more than the cap is never used: raise %s, or lower %s", c.warm, c.warmUnits, c.most, c.maximum, c.most, c.warm)
		}
	}
	if free, sum := max(0, s.AccountConcurrency-unreservedLeast), s.reservedInAll(all()); s.AccountConcurrency == 0 && s.GroupConcurrency != "" {
		unfit("groupConcurrency accountConcurrency", "setting groupConcurrency is %s and accountConcurrency is 0; set accountConcurrency to the account's concurrent executions", s.GroupConcurrency)
	} else if s.AccountConcurrency > 0 && sum > free {
		unfit("groupConcurrency accountConcurrency reservedConcurrency", "groupConcurrency, reservedConcurrency and the shares that groups and readers have by default together reserve %d and accountConcurrency is %d; Lambda requires that %d stay unreserved: reserve at most %d", sum, s.AccountConcurrency, unreservedLeast, free)
	}
	if own := tablePrefix(s.Stage); s.RestoredTable != "" && !strings.HasPrefix(s.RestoredTable, own) {
		unfit("stage", "setting restoredTable is %q; for the stage %q it must begin with %s", s.RestoredTable, s.Stage, own)
	}
	switch {
	case s.RestoredStream == "": // the stack's own table is in use, see inUse
	case s.RestoredTable == "":
		unfit("restoredStream restoredTable", "setting restoredStream is %q and restoredTable is empty; set the name of its table", s.RestoredStream)
	case streamForm.FindStringSubmatch(s.RestoredStream)[1] != s.RestoredTable:
		unfit("restoredStream", "setting restoredStream is %q; it must belong to the table %q", s.RestoredStream, s.RestoredTable)
	case elsewhere(s.RestoredStream):
		unfit("restoredStream", "setting restoredStream is %q; it must be in %s", s.RestoredStream, place(s.Region, s.Account))
	}
	switch {
	case s.CopyTo == "":
	case s.Region == "":
		unfit("copyTo region", "setting copyTo is %q and region is empty; the secrets are copied to the vault's region unless it is the stage's: set region", s.CopyTo)
	case !elsewhere(s.CopyTo):
		unfit("copyTo", "setting copyTo is %q; it must be in another region than %q or, if account is set, in another account", s.CopyTo, s.Region)
	}
	return problems
}

// place names a region and an account. One of them may be "".
func place(region, account string) string {
	switch {
	case region == "":
		return fmt.Sprintf("the account %q", account)
	case account == "":
		return fmt.Sprintf("the region %q", region)
	}
	return fmt.Sprintf("the region %q and the account %q", region, account)
}

// tablePrefix begins the names of a stage's own table and of those restored from it.
func tablePrefix(stage string) string { return "agentsocial-" + stage + "-Table" }

func wrong(name string, value any, want string) error {
	return fmt.Errorf("setting %s is %#v; it must be %s", name, value, want)
}

func text(name string, into *string, want string, ok func(string) bool) setting {
	return setting{name, want, func(v any) error {
		s, isText := v.(string)
		if !isText || !ok(s) {
			return wrong(name, v, want)
		}
		*into = s
		return nil
	}}
}

func number(name string, into *int, want string, ok func(int) bool) setting {
	return setting{name, want, func(v any) error {
		n, isNumber := wholeNumber(v)
		if !isNumber || !ok(n) {
			return wrong(name, v, want)
		}
		*into = n
		return nil
	}}
}

func boolean(name string, into *bool) setting {
	const want = "true or false"
	return setting{name, want, func(v any) error {
		switch v {
		case true, "true":
			*into = true
		case false, "false":
			*into = false
		default:
			return wrong(name, v, want)
		}
		return nil
	}}
}

// objectText returns the JSON of an object. v holds the object, or its JSON as a string.
func objectText(v any) (object string, ok bool) {
	if object, ok = v.(string); ok {
		return object, true
	}
	b, err := json.Marshal(v)
	return string(b), err == nil
}

// limits reads limits in the same way as the functions do.
func limits(name string, into *app.Limits) setting {
	const want = `an object such as {"posts_per_minute": 3}`
	return setting{name, want, func(v any) error {
		object, ok := objectText(v)
		if !ok {
			return wrong(name, v, want)
		}
		l, err := into.With(object)
		*into = l
		return err
	}}
}

// retentions lists the only values that CloudWatch Logs accepts.
var retentions = map[int]awslogs.RetentionDays{
	1: awslogs.RetentionDays_ONE_DAY, 3: awslogs.RetentionDays_THREE_DAYS, 5: awslogs.RetentionDays_FIVE_DAYS,
	7: awslogs.RetentionDays_ONE_WEEK, 14: awslogs.RetentionDays_TWO_WEEKS, 30: awslogs.RetentionDays_ONE_MONTH,
	60: awslogs.RetentionDays_TWO_MONTHS, 90: awslogs.RetentionDays_THREE_MONTHS, 120: awslogs.RetentionDays_FOUR_MONTHS,
	150: awslogs.RetentionDays_FIVE_MONTHS, 180: awslogs.RetentionDays_SIX_MONTHS, 365: awslogs.RetentionDays_ONE_YEAR,
	400: awslogs.RetentionDays_THIRTEEN_MONTHS, 545: awslogs.RetentionDays_EIGHTEEN_MONTHS, 731: awslogs.RetentionDays_TWO_YEARS,
	1096: awslogs.RetentionDays_THREE_YEARS, 1827: awslogs.RetentionDays_FIVE_YEARS, 2192: awslogs.RetentionDays_SIX_YEARS,
	2557: awslogs.RetentionDays_SEVEN_YEARS, 2922: awslogs.RetentionDays_EIGHT_YEARS, 3288: awslogs.RetentionDays_NINE_YEARS,
	3653: awslogs.RetentionDays_TEN_YEARS,
}

func allowedDays() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(slices.Sorted(maps.Keys(retentions))), " ", ", "), "[]")
}

var (
	stageForm       = regexp.MustCompile(`^[a-z0-9-]{1,16}$`)
	regionForm      = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]$`)
	accountForm     = regexp.MustCompile(`^[0-9]{12}$`)
	labelForm       = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	certificateForm = regexp.MustCompile(`^arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[0-9a-f-]+$`)
	webACLForm      = regexp.MustCompile(`^arn:aws[a-z-]*:wafv2:us-east-1:[0-9]{12}:global/webacl/[A-Za-z0-9_-]+/[0-9a-f-]+$`)
	secretForm      = regexp.MustCompile(`^[A-Za-z0-9-]{32,64}$`)
	versionForm     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/+-]{0,127}$`) // also the value of a tag
	zoneForm        = regexp.MustCompile(`^Z[A-Z0-9]{1,31}$`)
	tableForm       = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)
	streamForm      = regexp.MustCompile(`^arn:aws[a-z-]*:dynamodb:[a-z0-9-]+:[0-9]{12}:table/([A-Za-z0-9_.-]{3,255})/stream/[0-9T:.-]+$`)
	vaultForm       = regexp.MustCompile(`^arn:aws[a-z-]*:backup:[a-z0-9-]+:[0-9]{12}:backup-vault:[A-Za-z0-9_-]{2,50}$`)
)

func orEmpty(ok func(string) bool) func(string) bool {
	return func(v string) bool { return v == "" || ok(v) }
}

func orZero(ok func(int) bool) func(int) bool {
	return func(n int) bool { return n == 0 || ok(n) }
}

func between(least, most int) func(int) bool {
	return func(n int) bool { return least <= n && n <= most }
}

func isHost(v string) bool {
	labels := strings.Split(v, ".")
	for _, l := range labels {
		if !labelForm.MatchString(l) {
			return false
		}
	}
	return len(labels) > 1 && len(v) <= 253
}

// areOrigins reports whether v is empty, *, or a list of https origins as browsers send them
// in the header Origin.
func areOrigins(v string) bool {
	if v == "" || v == api.AnyWebOrigin {
		return true
	}
	for o := range strings.SplitSeq(v, ",") {
		u, err := url.Parse(o)
		if err != nil || u.Host == "" || o != "https://"+strings.ToLower(u.Host) {
			return false
		}
	}
	return true
}

func isWebACL(v string) bool { return v == webACLOwn || webACLForm.MatchString(v) }

// isAddress reports whether v is a mail address in canonical form: SES and IAM
// compare the sender byte for byte.
func isAddress(v string) bool {
	a, err := mail.ParseAddress(v)
	return err == nil && v == a.Reveal()
}

// isProviders reports whether address is a mailbox at a mail provider.
func isProviders(address string) bool {
	a, err := mail.ParseAddress(address)
	return err == nil && a.Public()
}

func isIdentity(v string) bool {
	return slices.Contains([]string{identityDomain, identityAddress, identityExisting}, v)
}

// wholeNumber reads a number from JSON or from the command line.
func wholeNumber(v any) (int, bool) {
	switch v := v.(type) {
	case float64:
		return int(v), v == math.Trunc(v) && math.Abs(v) < 1e9
	case string:
		n, err := strconv.Atoi(v)
		return n, err == nil
	}
	return 0, false
}
