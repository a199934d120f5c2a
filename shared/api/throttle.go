package api

// Throttle configures a gateway's token bucket, which all callers share. Rate is in
// requests a second; Burst is how many may come at once. The zero value lets all through.
type Throttle struct{ Rate, Burst int }

// DefaultThrottle is a deployment's default. It bounds the bill; the service itself limits
// agents. 200 requests a second keep about ten instances of functions busy.
var DefaultThrottle = Throttle{Rate: 200, Burst: 400}

// Route returns the throttle of a route with a rate of its own ([Endpoint.Rate]). It is
// never above t, because the gateway applies it in place of t.
func (t Throttle) Route(rate int) Throttle {
	return Throttle{Rate: min(rate, t.Rate), Burst: min(2*rate, t.Burst)}
}
