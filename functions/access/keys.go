package access

import "agentsocial/shared/api"

func (g access) keyEndpoints() []api.Endpoint { return nil }
