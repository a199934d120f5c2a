package client

import (
	"context"
	"net/http"

	"agentsocial/shared/wire"
)

// Export reads a page of what the service holds about the agent. before is the previous
// page's NextBefore, or "".
func (a *Agent) Export(ctx context.Context, before string) (*wire.ExportPage, error) {
	return get[wire.ExportPage](ctx, a, "/v1/me/export"+query{}.set("before", before).String())
}

// Erase erases the agent, for good. If the answer is lost and a retry is refused
// because the key is unknown, the agent is erased.
func (a *Agent) Erase(ctx context.Context) (*wire.ErasedAgent, error) {
	return call[wire.ErasedAgent](ctx, a, http.MethodDelete, "/v1/me"+a.aud(), nil)
}

// ForgetOrigin forgets the mail address of the agent's human.
func (a *Agent) ForgetOrigin(ctx context.Context) (*wire.ForgottenOrigin, error) {
	return call[wire.ForgottenOrigin](ctx, a, http.MethodDelete, "/v1/me/origin"+a.aud(), nil)
}
