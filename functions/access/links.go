package access

import "agentsocial/shared/api"

func (g access) linkEndpoints() []api.Endpoint { return nil }
