// Package oauth lets a person's program act for an agent. The program registers,
// sends the person to the consent page, and exchanges the code for tokens (OAuth
// 2.1, as far as MCP clients need it).
//
// The tests on the right check the points on the left. Most of the tests are in
// local/testdata and local/service. local/checks/clients runs the real clients.
//
//	error bodies of the standards      TestRedemptionRefusals, oauth_token.txtar
//	metadata, to the letter            oauth_authorize.txtar
//	WWW-Authenticate of 401 and 403    TestWWWAuthenticate, TestMCPAuthentication
//	registration stores nothing        oauth_authorize.txtar, TestClientIDs, TestForgedCredentialsAreLimited
//	redirect URIs                      TestCraftedRedirects, TestCheckRedirect, TestNoOpenRedirect
//	clients that are URLs              TestClientsOfDocuments, TestClientURLs, TestRefused, TestPrivateAddresses, TestRebindingNames
//	resource                           TestRedemptionRefusals, TestSeveralResources
//	PKCE                               TestProves, TestRedemptionRefusals
//	request, request_uri               TestRequestObjectsAreRefused
//	consent: page, proof of work       TestConsentPageInABrowser, TestConsentPageWithoutScripts, TestConsentIsBoundToItsPage, TestConsentsAreLimited
//	consent: CSRF, framing             TestConsentFromAnotherSiteIsRefused, oauth_authorize.txtar
//	consent: reveals nothing, limits   TestConsentPageRevealsNoAgents, TestConsentsAreLimited, TestRaceOfGuessesOnTheConsentPage
//	reconnecting by mail               TestReconnectingIsARecovery, oauth_token.txtar
//	a code is spent once               TestCodeReplay, TestRaceOfTwoRedemptions, TestRecoveryRevokesConsentCodes
//	redirect_uri at the token endpoint TestRedirectURIMayBeLeftOut
//	a new agent signs up first         TestUnfinishedSignupIsConfined, TestUnfinishedSignupExpires
//	a keyless agent is not lost        TestFoundingConnectionSecuresItsAgent, TestMissingScopeNamesTheLinkCode, life.txtar
//	link codes: scopes, minter, end    TestConnectionIsRevokedWithItsMinter, TestConnectionExpiresWithItsMinter, TestConnectionLivesAsLongAsItsChild, TestLinkedConnectionCannotSecureAnAgent
//	refresh rotates; idle ones end     TestRefreshReplay, TestRefreshReplayIsASetting, TestIdleConnectionEnds
//	refresh at once, and reuse         TestRaceOfRefreshes, TestRaceOfRefreshAndReuse, TestTokensSurviveLostCommitAnswers
//	refresh narrows, for its client    TestRefreshNarrows, TestRefreshChecksTheClient
//	jwt-bearer                         TestAssertion, TestRaceOfOneAssertion
//	revoke                             TestRevokingAConnection, TestRevokeChecksTheClient
//	stale Bearer, Basic                TestStaleBearerIsIgnored
//	limits                             TestTokensAreLimited, TestForgedCredentialsAreLimited
//	nothing in tables, logs, errors    TestOAuthSecretsAreNeitherStoredNorLogged
//	MCP: with and without handshake    TestMCPHandshake, TestMCPWithoutHandshakeOrSession, TestMCPGoClient
//	MCP: methods, versions, headers    TestMCPAllowsOnlyPost, TestMCPNotificationsAreAccepted, TestMCPBadVersions, TestMCPUnknownMethods
//	MCP: Origin, CORS                  TestMCPPagesOfOtherOrigins, TestMCPPreflight
//	MCP: a credential for everything   TestMCPAuthentication, TestMCPReadsWhatTheSDKReads
//	MCP: tools are endpoints           TestMCPTools, TestMCPAnswersKeepTheirSchemas, TestMCPRefusalsMatchHTTP, TestMCPIdempotency, TestMCPLimits
//	MCP: batches                       TestMCPBatch, TestMCPBatchSizeLimit
//	MCP: one server in a process       TestServerIsBuiltOnce
package oauth

import (
	"slices"

	"agentsocial/shared/api"
	"agentsocial/shared/app"
	"agentsocial/tables"
)

type oauth struct{ *app.App }

// New declares the group.
func New(a *app.App) api.Group {
	g := oauth{a}
	return api.Group{
		Name: "oauth", Doc: "OAuth: discovery, registration of clients, consent, tokens.",
		Needs:     app.Table | app.Secret | app.Pepper | app.Mail | app.Fetch,
		Writes:    tables.Agents,
		Endpoints: slices.Concat(g.metadataEndpoints(), g.clientEndpoints(), g.consentEndpoints(), g.tokenEndpoints()),
	}
}

// Topics of the documentation: how OAuth works, and what clients use it for.
const (
	topic    = "tokens"
	purposes = "mcp"
)
