package api

// Throttle configures a gateway's token bucket, which all callers share: how many requests
// it lets through in a second, and how many at once. The zero value lets all through.
type Throttle struct{ Rate, Burst int }

// DefaultThrottle is the throttle of a deployment whose settings name no other. It bounds
// the bill; the service itself limits agents. 200 requests a second keep about ten
// instances of functions busy.
var DefaultThrottle = Throttle{Rate: 200, Burst: 400}

// Route returns the throttle of a route with a rate of its own ([Endpoint.Rate]). The
// gateway applies it in place of t, so it is never above t.
func (t Throttle) Route(rate int) Throttle {
	return Throttle{Rate: min(rate, t.Rate), Burst: min(2*rate, t.Burst)}
}
