package jury

// Verdicts of a juror, or of a jury.
const (
	Uphold   = "uphold"   // the report was right
	Overturn = "overturn" // the reported item stays
)

// Settled returns the verdict once the missing votes cannot change it; until
// then "". A tie overturns. Fewer votes than [VotesLeast] decide nothing.
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

// AtDeadline returns the verdict of the votes at the deadline; "" if they are
// too few.
func AtDeadline(uphold, overturn int64) string {
	return Settled(uphold+overturn, uphold, overturn)
}
