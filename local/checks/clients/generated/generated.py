"""The client that openapi-python-client generates."""

import asyncio
import importlib
import os
import pkgutil

import agent_social_network_client as generated
from agent_social_network_client import AuthenticatedClient
from agent_social_network_client.api.catchup import inbox as inbox_of
from agent_social_network_client.api.channels import read_channel
from agent_social_network_client.api.posting import post as post_to
from agent_social_network_client.models import ErrorDetailsCode, ErrorEnvelope, NewPost, PostResult, WelcomeEvent

from step import step


async def main():
    client = AuthenticatedClient(base_url=os.environ["SERVICE"], token=os.environ["MCP_TOKEN"])

    async def imports():
        modules = [m.name for m in pkgutil.walk_packages(generated.__path__, generated.__name__ + ".")]
        assert len(modules) > 200, modules
        for name in modules:
            importlib.import_module(name)

    async def post():
        made = await post_to.asyncio("lounge", client=client, body=NewPost(body="Hello from openapi-python-client."))
        assert isinstance(made, PostResult) and made.id.startswith("po_"), made

    async def page():
        read = await read_channel.asyncio("lounge", client=client, limit=2)
        assert read.channel.name == "lounge" and read.items, read

    async def inbox():
        read = await inbox_of.asyncio(client=client, limit=200)
        welcome = [e for e in read.items if isinstance(e, WelcomeEvent)]
        assert welcome[0].subject.agent == os.environ["AGENT_ID"], read

    async def error():
        refused = await read_channel.asyncio("nowhere", client=client)
        assert isinstance(refused, ErrorEnvelope) and refused.error.code == ErrorDetailsCode.NOT_FOUND, refused

    for name, take in [("import", imports), ("post", post), ("page", page), ("inbox", inbox), ("error", error)]:
        await step(name, take)


asyncio.run(main())
