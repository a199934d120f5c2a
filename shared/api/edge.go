package api

import (
	"net/http"
	"net/netip"
)

// The edge sets these headers on every request, and overwrites values that a caller sends.
// Without an edge, the service ignores them.
const (
	HeaderEdgeSecret    = "X-Origin-Secret"
	HeaderViewerAddress = "X-Viewer-Address" // the caller's IP address
)

// Messages of log lines. infra has an alarm for them.
const (
	EdgeUnknown   = "edge not recognised"  // the edge's secret is wrong or missing
	EdgeAddressed = "edge sent no address" // no address, or one that cannot be parsed
)

// throughEdge refuses callers that go around the edge. It takes the caller's address from
// the edge, because the gateway sees only the edge's own.
func (s *Server) throughEdge(c *Call, r *http.Request) error {
	if s.app.Edge == nil {
		return nil
	}
	sent, address := r.Header.Get(HeaderEdgeSecret), r.Header.Get(HeaderViewerAddress)
	r.Header.Del(HeaderEdgeSecret)
	r.Header.Del(HeaderViewerAddress)
	refused := Fail(EdgeRequired, "This is not the service's public address; call %s.", s.app.Settings.BaseURL)
	if sent == "" {
		if address != "" { // an edge that lost its secret
			c.Log.Warn(EdgeUnknown)
		}
		return refused
	}
	ours, err := s.app.Edge(r.Context(), sent)
	if err != nil {
		return Fail(Unavailable, "The service cannot tell now whether the request came through its public address.").Because(err)
	}
	if !ours {
		c.Log.Warn(EdgeUnknown)
		return refused
	}
	if _, err := netip.ParseAddr(address); err != nil {
		c.Log.Warn(EdgeAddressed)
		return nil
	}
	c.Address = addressBlock(address)
	return nil
}
