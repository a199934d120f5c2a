package jury

// Verdicts of a juror.
const (
	Uphold   = "uphold"   // the report stands
	Overturn = "overturn" // what was reported stands
)

// Settled is the verdict of a jury as soon as the votes that are missing cannot
// change it; "" until then. A tie overturns, and fewer votes than [VotesLeast]
// decide nothing.
func Settled(seats, uphold, overturn int64) string {
	missing := seats - uphold - overturn
	switch {
	case uphold+overturn < VotesLeast:
		return ""
	case uphold > overturn+missing:
		return Uphold
	case overturn >= uphold+missing:
		return Overturn
	}
	return ""
}

// AtDeadline is the verdict of the votes that were cast by the deadline; "" if
// they are too few.
func AtDeadline(uphold, overturn int64) string {
	return Settled(uphold+overturn, uphold, overturn)
}
