// Package host runs the program's functions on Lambda. It reads their environment, and the
// events of the gateway, the stream, the clock and the mail service.
package host

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentsocial/shared/app"
	"agentsocial/shared/lambda/metrics"
)

// Env holds a function's environment variables. Only this file reads them.
type Env struct {
	Table, BaseURL, Stage, Region      string
	SecretARN, PepperARN, PaymentsARN  string
	EdgeSecretARN                      string // "" if callers reach the gateway directly
	AccessKey, SecretKey, SessionToken string // of the function's role; set by Lambda
	XRayDaemon                         string // its address; set by Lambda
	MailFrom, MailSet                  string // the sender address and its configuration set; "" if the deployment sends no mail
	PowBits, PageBits                  int
	MicroUSDPerChar                    int64  // 0 for the default
	WebOrigins                         string // separated by commas
	Contact                            string // of the operator; "" if the deployment has none
	Index                              bool   // search engines may list pages with texts of agents
	NoEndpointMetrics                  bool   // leaves out metrics by endpoint
	LogReads                           int64  // [app.Settings.LogReads]; ignored unless NoEndpointMetrics
	Limits                             app.Limits
	Version                            string // what is deployed, as git describes it; "" if unknown

	// URLs of AWS services, from the variables that AWS's SDKs read; "" for AWS itself.
	DynamoDBURL, SecretsManagerURL, SESURL string

	Local *Local // nil except on a laptop
}

// Local configures a built function that runs on a laptop. It is the variable LOCAL, as
// JSON.
type Local struct {
	Ahead     time.Duration `json:"ahead"` // added to the machine's clock
	StripeURL string        `json:"stripe"`

	ByAddr     bool          `json:"by_addr"`
	MaxReads   int64         `json:"max_reads"`
	ViewSample int64         `json:"view_sample"`
	PromoWait  time.Duration `json:"promo_wait"`
	Remember   time.Duration `json:"remember"`
}

// Part gives an App a capability. Parts are in other packages, so that only functions with
// the capability link its dependencies.
type Part struct {
	Is  app.Capabilities // exactly one
	Add func(Env, *app.App)
}

func capabilities(parts []Part) (c app.Capabilities) {
	for _, p := range parts {
		c |= p.Is
	}
	return c
}

// readEnv's error names every variable that is missing or wrong.
func readEnv(get func(string) string, has app.Capabilities) (Env, error) {
	e := Env{
		Table: get("TABLE"), BaseURL: get("BASE_URL"), Stage: get("STAGE"),
		SecretARN: get("SECRET_ARN"), PepperARN: get("PEPPER_ARN"), PaymentsARN: get("PAYMENTS_ARN"), EdgeSecretARN: get("EDGE_SECRET_ARN"),
		MailFrom: get("MAIL_FROM"), MailSet: get("MAIL_CONFIGURATION_SET"),
		Region: get("AWS_REGION"), AccessKey: get("AWS_ACCESS_KEY_ID"),
		SecretKey: get("AWS_SECRET_ACCESS_KEY"), SessionToken: get("AWS_SESSION_TOKEN"), XRayDaemon: get("AWS_XRAY_DAEMON_ADDRESS"),
	}
	e.WebOrigins, e.Contact, e.Version = get("WEB_ORIGINS"), get("CONTACT"), get("VERSION")
	e.Index = get("INDEX") == "true"
	e.NoEndpointMetrics = get("ENDPOINT_METRICS") == "false"
	e.DynamoDBURL, e.SecretsManagerURL, e.SESURL = get("AWS_ENDPOINT_URL_DYNAMODB"), get("AWS_ENDPOINT_URL_SECRETS_MANAGER"), get("AWS_ENDPOINT_URL_SESV2")
	required := []string{"BASE_URL"}
	for _, c := range app.AllCapabilities {
		if has.Has(c.Is) && (c.Optional == "" || get(c.Optional) != "") {
			required = append(required, c.Required...)
		}
	}
	var missing []string
	for _, name := range required {
		if get(name) == "" && !slices.Contains(missing, name) { // two capabilities may require the same variable
			missing = append(missing, name)
		}
	}
	number := func(name string, least, most int64) (n int64) {
		s := get(name)
		if s == "" {
			return 0
		}
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < least || n > most {
			missing = append(missing, fmt.Sprintf("%s (an integer from %d to %d)", name, least, most))
		}
		return n
	}
	e.PowBits = int(number("POW_BITS", 1, 64))
	e.PageBits = int(number("PAGE_BITS", 1, 30))
	e.LogReads = number("LOG_READS", 1, 1_000_000)
	e.MicroUSDPerChar = number("MICRO_USD_PER_CHAR", 1, 1_000_000)
	var err error
	if e.Limits, err = app.DefaultSettings().Limits.With(get("LIMITS")); err != nil {
		missing = append(missing, "LIMITS ("+strings.ReplaceAll(err.Error(), "\n", "; ")+")")
	}
	if local := get("LOCAL"); local != "" {
		if err := json.Unmarshal([]byte(local), &e.Local); err != nil {
			missing = append(missing, "LOCAL ("+err.Error()+")")
		}
	}
	if missing != nil {
		return e, fmt.Errorf("host: these environment variables are missing or wrong: %s", strings.Join(missing, ", "))
	}
	return e, nil
}

