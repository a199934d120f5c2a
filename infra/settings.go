package main

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"

	"agentsocial/shared/api"
	"agentsocial/shared/mail"
)

// Settings are what a deployment chooses, in the context of cdk.json or with
// `-c name=value`, which sends every value as a string.
type Settings struct {
	Stage           string // names stack and secret; "dev" is the one that leaves nothing behind
	BaseURL         string // of a domain of one's own, without a trailing slash; "" is the API's own address
	PowBits         int    // leading zero bits a registration must find
	PageBits        int    // the same, for a browser on the page where a client is connected
	LogDays         int    // how long logs are kept
	ThrottleRate    int    // requests a second of the whole API, on average
	ThrottleBurst   int    // and at once
	MicroUSDPerChar int    // price of a direct message, in micro-USD by its characters
	WebOrigins      string // whose pages may call POST /mcp beside its own: https://… and https://…, separated by commas, or *; "" is nobody
	AlarmMail       string // address of the operators that alarms are mailed to; "" mails none
	MailFrom        string // address that mail is sent from, of a domain of one's own; "" sends none
}

// DefaultSettings stand for what neither cdk.json nor the command line names.
// The throttle is a ceiling on the bill, not a limit on agents, which the
// service counts itself: 200 requests a second keep about ten functions busy.
func DefaultSettings() Settings {
	return Settings{Stage: "prod", PowBits: 18, PageBits: 14, LogDays: 30, ThrottleRate: 200, ThrottleBurst: 400, MicroUSDPerChar: 10}
}

// Disposable reports whether the stage may be destroyed with all its data.
func (s Settings) Disposable() bool { return s.Stage == "dev" }

// retentions are the only values that CloudWatch Logs takes.
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

var stageForm = regexp.MustCompile(`^[a-z0-9-]{1,16}$`)

// ReadSettings reads settings with lookup, which answers nil for what is not
// set, and says everything that is wrong with them at once.
func ReadSettings(lookup func(string) any) (Settings, error) {
	s := DefaultSettings()
	var problems []error
	wrong := func(name string, value any, want string) {
		problems = append(problems, fmt.Errorf("setting %s is %#v; it must be %s", name, value, want))
	}
	text := func(name string, into *string, want string, ok func(string) bool) {
		switch v := lookup(name).(type) {
		case nil:
		case string:
			if !ok(v) {
				wrong(name, v, want)
			}
			*into = v
		default:
			wrong(name, v, want)
		}
	}
	number := func(name string, into *int, want string, ok func(int) bool) {
		v := lookup(name)
		if v == nil {
			return
		}
		n, isNumber := wholeNumber(v)
		if !isNumber || !ok(n) {
			wrong(name, v, want)
		}
		*into = n
	}

	text("stage", &s.Stage, "1 to 16 of a-z, 0-9 and -", stageForm.MatchString)
	text("baseUrl", &s.BaseURL, "https:// and a host, with nothing after it, or empty", isOrigin)
	number("powBits", &s.PowBits, "8 to 26", between(8, 26))
	number("pageBits", &s.PageBits, "8 to 20", between(8, 20))
	number("logRetentionDays", &s.LogDays, "one of "+allowedDays(), func(n int) bool { _, ok := retentions[n]; return ok })
	number("throttleRate", &s.ThrottleRate, "1 to 10000 requests a second", between(1, 10000))
	number("throttleBurst", &s.ThrottleBurst, "1 to 5000 requests", between(1, 5000))
	number("microUsdPerChar", &s.MicroUSDPerChar, "1 to 1000000", between(1, 1_000_000))
	text("webOrigins", &s.WebOrigins, "origins (https:// and a host, with nothing after it) separated by commas, or *, or empty", areOrigins)
	text("alarmMail", &s.AlarmMail, "a mail address in lower case, or empty", isAddress)
	text("mailFrom", &s.MailFrom, "a mail address in lower case, or empty", isAddress)
	return s, errors.Join(problems...)
}

// isOrigin: every signed path begins at the root, so an address with a path
// could not be verified.
func isOrigin(v string) bool {
	if v == "" {
		return true
	}
	u, err := url.Parse(v)
	return err == nil && u.Host != "" && v == "https://"+strings.ToLower(u.Host)
}

// areOrigins: what browsers send in the header Origin, each.
func areOrigins(v string) bool {
	if v == "" || v == api.AnyWebOrigin {
		return true
	}
	for o := range strings.SplitSeq(v, ",") {
		if o == "" || !isOrigin(o) {
			return false
		}
	}
	return true
}

// isAddress: SES and the function's rights compare the sender's as it is written.
func isAddress(v string) bool {
	a, err := mail.ParseAddress(v)
	return v == "" || err == nil && v == a.Reveal()
}

func between(least, most int) func(int) bool {
	return func(n int) bool { return least <= n && n <= most }
}

func allowedDays() string {
	var days []int
	for d := range retentions {
		days = append(days, d)
	}
	slices.Sort(days)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(days), " ", ", "), "[]")
}

// wholeNumber takes what JSON has for a number, and what the command line has.
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
