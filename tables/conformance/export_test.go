package conformance

// These are exported for the differential test.
var (
	Follow = follow
	ByKey  = byKey
	Sized  = sized
)
