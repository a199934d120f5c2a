// Package host is where the program meets Lambda: the environment, the events
// of the gateway and of the stream. Everything else runs the same on a laptop.
package host

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentsocial/shared/app"
)

// Env is the environment of a function. This file is the only one that reads it.
type Env struct {
	Table, BaseURL, Stage, Region      string
	SecretARN, PepperARN, PaymentsARN  string
	AccessKey, SecretKey, SessionToken string // of the function's role; set by Lambda
	MailFrom, MailSet                  string // an address and a configuration set; "" where no mail is sent
	PowBits, PageBits                  int
	MicroUSDPerChar                    int64  // 0: the default
	WebOrigins                         string // separated by commas
}

// Part adds something to an App that only some functions need, so that only
// they link it: shared/host/table, shared/host/secret, shared/host/mail.
type Part struct {
	Needs func(Env) []string // names of the variables that are missing
	Add   func(Env, *app.App)
}

// readEnv reads the environment and names all that is missing at once.
func readEnv(get func(string) string, parts []Part) (Env, error) {
	e := Env{
		Table: get("TABLE"), BaseURL: get("BASE_URL"), Stage: get("STAGE"),
		SecretARN: get("SECRET_ARN"), PepperARN: get("PEPPER_ARN"), PaymentsARN: get("PAYMENTS_ARN"),
		MailFrom: get("MAIL_FROM"), MailSet: get("MAIL_CONFIGURATION_SET"),
		Region: get("AWS_REGION"), AccessKey: get("AWS_ACCESS_KEY_ID"),
		SecretKey: get("AWS_SECRET_ACCESS_KEY"), SessionToken: get("AWS_SESSION_TOKEN"),
	}
	e.WebOrigins = get("WEB_ORIGINS")
	missing := Missing(map[string]string{"BASE_URL": e.BaseURL})
	for _, p := range parts {
		for _, name := range p.Needs(e) {
			if !slices.Contains(missing, name) { // two parts may need the same
				missing = append(missing, name)
			}
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
	e.MicroUSDPerChar = number("MICRO_USD_PER_CHAR", 1, 1_000_000)
	if missing != nil {
		return e, fmt.Errorf("host: these environment variables are missing or wrong: %s", strings.Join(missing, ", "))
	}
	return e, nil
}

// Missing are the names of variables that are empty.
func Missing(vars map[string]string) []string {
	var names []string
	for _, name := range []string{"BASE_URL", "STAGE", "TABLE", "SECRET_ARN", "PEPPER_ARN", "PAYMENTS_ARN", "MAIL_CONFIGURATION_SET", "AWS_REGION"} {
		if v, asked := vars[name]; asked && v == "" {
			names = append(names, name)
		}
	}
	return names
}

// newApp is the App of a function in Lambda.
func newApp(parts []Part) *app.App {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	e, err := readEnv(os.Getenv, parts)
	if err != nil {
		log.Error("cannot start", "error", err.Error())
		os.Exit(1)
	}
	a := &app.App{Now: time.Now, Rand: rand.Reader, Log: log, Settings: app.DefaultSettings()}
	a.Settings.BaseURL = strings.TrimSuffix(e.BaseURL, "/")
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
	for _, p := range parts {
		p.Add(e, a)
	}
	return a
}
