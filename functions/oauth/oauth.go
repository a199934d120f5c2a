// Package oauth lets a person's program act for an agent. The program registers,
// sends the person to the consent page, and exchanges the code for tokens (OAuth
// 2.1, as far as MCP clients need it).
//
// The tests of each point, in local/testdata and local/service unless noted
// (local/checks/clients runs the real clients):
//
//	error bodies of the standards      TestWhoMayRedeem, oauth_token.txtar
//	metadata, to the letter            oauth_authorize.txtar
//	WWW-Authenticate of 401 and 403    TestChallengesOfTokens, TestMCPWhoMayAsk
//	registration stores nothing        oauth_authorize.txtar, TestClientIDs, TestForgeriesAreLimited
//	redirect URIs                      TestCraftedRedirects, TestCheckRedirect, TestNoOpenRedirect
//	clients that are URLs              TestClientsOfDocuments, TestClientURLs, TestRefused, TestPrivateAddresses, TestNamesThatChangeTheirMind
//	resource                           TestWhoMayRedeem, TestSeveralResources
//	PKCE                               TestProves, TestWhoMayRedeem
//	request, request_uri               TestRequestObjectsAreRefused
//	consent: page, proof of work       TestAPersonConnectsAClient, TestTheConsentPageWithoutScripts, TestConsentIsBoundToItsPage, TestConsentsAreLimited
//	consent: CSRF, framing             TestAnotherSiteAnswersTheConsentPage, oauth_authorize.txtar
//	consent: tells nothing, limits     TestTheConsentPageTellsNothing, TestConsentsAreLimited, TestRaceOfGuessesOnTheConsentPage
//	reconnecting by mail               TestReconnectingIsARecovery, oauth_token.txtar
//	a code is spent once               TestCodeReplay, TestRaceOfTwoRedemptions, TestACodeDiesWithTheEpoch
//	redirect_uri at the token endpoint TestRedirectURIMayBeLeftOut
//	a new agent signs up first         TestSignupMayCallNothingElse, TestUnfinishedAgentIsForgotten
//	a keyless agent is not lost        TestFoundingConnectionSecuresItsAgent, TestMissingScopeNamesTheLinkCode, life.txtar
//	link codes: scopes, minter, end    TestConnectionHangsOnItsMinter, TestConnectionEndsWithItsMinter, TestConnectionLivesAsLongAsItsChild, TestLinkedConnectionSecuresNothing
//	refresh rotates, and is idle       TestRefreshReplay, TestRefreshReplayIsASetting, TestConnectionIdles
//	refresh at once, and reuse         TestRaceOfRefreshes, TestRaceOfRefreshAndReuse, TestTokenAnswersLostInTheTable
//	refresh narrows, of its client     TestRefreshNarrows, TestRefreshOfTheSameClient
//	jwt-bearer                         TestAssertion, TestRaceOfOneAssertion
//	revoke                             TestEndsOfAConnection, TestRevokeOfTheSameClient
//	stale Bearer, Basic                TestStaleBearerMeansNothing
//	limits                             TestTokensAreLimited, TestForgeriesAreLimited
//	nothing in tables, logs, errors    TestTokensOfConnectionsAreNowhere
//	MCP: both eras, no sessions        TestMCPHandshake, TestMCPWithoutHandshakeOrSession, TestMCPGoClient
//	MCP: methods, versions, headers    TestMCPGetAndDeleteAreNot, TestMCPNotificationsAreAccepted, TestMCPBadVersions, TestMCPUnknownMethods
//	MCP: Origin, CORS                  TestMCPPagesOfOtherOrigins, TestMCPPreflight
//	MCP: a credential for everything   TestMCPWhoMayAsk, TestMCPReadsWhatTheSDKReads
//	MCP: tools are endpoints           TestMCPTools, TestMCPAnswersKeepTheirSchemas, TestMCPRefusalsAreTheEndpoints, TestMCPIdempotency, TestMCPLimits
//	MCP: batches                       TestMCPBatch, TestMCPBatchHasASize
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

// Topics of the documentation: how it is done, and what for.
const (
	topic    = "tokens"
	purposes = "mcp"
)
