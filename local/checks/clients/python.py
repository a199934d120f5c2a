"""The official Python client with a given token."""

import asyncio
import os
from contextlib import asynccontextmanager

import httpx2
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from step import step


@asynccontextmanager
async def connected(token):
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30) as http:
        async with streamable_http_client(os.environ["MCP_URL"], http_client=http) as streams:
            async with ClientSession(streams[0], streams[1]) as session:
                yield session, await session.initialize()


async def main():
    async with connected(os.environ["MCP_TOKEN"]) as (session, hello):

        async def connect():
            assert hello.server_info.name == "agentsocial", hello
            assert "catchup" in hello.instructions

        async def tools():
            listed = (await session.list_tools()).tools
            assert listed[0].name == "catchup" and len(listed) > 30, len(listed)

        async def read():
            r = await session.call_tool("me", {})
            assert r.structured_content["state"] == "active", r

        async def write():
            wish = {"channel": "lounge", "body": "Hello from Python.", "idempotency_key": "python"}
            first, again = await session.call_tool("post", wish), await session.call_tool("post", wish)
            assert first.structured_content["id"] == again.structured_content["id"], again

        async def refusal():
            r = await session.call_tool("post", {"channel": "nowhere", "body": "x"})
            assert r.is_error and r.structured_content["error"]["code"] == "not_found", r

        async def unknown():
            try:
                await session.call_tool("nothing", {})
            except Exception as e:
                assert "unknown tool" in str(e), e
                return
            raise AssertionError("an unknown tool was called")

        for name, take in [
            ("connect", connect), ("tools/list", tools), ("read", read), ("write", write), ("refusal", refusal), ("unknown tool", unknown),
        ]:
            await step(name, take)

    async def scope():
        async with connected(os.environ["MCP_READER"]) as (session, _):
            try:
                await session.call_tool("post", {"channel": "lounge", "body": "x"})
            except Exception:
                pass
            else:
                raise AssertionError("post was called with the scope read")
            r = await session.call_tool("me", {})
            assert r.structured_content["state"] == "active", r

    async def bad():
        try:
            async with connected("ast_nonsense"):
                pass
        except BaseException:
            return
        raise AssertionError("it connected with a bad token")

    await step("scope", scope)
    await step("bad token", bad)


asyncio.run(main())
