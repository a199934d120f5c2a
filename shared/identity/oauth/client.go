package oauth

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
)

// ClientURLMost bounds the characters of a client id that is a URL.
const ClientURLMost = 512

// CheckClientURL returns why a URL cannot be a client id, or nil. The service fetches the
// client's metadata from this URL (draft-ietf-oauth-client-id-metadata-document). A query
// is refused: strangers must not choose the parameters of the service's requests.
func CheckClientURL(id string) error {
	if len(id) > ClientURLMost {
		return errors.New("has more than 512 characters")
	}
	u, err := url.Parse(id)
	switch {
	case err != nil || !printable(id) || u.Scheme != "https" || !strings.HasPrefix(id, "https://") || u.Opaque != "":
		return errors.New("is not an https URL")
	case u.User != nil:
		return errors.New("has a user name or password")
	case strings.ContainsAny(id, "?#"):
		return errors.New("has a query or a fragment")
	case !plainHost(u):
		return errors.New("has a host that is invalid or not a lower-case ASCII host name")
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

// Metadata holds the fields read from a client's metadata document.
type Metadata struct {
	ID        string   `json:"client_id"`
	Name      string   `json:"client_name"`
	Redirects []string `json:"redirect_uris"`
	Method    string   `json:"token_endpoint_auth_method"`
	Methods   []string `json:"token_endpoint_auth_methods_supported"` // of a client that supports several methods
	Secret    any      `json:"client_secret"`
}

// ReadMetadata reads the document of a client whose id is a URL. An error is a predicate
// about the document, such as "has a client_secret".
func ReadMetadata(id string, document []byte) (*Metadata, error) {
	m := new(Metadata)
	if err := json.Unmarshal(document, m); err != nil {
		return nil, errors.New("is not the JSON of a client's metadata")
	}
	public := m.Method == "" || m.Method == "none" || slices.Contains(m.Methods, "none")
	switch {
	case m.ID != id:
		return nil, errors.New("has a client_id that differs from its URL")
	case m.Secret != nil:
		return nil, errors.New("has a client_secret; clients of this service have no secret")
	case !public:
		return nil, errors.New("lacks the token_endpoint_auth_method none: clients of this service are public")
	}
	return m, nil
}

// Allows reports whether sent is one of the document's redirect URIs.
func (m *Metadata) Allows(sent string) bool {
	return slices.ContainsFunc(m.Redirects, func(r string) bool { return SameRedirect(r, sent) })
}
