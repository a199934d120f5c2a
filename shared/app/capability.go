package app

import "strings"

// Capabilities are what a function may do that not every function may, as a set.
type Capabilities uint8

const (
	Table    Capabilities = 1 << iota // reads or writes the table: which families, a group says apart
	Secret                            // opens sealed tokens or derives keys
	Pepper                            // hashes mail addresses
	Mail                              // sends mail
	Payments                          // takes money through the payment processor
	Fetch                             // gets documents from URLs that strangers name
)

// Capability is all that follows from a function's having a capability.
type Capability struct {
	Is   Capabilities // the one
	Name string       // in policies

	Variables []string // of the environment, that only functions which have it are told
	Required  []string // variables that must be set, among these and others
	Optional  string   // variable without which none is required; "" if they always are

	Take func(*App) // takes it from an App

	Action   string // of IAM; "" if AWS need not grant it, or if it depends on more
	Resource string // that the action is on: the name of one of the variables
}

// AllCapabilities lists each capability once. It is the only place that knows what
// follows from one: infra grants by it, host reads the environment by it, and the
// local service takes from a function what it does not have.
var AllCapabilities = []Capability{
	{
		Is: Table, Name: "Table", Variables: []string{"TABLE"}, Required: []string{"TABLE", "AWS_REGION"},
		Take: func(a *App) { a.Table = nil },
	},
	{
		Is: Secret, Name: "Secret", Variables: []string{"SECRET_ARN"}, Required: []string{"SECRET_ARN", "AWS_REGION"},
		Take:   func(a *App) { a.Box = nil },
		Action: "secretsmanager:GetSecretValue", Resource: "SECRET_ARN",
	},
	{
		Is: Pepper, Name: "Pepper", Variables: []string{"PEPPER_ARN"}, Required: []string{"PEPPER_ARN", "AWS_REGION"},
		Take:   func(a *App) { a.Pepper = nil },
		Action: "secretsmanager:GetSecretValue", Resource: "PEPPER_ARN",
	},
	{
		Is: Payments, Name: "Payments", Variables: []string{"PAYMENTS_ARN"}, Required: []string{"PAYMENTS_ARN", "STAGE", "AWS_REGION"},
		Take:   func(a *App) { a.Payments = nil },
		Action: "secretsmanager:GetSecretValue", Resource: "PAYMENTS_ARN",
	},
	{
		Is: Mail, Name: "Mail", Variables: []string{"MAIL_FROM", "MAIL_CONFIGURATION_SET"},
		Required: []string{"MAIL_CONFIGURATION_SET", "AWS_REGION"}, Optional: "MAIL_FROM",
		Take:   func(a *App) { a.Mail = nil },
		Action: "ses:SendEmail", Resource: "MAIL_CONFIGURATION_SET",
	},
	{
		Is: Fetch, Name: "Fetch",
		Take: func(a *App) { a.Fetch = nil },
	},
}

// Has reports whether all of d are among c.
func (c Capabilities) Has(d Capabilities) bool { return c&d == d }

// String lists the names, for errors.
func (c Capabilities) String() string {
	var names []string
	for _, x := range AllCapabilities {
		if c.Has(x.Is) {
			names = append(names, x.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Only returns an App with these capabilities and no others.
func (a *App) Only(c Capabilities) *App {
	own := *a
	for _, x := range AllCapabilities {
		if !c.Has(x.Is) {
			x.Take(&own)
		}
	}
	return &own
}
