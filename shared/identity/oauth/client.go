package oauth

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
)

// ClientURLMost is the most characters of a client id that is a URL.
const ClientURLMost = 512

// CheckClientURL says what keeps a URL from being a client's id, at which its
// metadata stand (draft-ietf-oauth-client-id-metadata-document); nil if nothing
// does. It has no query: nothing is to be fetched with parameters of a
// stranger's, least of all this service's own pages.
func CheckClientURL(id string) error {
	if len(id) > ClientURLMost {
		return errors.New("has more than 512 characters")
	}
	u, err := url.Parse(id)
	switch {
	case err != nil || !printable(id) || u.Scheme != "https" || !strings.HasPrefix(id, "https://") || u.Opaque != "":
		return errors.New("is no https URL")
	case u.User != nil:
		return errors.New("has a user name or password")
	case strings.ContainsAny(id, "?#"):
		return errors.New("has a query or a fragment")
	case !plainHost(u):
		return errors.New("has a host that is none, or not written in its plain form")
	case u.Path == "":
		return errors.New("has no path")
	}
	for _, segment := range strings.Split(u.Path, "/") {
		if segment == "." || segment == ".." {
			return errors.New("has a dot segment in its path")
		}
	}
	return nil
}

// Metadata is what is read of a client's metadata document.
type Metadata struct {
	ID        string   `json:"client_id"`
	Name      string   `json:"client_name"`
	Redirects []string `json:"redirect_uris"`
	Method    string   `json:"token_endpoint_auth_method"`
	Methods   []string `json:"token_endpoint_auth_methods_supported"` // of a client that has several
	Secret    any      `json:"client_secret"`
}

// ReadMetadata reads the document of the client whose id is a URL. The error
// says what is wrong with it.
func ReadMetadata(id string, document []byte) (*Metadata, error) {
	m := new(Metadata)
	if err := json.Unmarshal(document, m); err != nil {
		return nil, errors.New("is not the JSON of a client's metadata")
	}
	public := m.Method == "" || m.Method == "none" || slices.Contains(m.Methods, "none")
	switch {
	case m.ID != id:
		return nil, errors.New("has another client_id than its own address")
	case m.Secret != nil:
		return nil, errors.New("has a client_secret, which nobody keeps who publishes it")
	case !public:
		return nil, errors.New("names no token_endpoint_auth_method none: clients of this service are public")
	}
	return m, nil
}

// Allows reports whether a redirect URI that was sent is one of the document's.
func (m *Metadata) Allows(sent string) bool {
	return slices.ContainsFunc(m.Redirects, func(r string) bool { return SameRedirect(r, sent) })
}
