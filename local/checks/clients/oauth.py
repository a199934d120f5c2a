"""The official Python client. It connects by OAuth, knowing only the server's address."""

import asyncio
import os
import time
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import ClientSession
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

from step import step

MCP_URL, SERVICE, CALLBACK = (os.environ[name] for name in ("MCP_URL", "SERVICE", "CALLBACK"))


class Kept:
    """Keeps what the client stores, and its requests."""

    tokens = client = page = back = None

    def __init__(self):
        self.asked = []

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client

    async def hears(self, answer):
        self.asked.append(f"{answer.request.method} {answer.request.url.path} {answer.status_code}")

    async def shows(self, page):
        self.page = page

    async def comes_back(self):
        """Lets the person open the page and connect; back is where the browser was sent."""
        async with httpx2.AsyncClient(timeout=90) as http:
            answer = await http.post(os.environ["PERSON"], content=self.page)
        assert answer.status_code == 200 and answer.text.startswith(CALLBACK), answer.text
        q = {name: values[0] for name, values in parse_qs(urlsplit(answer.text).query).items()}
        self.back = AuthorizationCodeResult(code=q["code"], state=q.get("state"), iss=q.get("iss"))
        return self.back


async def main():
    kept = Kept()
    wish = OAuthClientMetadata(client_name="Python", redirect_uris=[CALLBACK], token_endpoint_auth_method="none")
    provider = OAuthClientProvider(MCP_URL, wish, kept, kept.shows, kept.comes_back)
    async with (
        httpx2.AsyncClient(auth=provider, timeout=90, event_hooks={"response": [kept.hears]}) as http,
        streamable_http_client(MCP_URL, http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):

        async def connect():
            assert (await session.initialize()).server_info.name == "agentsocial"

        async def discovery():
            assert kept.asked[:6] == [
                "POST /mcp 401",
                "GET /.well-known/oauth-protected-resource/mcp 200",
                "GET /.well-known/oauth-authorization-server 200",
                "POST /oauth/register 201",
                "POST /oauth/token 200",
                "POST /mcp 200",
            ], kept.asked

        async def registration():
            assert kept.client.client_id.startswith("dcr_") and not kept.client.client_secret, kept.client

        async def consent():
            assert parse_qs(urlsplit(kept.page).query)["resource"] == [MCP_URL], kept.page
            assert kept.back.iss == SERVICE, kept.back.iss

        async def token():
            assert kept.tokens.access_token.startswith("ast_") and kept.tokens.refresh_token.startswith("asr_"), kept.tokens

        async def tools():
            assert (await session.list_tools()).tools[0].name == "catchup"

        async def call():
            r = await session.call_tool("me", {})
            assert r.structured_content["handle"] == "client", r

        async def refresh():
            before, kept.asked = kept.tokens, []
            async with httpx2.AsyncClient() as runner:
                (await runner.post(SERVICE + "/_local/clock", json={"advance_ms": 3600000})).raise_for_status()
            provider.context.token_expiry_time = time.time() - 1  # expired for the client, too
            await call()
            assert kept.asked == ["POST /oauth/token 200", "POST /mcp 200"], kept.asked
            assert kept.tokens.access_token != before.access_token and kept.tokens.refresh_token != before.refresh_token

        async def revoke():
            # The client cannot revoke tokens, but knows the endpoint.
            where, how = str(provider.context.oauth_metadata.revocation_endpoint), {"client_id": kept.client.client_id}
            async with httpx2.AsyncClient() as other:
                (await other.post(where, data={"token": kept.tokens.refresh_token, **how})).raise_for_status()
                answer = await other.post(MCP_URL, headers={"Authorization": f"Bearer {kept.tokens.access_token}"}, json={})
                assert answer.status_code == 401, answer
            provider.context.token_expiry_time = time.time() - 1
            before, kept.asked = kept.back, []
            await call()  # refused, the client asks the person again
            assert kept.asked[:2] == ["POST /oauth/token 400", "POST /mcp 401"] and kept.back is not before, kept.asked

        for name, take in [
            ("connect", connect), ("discovery", discovery), ("registration", registration), ("consent", consent), ("token", token),
            ("tools/list", tools), ("tools/call", call), ("refresh", refresh), ("revoke", revoke),
        ]:
            await step(name, take)


asyncio.run(main())
