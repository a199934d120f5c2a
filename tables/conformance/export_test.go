package conformance

// What the differential test shares with the suite.
var (
	Follow = follow
	ByKey  = byKey
	Sized  = sized
)