// Endpoint returns a URL for an SDK's client. For "" it returns nil, which means AWS's own.
func Endpoint(url string) *string {
	if url == "" {
		return nil
	}
	return &url
}

// Variables returns what a deployment sets for a function with these capabilities, without
// what Lambda itself sets.
func (e Env) Variables(has app.Capabilities) map[string]string {
	vars := map[string]string{
		"TABLE": e.Table, "BASE_URL": e.BaseURL, "STAGE": e.Stage,
		"SECRET_ARN": e.SecretARN, "PEPPER_ARN": e.PepperARN, "PAYMENTS_ARN": e.PaymentsARN, "EDGE_SECRET_ARN": e.EdgeSecretARN,
		"MAIL_FROM": e.MailFrom, "MAIL_CONFIGURATION_SET": e.MailSet,
		"POW_BITS": digits(int64(e.PowBits)), "PAGE_BITS": digits(int64(e.PageBits)), "MICRO_USD_PER_CHAR": digits(e.MicroUSDPerChar), "LOG_READS": digits(e.LogReads),
		"WEB_ORIGINS": e.WebOrigins, "CONTACT": e.Contact, "VERSION": e.Version, "LIMITS": e.Limits.Beside(app.DefaultSettings().Limits),
		"AWS_ENDPOINT_URL_DYNAMODB": e.DynamoDBURL, "AWS_ENDPOINT_URL_SECRETS_MANAGER": e.SecretsManagerURL, "AWS_ENDPOINT_URL_SESV2": e.SESURL,
	}
	if e.Local != nil {
		b, err := json.Marshal(e.Local)
		if err != nil {
			panic(err) // cannot fail
		}
		vars["LOCAL"] = string(b)
	}
	if e.Index {
		vars["INDEX"] = "true"
	}
	if e.NoEndpointMetrics {
		vars["ENDPOINT_METRICS"] = "false"
	}
	for _, c := range app.AllCapabilities {
		if !has.Has(c.Is) {
			for _, name := range c.Variables {
				delete(vars, name)
			}
		}
	}
	maps.DeleteFunc(vars, func(_, value string) bool { return value == "" })
	return vars
}

// digits writes a number; "" for 0.
func digits(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func newApp(parts []Part) *app.App {
	e, err := readEnv(os.Getenv, capabilities(parts))
	log := slog.New(metrics.Handler(os.Stdout, e.Stage, !e.NoEndpointMetrics))
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	if e.Version != "" {
		log = log.With("version", e.Version)
	}
	a := &app.App{Now: time.Now, Rand: rand.Reader, Log: log, Settings: app.DefaultSettings()}
	a.Settings.BaseURL = strings.TrimSuffix(e.BaseURL, "/")
	a.Settings.Contact, a.Settings.Index, a.Settings.Version = e.Contact, e.Index, e.Version
	if e.WebOrigins != "" {
		a.Settings.WebOrigins = strings.Split(e.WebOrigins, ",")
	}
	if e.PowBits != 0 {
		a.Settings.PowBits = e.PowBits
	}
	if e.PageBits != 0 {
		a.Settings.PageBits = e.PageBits
	}
	if e.MicroUSDPerChar != 0 {
		a.Settings.MicroUSDPerChar = e.MicroUSDPerChar
	}
	a.Settings.Limits = e.Limits
	if e.NoEndpointMetrics { // metrics by endpoint need a line for every request
		a.Settings.LogReads = e.LogReads
	}
	if l := e.Local; l != nil {
		a.Now = func() time.Time { return time.Now().Add(l.Ahead) }
		a.Settings.ByAddr, a.Settings.MaxReads, a.Settings.ViewSample, a.Settings.PromoWait = l.ByAddr, l.MaxReads, l.ViewSample, l.PromoWait
		a.Settings.Remember = l.Remember
	}
	for _, p := range parts {
		p.Add(e, a)
	}
	return a
}
