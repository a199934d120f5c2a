package service

import (
	"fmt"

	"agentsocial/shared/app"
)

// LimitsOff is the value of the variable LIMITS that lifts all limits. Deployments refuse
// it.
const LimitsOff = "off"

// SetLimits sets limits as the variable LIMITS says: LimitsOff or an object
// ([app.Limits.With]).
func SetLimits(s *app.Settings, value string) (err error) {
	if value == LimitsOff {
		*s = s.Lifted()
		return nil
	}
	if s.Limits, err = s.Limits.With(value); err != nil {
		return fmt.Errorf("LIMITS: %w", err)
	}
	return nil
}
