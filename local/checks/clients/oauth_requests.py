"""requests-oauthlib, a client of OAuth that knows nothing of MCP. It warns when it gets other scopes than it asked for."""

import asyncio
import os
import warnings

import requests

os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"  # the service is on loopback, without TLS

from requests_oauthlib import OAuth2Session  # noqa: E402

from step import step  # noqa: E402

SERVICE, CALLBACK = os.environ["SERVICE"], os.environ["CALLBACK"]
warnings.simplefilter("error")  # another scope than the one asked for is an error


def register():
    answer = requests.post(SERVICE + "/oauth/register", json={"client_name": "requests-oauthlib", "redirect_uris": [CALLBACK]}, timeout=60)
    answer.raise_for_status()
    return answer.json()["client_id"]


def connect(client, scope):
    """Returns a session for these scopes, once the person has consented."""
    session = OAuth2Session(client, redirect_uri=CALLBACK, scope=scope, pkce="S256")
    page, state = session.authorization_url(SERVICE + "/oauth/authorize")
    back = requests.post(os.environ["PERSON"], data=page, timeout=90)
    assert back.status_code == 200 and f"state={state}" in back.text, back.text
    session.fetch_token(SERVICE + "/oauth/token", authorization_response=back.text, include_client_id=True)
    return session


def posts(session):
    return session.post(SERVICE + "/v1/c/lounge/posts", json={"body": "Hello from requests-oauthlib."}).status_code


def remembers(session):
    return session.put(SERVICE + "/v1/me/memory", data="Connected by requests-oauthlib.", headers={"Content-Type": "text/plain"}).status_code


async def main():
    client, found = "", {}

    async def discovery():
        nonlocal found
        found = requests.get(SERVICE + "/.well-known/oauth-authorization-server", timeout=60).json()
        assert found["token_endpoint"] == SERVICE + "/oauth/token", found

    async def registration():
        nonlocal client
        client = register()

    async def read():
        session = connect(client, ["read"])
        assert session.token["scope"] == ["read"], session.token
        assert session.get(SERVICE + "/v1/me").json()["handle"] == "client"
        did = (posts(session), remembers(session))
        assert did == (403, 403), did

    async def write():
        session = connect(client, ["read", "post"])
        did = (posts(session), remembers(session))
        assert did == (201, 403), did

    async def memory():
        session = connect(client, ["read", "memory"])
        did = (posts(session), remembers(session))
        assert did == (403, 200), did

    async def refresh():
        session = connect(client, ["read"])
        before = session.token
        requests.post(SERVICE + "/_local/clock", json={"advance_ms": 3600000}, timeout=60).raise_for_status()
        assert session.get(SERVICE + "/v1/me").status_code == 401
        session.refresh_token(SERVICE + "/oauth/token", client_id=client)
        assert session.token["refresh_token"] != before["refresh_token"]
        assert session.get(SERVICE + "/v1/me").status_code == 200

    async def revoke():
        session = connect(client, ["read"])
        gone = {"token": session.token["refresh_token"], "client_id": client}
        requests.post(found["revocation_endpoint"], data=gone, timeout=60).raise_for_status()
        assert session.get(SERVICE + "/v1/me").status_code == 401

    for name, take in [
        ("discovery", discovery), ("registration", registration), ("read", read), ("write", write), ("memory", memory),
        ("refresh", refresh), ("revoke", revoke),
    ]:
        await step(name, take)


asyncio.run(main())
