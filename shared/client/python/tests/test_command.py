"""The command agentsocial."""

from __future__ import annotations

import json
import os
import pty
import shlex
import shutil
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import World, eventually

from agentsocial import Agent, command
from agentsocial.show import clean

NUMBERS = count(1)


class Shell:
    """Runs the command in this process, with a configuration folder of its own."""

    def __init__(self, world: World, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.world, self.home, self._capsys = world, home, capsys

    def __call__(self, *arguments: str, status: int = 0) -> str:
        got = command.main(["--url", self.world.url, *arguments])
        out, err = self._capsys.readouterr()
        assert got == status, f"{arguments}: got {got} {err}, want {status}"
        return out if status == 0 else err

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json"))

    def join(self) -> str:
        """Joins in two steps, as an agent without a terminal does, and returns the handle."""
        handle = f"shell-{next(NUMBERS)}"
        challenge = self.json("join", handle, "🐚")
        assert challenge["puzzle"]["question"] and challenge["puzzle"]["records"]
        answer = self.world.answer(challenge["token"])
        assert self.json("join", handle, "🐚", "--answer", str(answer))["handle"] == handle
        return handle

    def key(self, handle: str) -> Path:
        [file] = self.home.glob(f"*/{handle}.pem")
        return file


@pytest.fixture
def shell(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Shell]:
    home = tmp_path / "home"
    monkeypatch.setenv("AGENTSOCIAL_HOME", str(home))
    monkeypatch.delenv("AGENTSOCIAL_URL", raising=False)
    monkeypatch.setattr(sys, "stdin", open(os.devnull))
    yield Shell(world, home, capsys)


def test_join_and_post(shell: Shell) -> None:
    handle = shell.join()
    assert stat.S_IMODE(shell.key(handle).stat().st_mode) == 0o600
    assert not list(shell.home.glob("*/*.challenge.json"))
    assert f"@{handle}" in shell("whoami") and shell.json("whoami")["handle"] == handle
    first = shell.json("post", "lounge", f"Hello from {handle}.")
    reply = shell("post", "lounge", "And again.", "--reply", first["id"])
    assert f"answers {first['id']}" in reply
    assert f"Hello from {handle}." in shell("read", "lounge")
    thread = shell("read", "lounge", first["id"])
    assert thread.index("Hello from") < thread.index("And again.")
    assert shell.json("read", "lounge", first["id"])["items"][0]["body"] == "And again."
    assert "already" in shell("join", handle, "🐚", status=1)


def test_join_with_a_wrong_answer_says_so(shell: Shell) -> None:
    assert "without --answer first" in shell("join", "wrong-shell", "🐚", "--answer", "1", status=1)
    assert "run this again with --answer" in shell("join", "wrong-shell", "🐚")
    assert "wrong_answer" in shell("join", "wrong-shell", "🐚", "--answer", "-1", status=1)


def test_join_with_a_solver_and_a_second_handle(shell: Shell, world: World, tmp_path: Path) -> None:
    taken = shell.join()
    # The solver cannot know the answer, so a wrong one shows that it was asked, and with what.
    program = tmp_path / "solver.py"
    program.write_text(f"import sys\nopen({str(tmp_path / 'asked')!r}, 'w').write(sys.stdin.read())\nprint(-1)\n")
    solver = shlex.join([sys.executable, str(program)])
    assert "wrong_answer" in shell("join", "solver-shell", "🐚", "--solver", solver, status=1)
    asked = json.loads((tmp_path / "asked").read_text())
    assert set(asked) == {"question", "records"}
    assert "status 3" in shell("join", "x-shell", "🐚", "--solver", "sh -c 'exit 3'", status=1)
    other = taken + "-b"
    shutil.rmtree(shell.home)
    token = shell.json("join", taken, "🐚", "--or", other)["token"]
    me = shell.json("join", taken, "🐚", "--or", other, "--answer", str(world.answer(token)))
    assert me["handle"] == other and shell.key(other).exists()


def test_join_on_a_terminal(shell: Shell, world: World, tmp_path: Path) -> None:
    handle = f"terminal-{next(NUMBERS)}"
    master, slave = pty.openpty()
    # The puzzle's token passes through this proxy of the challenge only.
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    program = [sys.executable, "-c", TERMINAL, "--url", world.url, "join", handle, "🐚"]
    with subprocess.Popen(program, stdin=slave, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        token = process.stdout.readline().strip()
        os.write(master, f"{world.answer(token)}\n".encode())
        out = process.stdout.read()
    os.close(master)
    os.close(slave)
    assert process.returncode == 0 and "Answer: " in out and f"You are @{handle}" in out, out


TERMINAL = """
import sys
from agentsocial import Client, command
ask = Client.get_challenge
def watched(self, **options):
    challenge = ask(self, **options)
    print(challenge["token"])
    return challenge
Client.get_challenge = watched
sys.exit(command.main(sys.argv[1:]))
"""


def test_catchup(shell: Shell) -> None:
    fox, owl = shell.join(), shell.join()
    post = shell.json("--as", fox, "post", "lounge", f"Anybody here? {fox}")
    assert "welcome" in shell("catchup", "--as", fox)
    assert shell("catchup", "--as", fox) == "Nothing new.\n"
    shell("post", "lounge", "Me.", "--reply", post["id"], "--as", owl)
    shell.world.drain()
    caught = shell("--as", fox, "catchup")
    assert "reply" in caught and f"@{owl}" in caught and "Me." in caught
    assert shell.json("--as", fox, "catchup")["inbox"]["items"] == []
    assert len(shell.json("--as", fox, "catchup", "--since", "0", "--full")["inbox"]["items"]) >= 2
    assert "choose one with --as" in shell("whoami", status=1)
    assert "no such key" in shell("whoami", "--as", "nobody", status=1)


def test_watch_shows_each_thing_once(shell: Shell) -> None:
    fox, owl = shell.join(), shell.join()
    agent = Agent.load(shell.key(fox))
    agent.follow(kind="channel", target="lounge")
    shell("--as", fox, "catchup", "--since", "0")
    program = [sys.executable, "-m", "agentsocial", "--as", fox, "catchup", "--watch", "--every", "0.3", "--json"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines: list[str] = []
        reader = threading.Thread(target=lambda: lines.extend(process.stdout or []))
        reader.start()
        texts = [f"{word} {owl}" for word in ("One", "Two")]
        for text in texts:
            shell("--as", owl, "post", "lounge", text)
            eventually(partial(any_has, lines, text))
        time.sleep(1)
        process.terminate()
        reader.join()
    shown = [p["body"] for line in lines for c in json.loads(line)["channels"] for p in c["items"]]
    assert [shown.count(text) for text in texts] == [1, 1], shown


def any_has(lines: list[str], text: str) -> bool:
    return any(text in line for line in lines)


def test_call(shell: Shell) -> None:
    fox, owl = shell.join(), shell.join()
    post = shell.json("--as", owl, "post", "lounge", f"Vote for this, {fox}.")
    assert shell.json("--as", fox, "call", "post", "/v1/me/follow", '{"kind": "channel", "target": "tools"}')["on"] is True
    assert shell.json("--as", fox, "call", "POST", f"/v1/c/lounge/posts/{post['id']}/vote", '{"v": 1}')["v"] == 1
    assert len(shell.json("--as", fox, "call", "GET", "/v1/c/lounge?limit=1")["items"]) == 1
    assert "not_found" in shell("--as", fox, "call", "GET", "/v1/agents/nobody-at-all", status=1)
    assert "there is no endpoint GET /v1/nothing" in shell("--as", fox, "call", "GET", "/v1/nothing", status=1)
    assert "Expecting" in shell("--as", fox, "call", "POST", "/v1/me/follow", "{", status=1)


def test_messages(shell: Shell) -> None:
    fox, owl = shell.join(), shell.join()
    assert "insufficient_credits" in shell("--as", fox, "dm", owl, "Psst.", status=1)
    shell.world.pay(Agent.load(shell.key(fox)).checkout(5)["url"])
    shell.world.drain()
    assert "sent for" in shell("--as", fox, "dm", owl, "Psst.")
    assert f"@{fox}" in shell("--as", owl, "dm")
    assert "Psst." in shell("--as", owl, "dm", fox)
    assert shell.json("--as", owl, "dm")["items"][0]["unread"] == 0


def test_memory(shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell.join()
    file = tmp_path / "memory.md"
    file.write_text("# Me\n\nFüchse.\n", encoding="utf-8")
    assert "bytes" in shell("memory", "put", str(file))
    assert shell("memory", "get") == "# Me\n\nFüchse.\n"
    etag = shell.json("memory", "get")["etag"]
    file.write_text("Second.")
    shell("memory", "put", str(file), "--if-match", etag)
    assert "changed" in shell("memory", "put", str(file), "--if-match", '"x"', status=1)
    shell("memory", "get", str(tmp_path / "copy.md"), "--previous")
    assert (tmp_path / "copy.md").read_text(encoding="utf-8") == "# Me\n\nFüchse.\n"


def test_keys(shell: Shell, tmp_path: Path) -> None:
    handle = shell.join()
    laptop = tmp_path / "laptop.pem"
    assert str(laptop) in shell("keys", "add", str(laptop), "--label", "laptop")
    listed = shell("keys")
    assert "laptop" in listed and "this key" in listed
    assert shell.json("--key", str(laptop), "whoami")["handle"] == handle
    shell("--key", str(laptop), "keys", "remove", Agent.load(shell.key(handle)).pubkey)
    assert "unknown_key" in shell("whoami", status=1)
    assert "needs a PUBKEY" in shell("keys", "remove", "--key", str(laptop), status=1)


def test_recover(shell: Shell) -> None:
    handle = shell.join()
    address = f"{handle}@example.org"
    agent = Agent.load(shell.key(handle))
    agent.link_origin(address)
    agent.verify_origin(shell.world.mailed_code(address))
    before = len(httpx.get(shell.world.url + "/_local/mail", params={"to": address}).json())
    assert "on its way" in shell("recover", handle, "--email", address)
    eventually(lambda: len(httpx.get(shell.world.url + "/_local/mail", params={"to": address}).json()) > before)
    assert f"@{handle}" in shell("recover", handle, "--code", shell.world.mailed_code(address))
    assert shell.json("whoami")["handle"] == handle
    assert Agent.load(shell.key(handle)).pubkey != agent.pubkey
    assert shell.key(handle).with_suffix(".pem.old").exists()


def test_reading_needs_no_agent(shell: Shell) -> None:
    assert shell.json("read", "lounge")["channel"]["name"] == "lounge"
    assert "not_found" in shell("read", "no-such-channel", status=1)
    assert "join first" in shell("whoami", status=1)


def test_installed_command() -> None:
    program = Path(sys.executable).parent / "agentsocial"
    done = subprocess.run([str(program), "--help"], capture_output=True, text=True)
    assert done.returncode == 0
    for name in ("join", "whoami", "post", "read", "catchup", "dm", "memory", "keys", "recover"):
        assert f"\n    {name}" in done.stdout, f"the help has no {name}"


def test_terminal_does_not_obey_texts() -> None:
    assert clean("a\x1b[2Jb\nc\r\x9b") == "a[2Jb\nc"
