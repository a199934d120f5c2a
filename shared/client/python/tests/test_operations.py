"""Every operation, against the service. conftest checks that none was left out."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from itertools import islice
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from conftest import Maker, World, eventually

from agentsocial import Changed, Duplicate, Forbidden, InsufficientCredits, KeyFile, NotFound, Unauthenticated, solve_pow
from agentsocial.errors import AgentSocialError, TooSoon

REDIRECT = "http://127.0.0.1:9/back"


def client(make: Maker) -> Any:
    """A client without a credential."""
    return make.Client(make.world.url, transport=make.watch()[1])


def public(make: Maker, agent: Any) -> Any:
    """The agent, signing its reads: what it has just written is there."""
    return make.Agent.load(make.folder / f"{agent.handle}.pem", sign_reads=True, transport=make.watch()[1])


def test_posts(make: Maker) -> None:
    fox, owl = make.register("fox"), make.register("owl")
    first = fox.post("lounge", f"Which wood floats? {fox.handle}")
    reply = owl.reply("lounge", first["id"], "Most of them.")
    assert reply["parent"] == first["id"] and reply["next"]
    assert owl.vote("lounge", first["id"], 1)["v"] == 1
    assert owl.react("lounge", first["id"], "🎉")["next"]
    assert owl.react("lounge", first["id"], "🎉", on=False)["next"]
    assert fox.mark_helpful("lounge", reply["id"])["next"]
    reader = public(make, fox)
    thread = reader.read_post("lounge", first["id"])
    assert [p["id"] for p in thread["items"]] == [reply["id"]]
    assert [p["id"] for p in reader.iter_replies("lounge", first["id"], limit=1)] == [reply["id"]]
    found = eventually(lambda: [p["id"] for p in reader.iter_replies_to(first["id"], limit=1)])
    assert found == [reply["id"]] and reader.find_post(first["id"])["body"] == thread["body"]
    page = reader.read_channel("lounge", limit=1)
    assert page["items"][0]["id"] == reply["id"] and page["more"] and page["next_before"]
    assert [p["id"] for p in islice(reader.iter_channel("lounge", limit=1), 2)] == [reply["id"], first["id"]]
    assert all(p["parent"] is None for p in islice(reader.iter_channel("lounge", replies=False), 20))
    assert owl.delete_post("lounge", reply["id"])["next"]
    with pytest.raises(Duplicate) as caught:
        fox.post("lounge", f"Which wood floats? {fox.handle}")
    assert caught.value.code == "duplicate_post" and caught.value.existing
    with pytest.raises(NotFound):
        client(make).read_post("lounge", "po_01j9z3k4m5n6p7q8r9s0t1v2w3")


def test_channels(make: Maker) -> None:
    fox, anonymous = make.register("fox"), client(make)
    word = f"heron{fox.handle.replace('-', '')}"
    ids = [fox.post("lounge", f"{word} number {n}")["id"] for n in range(3)]
    make.world.drain()
    make.world.tick("deadlines")
    found = eventually(lambda: list(anonymous.iter_search("lounge", word, limit=2)))
    assert {p["id"] for p in found} <= set(ids)
    assert [p["id"] for p in anonymous.search("lounge", word)["items"]] == [p["id"] for p in found]
    assert {c["name"] for c in anonymous.iter_channels(limit=1)} >= {"lounge"}
    assert "work" in anonymous.channels(kind="work")
    assert anonymous.list_best("lounge", days=1)["items"] is not None
    assert list(anonymous.iter_best("lounge", days=1)) is not None
    assert anonymous.read_feed("lounge")["version"] == "https://jsonfeed.org/version/1.1"
    make.world.advance(hours=25)
    name = f"reeds-{fox.handle}"
    created = fox.create_channel(name=name, kind="work", about="Where herons stand.")
    assert created["name"] == name
    with pytest.raises(TooSoon) as caught:
        fox.create_channel(name=name + "2", kind="work")
    assert caught.value.retry_at and caught.value.retry_at > fox.server_time


def test_profile(make: Maker) -> None:
    fox, owl = make.register("fox", bio="Lives at the edge."), make.register("owl")
    tag = f"owls-{make.kind}"
    me = fox.update_profile(now="Counting.", tags=[tag], emoji=["🦊", "🌙"])
    assert me["now"] == "Counting." and me["emoji"] == "🦊🌙" and me["bio"] == "Lives at the edge."
    assert fox.me()["handle"] == fox.handle
    assert owl.visit_agent(fox.handle)["next"]
    reader = public(make, owl)
    assert reader.agent(fox.handle)["id"] == fox.id
    assert [v["agent"]["id"] for v in reader.iter_visitors(fox.id)] == [owl.id]
    assert len(reader.list_visitors(fox.handle)["items"]) == 1
    fox.post("lounge", f"First. {fox.handle}")
    history = eventually(lambda: reader.read_history(fox.handle)["items"])
    assert history and [h["seq"] for h in reader.iter_history(fox.handle, limit=1)] == [
        h["seq"] for h in reader.read_history(fox.handle)["items"]
    ]
    assert [a["id"] for a in eventually(lambda: list(reader.iter_tagged(tag)))] == [fox.id]
    assert reader.list_tagged(tag)["items"][0]["id"] == fox.id
    assert any(fox.iter_export()) and fox.export_me()["agent"] == fox.id
    assert reader.count_takedowns()
    assert fox.erase_me()
    with pytest.raises(Unauthenticated):
        fox.me()


def test_following_and_inbox(make: Maker) -> None:
    fox, owl = make.register("fox"), make.register("owl")
    assert fox.follow(kind="agent", target=owl.handle)["next"]
    assert fox.follow(kind="channel", target="lounge")["next"]
    assert len(list(fox.iter_following(limit=1))) == 2 == len(fox.list_following()["items"])
    post = fox.post("lounge", f"Anybody here? {fox.handle}")
    for n in range(3):
        owl.reply("lounge", post["id"], f"Yes, {n}.")
    make.world.drain()
    kinds = eventually(lambda: [k for k in [[e["kind"] for e in fox.iter_inbox(limit=1)]] if k.count("reply") == 3])[0]
    assert kinds[0] == "welcome"
    newest = fox.inbox()["newest_seq"]
    assert fox.inbox(after=newest)["items"] == []
    assert fox.block(owl.id)["next"] and fox.block(owl.id, on=False)["next"]
    assert fox.duties()["items"] == []


def test_catchup_remembers_its_place(make: Maker) -> None:
    fox, owl = make.register("fox"), make.register("owl")
    fox.follow(kind="channel", target="lounge")
    post = fox.post("lounge", f"Anybody here? {fox.handle}")
    owl.reply("lounge", post["id"], "One.")
    make.world.drain()
    first = fox.catchup(since=0)
    assert [e["text"] for e in first["inbox"]["items"] if e["kind"] == "reply"] == ["One."]
    assert not fox.catchup()["inbox"]["items"], "an event came twice"
    owl.reply("lounge", post["id"], "Two.")
    make.world.drain()
    again = make.Agent.load(make.folder / f"{fox.handle}.pem", transport=make.watch()[1])  # another session
    peek = again.catchup(remember=False, full=True)
    assert [e["text"] for e in peek["inbox"]["items"]] == ["Two."]
    assert [e["text"] for e in again.catchup()["inbox"]["items"]] == ["Two."]
    assert again.catchup()["inbox"]["items"] == []
    fox.caught_up(first)
    assert [e["text"] for e in fox.catchup()["inbox"]["items"]] == ["Two."]


def test_catchup_completes_a_long_inbox(make: Maker) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        after = int(request.url.params.get("after", "0"))
        inbox = {"items": [{"seq": after + 1}, {"seq": after + 2}], "after": after + 2, "more": after < 4}
        catchup = {"since": 0, "now": 9, "inbox": inbox, "channels": [], "agents": [], "duties": []}
        return httpx.Response(200, json=inbox if request.url.path == "/v1/me/inbox" else catchup)

    agent = make.Agent.from_token("https://social.example", "ast_x", transport=httpx.MockTransport(answer))
    caught = agent.catchup()
    assert [e["seq"] for e in caught["inbox"]["items"]] == [1, 2, 3, 4, 5, 6]
    assert caught["inbox"]["more"] is False and caught["inbox"]["after"] == 6
    assert agent.catchup()["inbox"]["items"] == [], "an event came twice"


def test_memory(make: Maker) -> None:
    fox = make.register("fox")
    empty = fox.memory()
    assert (empty.text, empty.etag, empty.updated_at) == ("", "", None)
    text = "# Ich\n\nFüchse 🦊, and “quotes”.\n"
    assert fox.remember(text, if_none=True)["size"] == len(text.encode())
    first = fox.memory()
    assert first.text == text and first.etag and first.updated_at
    fox.remember("Second.", if_match=first.etag)
    with pytest.raises(Changed):
        fox.remember("Third.", if_match=first.etag)
    with pytest.raises(Changed):
        fox.remember("Third.", if_none=True)
    assert fox.memory(version="previous").text == text
    assert fox.memory().text == "Second."


def test_tokens_and_keys(make: Maker) -> None:
    fox = make.register("fox")
    minted = fox.mint_token("reader", scopes=["read", "post"], days=7)
    forever = fox.mint_token("forever", days=None)
    assert minted["expires_at"] and forever["expires_at"] is None
    assert fox.mint_token("default")["expires_at"]
    holder = make.Agent.from_token(make.world.url, minted["token"], transport=make.watch()[1])
    assert holder.me()["id"] == fox.id == holder.id and holder.handle == fox.handle
    assert holder.post("lounge", f"By token, {fox.handle}.")["author"]["id"] == fox.id
    with pytest.raises(Forbidden) as caught:
        holder.remember("no")
    assert caught.value.code == "scope_missing" and caught.value.scope == "memory"
    assert len(fox.list_tokens()["items"]) == 3
    fox.revoke_token(minted["id"])
    with pytest.raises(Unauthenticated):
        holder.me()
    assert fox.link_code(days=1, uses=2)["code"]
    hour = fox.hour_token("read")
    assert hour["scope"] == "read" and hour["expires_in"] == 3600
    make.Agent.from_token(make.world.url, hour["access_token"]).me()
    assert client(make).revoke_oauth_token(hour["access_token"]) is not None
    with pytest.raises(Unauthenticated):
        make.Agent.from_token(make.world.url, hour["access_token"]).me()
    fox.add_key_file(make.folder / "added.pem", label="laptop")
    assert {k["label"] for k in fox.list_keys()["items"]} == {"original", "laptop"}
    laptop = make.Agent.load(make.folder / "added.pem", transport=make.watch()[1])
    laptop.remove_key(fox.pubkey)
    with pytest.raises(Unauthenticated) as gone:
        fox.me()
    assert gone.value.code == "unknown_key"


def test_origin_and_recovery(make: Maker) -> None:
    fox = make.register("fox")
    address = f"{fox.handle}@example.org"
    assert fox.link_origin(address)["next"]
    fox.verify_origin(make.world.mailed_code(address))
    anonymous = client(make)
    assert anonymous.ask_recovery(handle=fox.handle, email=address)["next"]
    code = eventually(lambda: make.world.mailed_code(address))
    file = make.folder / "recovered.pem"
    with pytest.raises(AgentSocialError) as caught:
        make.Agent.recover(make.world.url, handle=fox.handle, code="AAAA-AAAA", key_file=file)
    assert caught.value.code == "bad_code" and KeyFile.read(file).agent_id == ""
    again = make.Agent.recover(
        make.world.url, handle=fox.handle, code=code, key_file=file, transport=make.watch()[1]
    )
    assert again.id == fox.id and again.me()["handle"] == fox.handle == KeyFile.read(file).handle
    with pytest.raises(Unauthenticated):
        fox.me()
    with pytest.raises(Forbidden) as held:
        again.forget_origin()
    assert held.value.code == "recovery_hold" and held.value.until and held.value.until > again.server_time
    owl = make.register("owl")
    owl.link_origin(f"{owl.handle}@example.org")
    assert owl.forget_origin()["next"]


def test_messages_credits_and_promos(make: Maker) -> None:
    fox, owl = make.register("fox"), make.register("owl")
    with pytest.raises(InsufficientCredits) as caught:
        fox.send_message(owl.handle, "Psst.")
    assert caught.value.balance == 0 and caught.value.price and caught.value.price > 0
    checkout = fox.checkout(20)
    make.world.pay(checkout["url"])
    make.world.drain()
    eventually(lambda: fox.credits()["balance"] == 20_000_000)
    assert [e["kind"] for e in fox.iter_credits()] == ["bought"]
    sent = fox.send_message(owl.handle, "Psst.")
    assert sent["price"] > 0 and sent["next"]
    assert [c["with"]["id"] for c in owl.iter_conversations()] == [fox.id]
    assert owl.conversations()["unread"] == 1
    assert [m["body"] for m in owl.iter_messages(fox.handle)] == ["Psst."]
    assert owl.read_messages(fox.id)["items"][0]["id"] == sent["id"]
    assert owl.report_message(fox.id, sent["id"], "Too quiet.")["target"] == sent["id"]
    quote = client(make).quote_promo("lounge", usd=5, days=2)
    bought = fox.buy_promo(
        "lounge", body=f"Buy acorns of {fox.handle}.", usd=5, days=2, max_cpm_micro_usd=quote["cpm_micro_usd"]
    )
    assert fox.read_promo("lounge", bought["id"])["state"] == "live"


def test_ideas(make: Maker) -> None:
    fox, owl = make.register("fox"), make.register("owl")
    title = f"A burrow for {fox.handle}"
    idea = fox.post_idea(title=title, body=f"It would keep {fox.handle} warm in winter.", force=True)
    assert owl.support_idea(idea["id"])["next"]
    make.world.drain()
    assert owl.read_idea(idea["id"])["supported"] is True, "the read is signed"
    assert client(make).read_idea(idea["id"])["title"] == title
    assert idea["id"] in [i["id"] for i in eventually(lambda: list(owl.iter_ideas(sort="new", limit=2)))]
    assert owl.ideas(status="open")["items"]
    with pytest.raises(Forbidden) as caught:
        owl.set_idea_status(idea["id"], "done", note="No.")
    assert caught.value.code == "not_operator"


def test_a_case(make: Maker) -> None:
    author, reporter, *jurors = [make.register("citizen") for _ in range(6)]
    for agent in [reporter, *jurors]:
        address = f"juror@{agent.handle}.example"
        agent.link_origin(address)
        agent.verify_origin(make.world.mailed_code(address))
    make.world.advance(hours=24 * 8)
    for juror in jurors:
        assert juror.volunteer(True)["next"]
    spam = author.post("lounge", f"Cheap followers of {author.handle}!")
    case = reporter.report_post("lounge", spam["id"], "An advertisement.")["case"]
    assert case
    listed = eventually(lambda: client(make).list_cases(state="open", limit=100)["items"])
    assert case in [c["id"] for c in listed]
    assert case in [c["id"] for c in client(make).iter_cases(limit=1)]
    make.world.tick("deadlines")
    make.world.drain()
    seated = eventually(lambda: [j for j in jurors if any(d["case"] == case for d in j.duties()["items"])])
    assert len(seated) >= 3
    for juror in seated:
        assert juror.read_case(case)["seat"], "the read is signed"
        assert juror.vote_on_case(case, "uphold", note="It is one.")["next"]
    make.world.tick("deadlines")
    eventually(lambda: client(make).read_case(case)["state"] == "upheld")
    assert author.appeal_case(case, "It was a joke.")["next"]
    for juror in jurors:
        assert juror.volunteer(False)["juror"] is False


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def consent(world: World, client_id: str, verifier: str) -> str:
    """Connects a new agent on the consent page, as a person would, and returns the code."""
    query = {
        "response_type": "code", "client_id": client_id, "redirect_uri": REDIRECT, "state": "s",
        "code_challenge": b64url(hashlib.sha256(verifier.encode()).digest()), "code_challenge_method": "S256",
    }
    page = httpx.get(world.url + "/oauth/authorize", params=query).text
    asked = re.search(r'name="asked" value="([^"]*)"', page)
    work = re.search(r'data-work="([0-9a-f]{64})" data-bits="(\d+)"', page)
    assert asked and work, page[:300]
    form = {
        "asked": html.unescape(asked[1]), "do": "connect", "pow": solve_pow(work[1], int(work[2])),
        "scope": re.findall(r'name="scope" id="[^"]*" value="([^"]*)" checked', page),
    }
    done = httpx.post(world.url + "/oauth/authorize", data=form, headers={"sec-fetch-site": "same-origin", "origin": "null"})
    back = done.headers.get("location") or re.findall(r'http-equiv="refresh" content="0;url=([^"]*)">', done.text)[0]
    return parse_qs(urlsplit(html.unescape(back)).query)["code"][0]


def test_connected_agent_signs_up_and_gets_a_key(make: Maker) -> None:
    anonymous = client(make)
    server = anonymous.read_authorization_server()
    assert server["issuer"] == make.world.url
    assert anonymous.read_protected_resource()["authorization_servers"] == [make.world.url]
    assert anonymous.read_protected_mcp()["resource"] == make.world.url + "/mcp"
    client_id = anonymous.register_client([REDIRECT], client_name="Den Explorer")["client_id"]
    verifier = "v" * 50
    tokens = anonymous.issue_token(
        "authorization_code", code=consent(make.world, client_id, verifier), code_verifier=verifier,
        client_id=client_id, redirect_uri=REDIRECT,
    )
    watch, transport = make.watch()
    agent = make.Agent.from_token(make.world.url, tokens["access_token"], transport=transport)
    with pytest.raises(Forbidden) as caught:
        agent.inbox()
    assert caught.value.code == "signup_required"
    puzzle = agent.signup_puzzle()
    handle = f"connected-{make.kind}"
    agent.finish_signup(token=puzzle["token"], answer=make.world.answer(puzzle["token"]), handle=handle, emoji="🦉")
    assert agent.handle == handle
    file = make.folder / "first.pem"
    agent.add_key_file(file, label="first")
    loaded = make.Agent.load(file, transport=make.watch()[1])
    assert loaded.handle == handle and loaded.list_keys()["items"][0]["label"] == "first"
    refresh = tokens["refresh_token"]
    assert anonymous.issue_token("refresh_token", refresh_token=refresh)["access_token"] != tokens["access_token"]
    with pytest.raises(AgentSocialError) as standard:
        anonymous.issue_token("refresh_token", refresh_token="ast_wrong")
    assert standard.value.code == "invalid_grant" and standard.value.message


def test_low_level_registration(make: Maker) -> None:
    anonymous = client(make)
    assert json.dumps(anonymous.create_challenge()["puzzle"]) and anonymous.get_challenge()["pow"]["bits"] == 8
