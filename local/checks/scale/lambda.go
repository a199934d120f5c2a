package scale

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/shared/lambda/host"
)

// pool counts the executions of the functions behind the gateway and of the readers.
type pool struct {
	most, running, peak int
	cold, refused       int
	invocations         int
	ms                  float64 // of all executions
}

func (p *pool) enter() bool {
	if p.running >= p.most {
		p.refused++
		return false
	}
	p.running++
	p.invocations++
	p.peak = max(p.peak, p.running)
	return true
}

// functions makes the functions behind the gateway. A process of a function has an App and
// a server of its own, and handles one request at a time.
type functions struct{ w *world }

// Group implements [service.Groups].
func (f functions) Group(declare func(*app.App) api.Group) (host.GatewayHandler, error) {
	w := f.w
	var idle []host.GatewayHandler // needs no lock: jobs take turns
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (res events.APIGatewayV2HTTPResponse, err error) {
		j := jobOf(ctx)
		if j != nil && !w.pool.enter() {
			j.refused = true
			return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusServiceUnavailable, Body: `{"message":"Service Unavailable"}`}, nil
		}
		var h host.GatewayHandler
		took := ownTime
		if n := len(idle); n > 0 { // Lambda takes the process that was used last
			h, idle = idle[n-1], idle[:n-1]
		} else {
			own := w.process()
			own = own.Only(declare(own).Needs).Remembering()
			h = host.Gateway(api.NewServer(own, declare(own)))
			took += coldStart
		}
		if j != nil {
			j.ran = true
			w.execute(j, func() {
				if took > ownTime {
					w.pool.cold++
				}
				w.pause(j, stretched(took, j.chance()))
				res, err = h(ctx, e)
			})
		} else {
			res, err = h(ctx, e)
		}
		idle = append(idle, h)
		return res, err
	}, nil
}

func (w *world) execute(j *job, do func()) {
	began := time.Now()
	do()
	w.turns.Wait(j.Job, "left")
	w.pool.running--
	w.pool.ms += float64(time.Since(began)) / float64(time.Millisecond)
}
