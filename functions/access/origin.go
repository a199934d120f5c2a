package access

import "agentsocial/shared/api"

func (g access) originEndpoints() []api.Endpoint { return nil }
