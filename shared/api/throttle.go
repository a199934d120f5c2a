package api

// Throttle is how many requests a second a gateway lets through, from all callers
// together, and how many at once: a token bucket. The zero value lets all through.
type Throttle struct{ Rate, Burst int }

// DefaultThrottle is a deployment's unless its settings say otherwise. It bounds the
// bill; the service itself limits agents. 200 requests a second keep about ten
// functions busy.
var DefaultThrottle = Throttle{Rate: 200, Burst: 400}

// Route returns the throttle of a route with a rate of its own ([Endpoint.Rate]). It
// replaces the gateway's for that route, and so is never above it.
func (t Throttle) Route(rate int) Throttle {
	return Throttle{Rate: min(rate, t.Rate), Burst: min(2*rate, t.Burst)}
}
