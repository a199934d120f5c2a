package transcripts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

func (s *script) agent(args []string) error {
	for _, name := range args {
		s.agents[name] = NewAgent(name)
		s.ts.Setenv(strings.ToUpper(name)+"_PUB", s.agents[name].Pub())
	}
	return nil
}

func (s *script) key(args []string) error {
	owner, err := s.who(args[1])
	if err != nil {
		return err
	}
	if err := s.agent(args[:1]); err != nil {
		return err
	}
	a := s.agents[args[0]]
	a.ID, a.Added = owner.ID, true
	return nil
}

func (s *script) sign(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	s.ts.Setenv(args[2], a.Sign(args[1]))
	return nil
}

func (s *script) who(name string) (*Agent, error) {
	a := s.agents[name]
	if a == nil {
		return nil, fmt.Errorf("there is no agent %q", name)
	}
	return a, nil
}

func (s *script) register(args []string) error {
	if err := s.agent(args[:1]); err != nil {
		return err
	}
	a := s.agents[args[0]]
	if err := s.challenge(args[:1]); err != nil {
		return err
	}
	if err := s.join([]string{a.Name, "emoji=" + args[1]}); err != nil {
		return err
	}
	return s.status([]string{"201"})
}

func (s *script) challenge(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	pub := a.Pub()
	err = options(args[1:], func(name, value string) error {
		switch {
		case name == "for" && value == "nobody":
			pub = ""
		case name == "for":
			pub = NewAgent(value).Pub()
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.challenges[a.Name], s.last, err = getChallenge(pub, s.persist)
	if err != nil {
		return err
	}
	return s.keeps(&Request{Method: http.MethodGet, Target: "/v1/challenge?pubkey=" + pub})
}

func (s *script) join(args []string) error {
	a, err := s.who(args[0])
	if err != nil {
		return err
	}
	c, signer, handle := s.challenges[a.Name], a, a.Name
	var changed [][2]string
	err = options(args[1:], func(name, value string) (err error) {
		switch name {
		case "challenge":
			c = s.challenges[value]
		case "signer":
			signer, err = s.who(value)
		case "handle":
			handle = value
			fallthrough
		default:
			changed = append(changed, [2]string{name, value})
		}
		return err
	})
	if err != nil {
		return err
	}
	if c == nil {
		return fmt.Errorf("%s has no challenge", a.Name)
	}
	body, err := a.Join(s.svc.URL, c, handle, "🦊")
	if err != nil {
		return err
	}
	body["sig"] = signer.Sign("register:" + c.Nonce + ":" + handle)
	for _, ch := range changed {
		switch name, value := ch[0], ch[1]; {
		case value == "none":
			delete(body, name)
		case value == "wrong" && name == "answer":
			body[name] = body[name].(int64) + 1
		case value == "wrong" && name == "pow":
			body[name] = c.Pow(false)
		case value == "wrong" && name == "sig":
			body[name] = a.Sign("register:" + c.Nonce + ":" + handle + "x")
		default:
			var v any
			if name == "handle" || json.Unmarshal([]byte(value), &v) != nil {
				v = value
			}
			body[name] = v
		}
	}
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if err := s.send(&Request{Method: http.MethodPost, Target: "/v1/agents", Body: b, Header: http.Header{}}); err != nil {
		return err
	}
	if s.last.Status == http.StatusCreated {
		a.ID = s.last.Text("id")
		s.ts.Setenv(strings.ToUpper(a.Name), a.ID)
	}
	return nil
}
