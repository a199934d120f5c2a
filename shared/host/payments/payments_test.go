package payments

import (
	"slices"
	"testing"

	"agentsocial/shared/app"
	"agentsocial/shared/host"
)

// Without the stage's name, nobody would know a payment again.
func TestNeedsTheStage(t *testing.T) {
	e := host.Env{Stage: "prod", PaymentsARN: "arn", Region: "eu-central-1"}
	if missing := Stripe().Needs(e); missing != nil {
		t.Errorf("%v", missing)
	}
	Stripe().Add(e, &app.App{}) // which panics without
	e.Stage = ""
	if missing := Stripe().Needs(e); !slices.Equal(missing, []string{"STAGE"}) {
		t.Errorf("%v", missing)
	}
}
