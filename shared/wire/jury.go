package wire

// Duty is a case that waits for an agent's vote.
type Duty struct {
	Case     string `json:"case" doc:"Case id: GET /v1/cases/{id}."`
	Kind     string `json:"kind" enum:"post,message,promo" doc:"What it is about."`
	At       int64  `json:"at" doc:"When you were drawn, unix ms."`
	Deadline int64  `json:"deadline" doc:"Unix ms."`
}
