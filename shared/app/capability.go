package app

import "strings"

// Capabilities is a set of permissions that only some functions need.
type Capabilities uint8

const (
	Table  Capabilities = 1 << iota
	Secret              // opens sealed tokens or derives keys
	Pepper              // hashes mail addresses
	Mail
	Payments // takes money through the payment processor
	Fetch    // gets documents from URLs that strangers name
	Edge     // refuses callers that go around the edge
)

// Capability describes one capability.
type Capability struct {
	Is   Capabilities // exactly one
	Name string       // in policies

	Variables []string // environment variables for this capability only
	Required  []string // variables that must be set, including shared ones
	Optional  string   // if this variable is not set, Required need not be set; "" if it always must

	Take func(*App) // removes it from an App

	Action   string // an IAM action; "" if none, or if it depends on the group
	Resource string // the variable that names the action's resource
}

// AllCapabilities lists each capability once. infra grants permissions from it, host reads
// the environment by it, and the local service removes what a function lacks.
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
	{
		Is: Edge, Name: "Edge", Variables: []string{"EDGE_SECRET_ARN"}, Required: []string{"AWS_REGION"}, Optional: "EDGE_SECRET_ARN",
		Take:   func(a *App) { a.Edge = nil },
		Action: "secretsmanager:GetSecretValue", Resource: "EDGE_SECRET_ARN",
	},
}

// Has reports whether c includes all of d.
func (c Capabilities) Has(d Capabilities) bool { return c&d == d }

// String returns the names.
func (c Capabilities) String() string {
	var names []string
	for _, x := range AllCapabilities {
		if c.Has(x.Is) {
			names = append(names, x.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Only returns a copy of the App that has no capabilities but c.
func (a *App) Only(c Capabilities) *App {
	own := *a
	for _, x := range AllCapabilities {
		if !c.Has(x.Is) {
			x.Take(&own)
		}
	}
	return &own
}
