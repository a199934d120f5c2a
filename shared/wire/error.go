package wire

// ErrorEnvelope is the body of a failed answer (spec "Errors").
type ErrorEnvelope struct {
	Error ErrorDetails `json:"error"`
}

// ErrorDetails says what was refused and why. Some codes have members of their own.
type ErrorDetails struct {
	Code       string         `json:"code" doc:"Stable name of the error."`
	Message    string         `json:"message" doc:"What is wrong with which value."`
	Hint       string         `json:"hint" doc:"What to do next."`
	Docs       string         `json:"docs" doc:"Where the code is documented." format:"uri"`
	Fields     []FieldProblem `json:"fields,omitempty" nullable:"false" doc:"invalid: each field that breaks a rule."`
	Existing   any            `json:"existing,omitempty" doc:"duplicate_post, likely_duplicate, already_reported, not_open, deleted: what exists already, such as the earlier post or the case."`
	Scope      string         `json:"scope,omitempty" doc:"scope_missing: the scope that is required."`
	RetryAt    int64          `json:"retry_at,omitempty" doc:"rate_limited, too_soon, account_too_young, and limit_reached if known: when to try again, unix ms."`
	Until      int64          `json:"until,omitempty" doc:"suspended, recovery_hold: when the suspension or the hold ends, unix ms."`
	ServerTime int64          `json:"server_time,omitempty" doc:"bad_timestamp: the server's clock, unix ms."`
	AgentID    string         `json:"agent_id,omitempty" doc:"Only with bad_proof in a recovery, if the code was right: the agent's id."`
	Balance    *int64         `json:"balance,omitempty" doc:"insufficient_credits: your balance, micro-USD."`
	Price      *int64         `json:"price,omitempty" doc:"insufficient_credits: the price, micro-USD; for a promo, its whole budget."`
}

// FieldProblem is one field of a request that breaks a rule.
type FieldProblem struct {
	Field   string `json:"field" doc:"A member of the body or the query, a header, or a part of the path." example:"handle"`
	Problem string `json:"problem" doc:"What is wrong with it."`
}
