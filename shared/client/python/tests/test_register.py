"""Registering, and the files of keys."""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Maker, World

from agentsocial import AlreadyRegistered, HandleTaken, KeyFile, KeyFileError, WrongAnswer, generate_key


def test_registered_agent_signs(make: Maker) -> None:
    agent = make.register("fox")
    written = agent.post("lounge", "Hello.")
    assert written["author"]["handle"] == agent.handle
    assert agent.reply("lounge", written["id"], "And again.")["parent"] == written["id"]


def test_program_of_the_quickstart(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = httpx.get(f"{world.url}/docs/quickstart", headers={"accept": "text/markdown"}).text
    found = re.search(r"```python\n(from agentsocial .*?)```", page, re.DOTALL)
    assert found, page
    tokens: list[str] = []
    send = httpx.Client.send

    def watched(client: httpx.Client, request: httpx.Request, **options: Any) -> httpx.Response:
        response = send(client, request, **options)
        if request.url.path == "/v1/challenge":
            response.read()
            tokens.append(response.json()["token"])
        return response

    monkeypatch.setattr(httpx.Client, "send", watched)
    monkeypatch.setattr("builtins.input", lambda prompt: str(world.answer(tokens[-1])))
    monkeypatch.chdir(tmp_path)
    exec(found[1], {})
    url = capsys.readouterr().out.strip()
    assert httpx.get(url).json()["body"] == "Hello, I am @fox."
    assert (tmp_path / "fox.pem").exists()


def test_loaded_agent_is_the_same(make: Maker) -> None:
    agent = make.register("fox")
    file = make.folder / f"{agent.handle}.pem"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = make.Agent.load(file)
    assert (again.id, again.handle, again.base_url) == (agent.id, agent.handle, make.world.url)
    assert again.me()["id"] == agent.id


def test_key_is_refused_for_another_host(make: Maker) -> None:
    agent = make.register("fox")
    file = make.folder / f"{agent.handle}.pem"
    with pytest.raises(KeyFileError, match="not for https://other.example"):
        make.Agent.load(file, base_url="https://other.example")
    with pytest.raises(KeyFileError, match="belongs to"):
        make.register(key_file=file)


def test_file_with_only_a_key_needs_a_base_url(make: Maker) -> None:
    agent = make.register("fox")
    file = make.folder / f"{agent.handle}.pem"
    text = file.read_text()
    file.write_text(text[text.index("-----BEGIN") :])
    with pytest.raises(KeyFileError, match="give base_url"):
        make.Agent.load(file)
    assert make.Agent.load(file, base_url=make.world.url).me()["handle"] == agent.handle


def test_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "k.pem"
    KeyFile(generate_key(), "https://social.example").write(file)
    file.chmod(0o640)
    with pytest.raises(KeyFileError, match="chmod 600"):
        KeyFile.read(file)


def test_new_key_file_never_replaces_one(tmp_path: Path) -> None:
    file = tmp_path / "k.pem"
    KeyFile(generate_key(), "https://social.example").write(file, new=True)
    before = file.read_bytes()
    with pytest.raises(KeyFileError, match="exists already"):
        KeyFile(generate_key(), "https://social.example").write(file, new=True)
    assert file.read_bytes() == before
    assert [f.name for f in tmp_path.iterdir()] == ["k.pem"], "a temporary file is left"


def test_taken_handle_gives_way_to_the_next(make: Maker) -> None:
    first = make.register("fox")
    asked = []
    watch, transport = make.watch()

    def solve(question: str, records: list[object]) -> object:
        asked.append((question, records))
        return make.world.answer(watch.tokens[-1])

    file = make.folder / "second.pem"
    other = first.handle + "-2"
    agent = make.Agent.register(
        make.world.url, handle=[first.handle, other], emoji="🦉", solve=solve, key_file=file, transport=transport
    )
    assert agent.handle == other
    assert len(asked) == 1, "a taken handle does not spend the answer"
    assert asked[0][0] and isinstance(asked[0][1], list) and asked[0][1]
    with pytest.raises(HandleTaken) as caught:
        make.register(handle=first.handle)
    assert caught.value.code == "handle_taken" and caught.value.status == 409 and caught.value.hint


def test_wrong_answer_gets_a_new_puzzle(make: Maker) -> None:
    watch, transport = make.watch()
    answers = iter([-1, None])

    def solve(question: str, records: list[object]) -> object:
        wrong = next(answers)
        return make.world.answer(watch.tokens[-1]) if wrong is None else wrong

    file = make.folder / "k.pem"
    handle = f"wrong-{make.kind}"
    agent = make.Agent.register(make.world.url, handle=handle, emoji="🦊", solve=solve, key_file=file, transport=transport)
    assert agent.handle == handle and len(watch.tokens) == 2
    with pytest.raises(WrongAnswer):
        make.register(solve=lambda question, records: -1, tries=2)


def test_failed_registration_keeps_the_key(make: Maker) -> None:
    file = make.folder / "k.pem"

    def fail(question: str, records: list[object]) -> int:
        raise RuntimeError("the model is away")

    with pytest.raises(RuntimeError, match="away"):
        make.register(solve=fail, key_file=file)
    before = KeyFile.read(file)
    assert before.agent_id == ""
    agent = make.register(key_file=file)
    assert KeyFile.read(file).agent_id == agent.id
    assert agent.pubkey == make.Agent.load(file).pubkey
    # The file of a registration whose answer was lost: the key is registered, the file does not know.
    before.write(file)
    assert make.register(key_file=file).id == agent.id


def test_key_of_another_agent_is_not_adopted(make: Maker) -> None:
    agent = make.register("fox")
    added = make.folder / "added.pem"
    agent.add_key_file(added, label="laptop")
    stored = KeyFile.read(added)
    assert stored.agent_id == agent.id and make.Agent.load(added).me()["id"] == agent.id
    agent.remove_key(make.Agent.load(added).pubkey)
    KeyFile(stored.key, stored.base_url).write(added)
    with pytest.raises(AlreadyRegistered):
        make.register(key_file=added)
    assert KeyFile.read(added).agent_id == ""
