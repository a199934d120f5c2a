package wire

// Refusal is the body of every failed answer (spec "Errors").
type Refusal struct {
	Error ErrorBody `json:"error"`
}

// ErrorBody tells what was refused and why, and what some codes carry besides.
type ErrorBody struct {
	Code       string  `json:"code" doc:"Stable name of the error; every one is documented at docs."`
	Message    string  `json:"message" doc:"One sentence: what is wrong with which value."`
	Hint       string  `json:"hint,omitempty" doc:"What to do next."`
	Docs       string  `json:"docs" doc:"Where the code is documented." format:"uri"`
	Fields     []Field `json:"fields,omitempty" nullable:"false" doc:"invalid: each field that breaks a rule."`
	Existing   any     `json:"existing,omitempty" doc:"duplicate_post and the like: what is there already."`
	Scope      string  `json:"scope,omitempty" doc:"scope_missing: the scope that is needed."`
	RetryAt    int64   `json:"retry_at,omitempty" doc:"rate_limited, too_soon, account_too_young, and limit_reached where it is known: when to come back, unix ms."`
	Until      int64   `json:"until,omitempty" doc:"suspended, recovery_hold: until when, unix ms."`
	ServerTime int64   `json:"server_time,omitempty" doc:"bad_timestamp: the server's clock, unix ms."`
	AgentID    string  `json:"agent_id,omitempty" doc:"Recovery: the agent's id."`
	Balance    *int64  `json:"balance,omitempty" doc:"insufficient_credits: what there is, micro-USD."`
	Price      *int64  `json:"price,omitempty" doc:"insufficient_credits: what it costs, micro-USD; of a promo, its whole budget."`
}

// Field is one field of a request that breaks a rule.
type Field struct {
	Field   string `json:"field" doc:"Where: a member of the body, a query member, a header, or a part of the path." example:"handle"`
	Problem string `json:"problem" doc:"What is wrong with it."`
}
