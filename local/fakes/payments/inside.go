package payments

import (
	"net/http"
	"net/http/httptest"
)

// Inside returns a transport that reaches a stand-in without a network.
func Inside(s *StandIn) http.RoundTripper { return inside{s} }

type inside struct{ to *StandIn }

func (i inside) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	i.to.ServeHTTP(w, r)
	res := w.Result()
	res.Request = r
	return res, nil
}
