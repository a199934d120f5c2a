package lambdas

import (
	"encoding/json"
	"net/http"
	"time"

	"agentsocial/shared/outside/mail"
)

// Cloud stands in at one address for all services besides the table: AWS Secrets Manager,
// Amazon SES and Stripe.
type Cloud struct {
	Secrets map[string]string // by ARN
	Mail    mail.Sender
	Stripe  http.Handler
}

// bodyMost bounds a request's body, in bytes.
const bodyMost = 1 << 20

// Handler returns the handler of the calls.
func (c Cloud) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{$}", c.secret)
	mux.HandleFunc("POST /v2/email/outbound-emails", c.mail)
	mux.Handle("/v1/", c.Stripe)
	return mux
}

// secret implements
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html
func (c Cloud) secret(w http.ResponseWriter, r *http.Request) {
	var in struct{ SecretId string }
	text, ok := "", false
	if r.Header.Get("X-Amz-Target") == "secretsmanager.GetSecretValue" && read(w, r, &in) == nil {
		text, ok = c.Secrets[in.SecretId]
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if !ok {
		say(w, http.StatusBadRequest, map[string]any{"__type": "ResourceNotFoundException", "Message": "Secrets Manager can't find the specified secret."})
		return
	}
	say(w, http.StatusOK, map[string]any{
		"ARN": in.SecretId, "Name": in.SecretId, "SecretString": text, "VersionStages": []string{"AWSCURRENT"}, "CreatedDate": time.Now().Unix(),
	})
}

type content struct{ Data string }

// mail implements
// https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
func (c Cloud) mail(w http.ResponseWriter, r *http.Request) {
	var in struct {
		FromEmailAddress, ConfigurationSetName string
		Destination                            struct{ ToAddresses []string }
		Content                                struct {
			Simple struct {
				Subject content
				Body    struct{ Text, Html content }
			}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	refuse := func(kind, why string) {
		w.Header().Set("X-Amzn-ErrorType", kind)
		say(w, http.StatusBadRequest, map[string]any{"message": why})
	}
	if err := read(w, r, &in); err != nil || in.FromEmailAddress == "" || in.ConfigurationSetName == "" || len(in.Destination.ToAddresses) != 1 {
		refuse("BadRequestException", "one sender, one configuration set and one recipient are required")
		return
	}
	to, err := mail.ParseAddress(in.Destination.ToAddresses[0])
	if err != nil {
		refuse("BadRequestException", err.Error())
		return
	}
	s := in.Content.Simple
	err = c.Mail.Send(r.Context(), mail.Message{To: to, Subject: s.Subject.Data, Text: s.Body.Text.Data, HTML: s.Body.Html.Data})
	if err != nil {
		refuse("MessageRejected", err.Error())
		return
	}
	say(w, http.StatusOK, map[string]any{"MessageId": "local"})
}

func read(w http.ResponseWriter, r *http.Request, v any) error {
	return json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyMost)).Decode(v)
}

func say(w http.ResponseWriter, status int, v any) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the caller may be gone
}
