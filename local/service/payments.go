package service

import (
	"context"
	"net/http"
	"path/filepath"

	standin "agentsocial/local/fakes/payments"
	"agentsocial/shared/outside/payments"
	"agentsocial/shared/outside/payments/stripe"
)

// payPrefix begins the paths of the payment processor's stand-in: its API and its page.
const payPrefix = "/_local/pay"

const localStage = "local"

// openPayments returns c.Payments if it is set. Otherwise a deployed table gets no processor,
// so play money never reaches it, and other tables get the production client connected to the
// stand-in.
func (s *Service) openPayments(c Config, dir string) (payments.Processor, error) {
	if c.Payments != nil {
		return c.Payments, nil
	}
	if s.table.deployed {
		return payments.None{}, nil
	}
	file := ""
	if dir != "" && s.table.durable {
		file = filepath.Join(dir, "payments.json")
	}
	var err error
	s.payer, err = standin.Open(standin.Config{
		URL: s.URL + payPrefix, Webhook: s.URL + "/payments/webhook", File: file,
		Now: s.clock.Now, Rand: c.Rand, Log: c.Log,
	})
	if err != nil {
		return nil, err
	}
	key, secret := s.payer.Keys()
	keys := stripe.Keys{SecretKey: key, WebhookSecrets: []string{secret}}
	return stripe.New(stripe.Config{
		BaseURL: s.URL, Stage: localStage, Way: standin.Way(s.URL + payPrefix),
		Keys: func(context.Context) (stripe.Keys, error) { return keys, nil },
	}), nil
}

// pay passes requests on to the stand-in. A person's browser may call it, but only by a
// loopback name.
func (s *Service) pay(w http.ResponseWriter, r *http.Request) {
	if !loopback(r.Host) {
		http.Error(w, "only on this machine", http.StatusForbidden)
		return
	}
	s.payer.ServeHTTP(w, r)
}
