package host

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentsocial/shared/app"
)

// whole returns an environment with every variable that a deployment or a laptop sets.
func whole() Env {
	e := Env{
		Table: "t", BaseURL: "https://social.example", Stage: "prod", SecretARN: "secret", PepperARN: "pepper", PaymentsARN: "payments", EdgeSecretARN: "edge",
		MailFrom: "no-reply@social.example", MailSet: "set", PowBits: 20, PageBits: 12, MicroUSDPerChar: 25, WebOrigins: "*", Contact: "ops@social.example", Index: true,
		NoEndpointMetrics: true, LogReads: 16, Version: "v1.2.0-3-g0123456789ab", Limits: app.DefaultSettings().Limits,
		DynamoDBURL: "http://127.0.0.1:1", SecretsManagerURL: "http://127.0.0.1:2", SESURL: "http://127.0.0.1:3",
		Local: &Local{Ahead: time.Hour, StripeURL: "http://127.0.0.1:4", ByAddr: true, MaxReads: 7, ViewSample: 3, PromoWait: time.Second, Remember: time.Minute},
	}
	e.Limits.MailsDay, e.Limits.PostsPerHour = 1, 2
	return e
}

func TestReadEnv_InverseOfVariables(t *testing.T) {
	byLambda := []string{"Region", "AccessKey", "SecretKey", "SessionToken", "XRayDaemon"}
	e := whole()
	for v, i := reflect.ValueOf(e), 0; i < v.NumField(); i++ {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() != slices.Contains(byLambda, name) {
			t.Errorf("field %s is not set in whole(), or is set but comes from Lambda", name)
		}
	}
	for _, want := range []Env{e, {BaseURL: "https://social.example", Limits: app.DefaultSettings().Limits}} {
		vars := want.Variables(^app.Capabilities(0))
		for name, value := range vars {
			if value == "" {
				t.Errorf("Variables: %s is empty, want it left out", name)
			}
		}
		got, err := readEnv(func(name string) string { return vars[name] }, 0)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("readEnv(Variables):\ngot\n%+v, %v\nwant\n%+v", got, err, want)
		}
	}
}

// A function without a capability does not get the capability's variables.
func TestEnv_Variables(t *testing.T) {
	all := whole().Variables(^app.Capabilities(0))
	for needs, names := range map[app.Capabilities]string{
		0:            "",
		app.Table:    "TABLE",
		app.Secret:   "SECRET_ARN",
		app.Pepper:   "PEPPER_ARN",
		app.Payments: "PAYMENTS_ARN",
		app.Edge:     "EDGE_SECRET_ARN",
		app.Mail:     "MAIL_CONFIGURATION_SET MAIL_FROM",
		app.Table | app.Secret | app.Pepper | app.Mail | app.Payments | app.Edge: "EDGE_SECRET_ARN MAIL_CONFIGURATION_SET MAIL_FROM PAYMENTS_ARN PEPPER_ARN SECRET_ARN TABLE",
	} {
		vars := whole().Variables(needs)
		var told []string
		for name, value := range all {
			switch own := strings.Contains("TABLE SECRET_ARN PEPPER_ARN PAYMENTS_ARN EDGE_SECRET_ARN MAIL_FROM MAIL_CONFIGURATION_SET", name); {
			case own && vars[name] == value:
				told = append(told, name)
			case !own && vars[name] != value, vars[name] != "" && vars[name] != value:
				t.Errorf("Variables(%v): %s = %q, want %q, or none without its capability", needs, name, vars[name], value)
			}
		}
		slices.Sort(told)
		if got := strings.Join(told, " "); got != names {
			t.Errorf("variables of capabilities %v = %s, want %s", needs, got, names)
		}
	}
}

func TestNewApp_Local(t *testing.T) {
	e := whole()
	for name, value := range e.Variables(^app.Capabilities(0)) {
		t.Setenv(name, value)
	}
	a := newApp(nil)
	if ahead := time.Until(a.Now()); ahead < 59*time.Minute || ahead > time.Hour {
		t.Errorf("clock is %s ahead, want 59 to 60 minutes", ahead)
	}
	s := a.Settings
	if !s.ByAddr || s.MaxReads != 7 || s.ViewSample != 3 || s.PromoWait != time.Second || s.Remember != time.Minute || s.Limits != e.Limits || s.PowBits != 20 || s.LogReads != 16 {
		t.Errorf("settings = %+v, want those of LOCAL and of the environment %+v", s, e)
	}
	if _, err := readEnv(func(name string) string {
		return map[string]string{"BASE_URL": "x", "LOCAL": "yes"}[name]
	}, 0); err == nil || !strings.Contains(err.Error(), "LOCAL") {
		t.Errorf("readEnv with LOCAL=yes = %v, want an error about LOCAL", err)
	}
}
