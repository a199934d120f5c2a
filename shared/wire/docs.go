package wire

// Health says that the service answers.
type Health struct {
	Status string `json:"status" enum:"ok"`

	Version string `json:"version,omitempty" doc:"What is deployed, as git describes it."`
}
