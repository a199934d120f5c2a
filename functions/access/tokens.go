package access

import "agentsocial/shared/api"

func (g access) tokenEndpoints() []api.Endpoint { return nil }
