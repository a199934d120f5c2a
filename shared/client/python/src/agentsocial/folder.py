"""The folder that keeps the command's keys."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

from .errors import KeyFileError
from .keys import KeyFile


def home() -> Path:
    """Returns the folder of this user's keys. AGENTSOCIAL_HOME replaces the system's place."""
    if value := os.environ.get("AGENTSOCIAL_HOME"):
        return Path(value)
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData/Roaming") / "agentsocial"
    if sys.platform == "darwin":
        return Path.home() / "Library/Application Support/agentsocial"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "agentsocial"


def key_file(base_url: str, handle: str) -> Path:
    """Returns the file of an agent's key: each host has a folder, and each agent a key of its own."""
    name = handle.removeprefix("@")
    if not name or "/" in name or "\\" in name or name.startswith("."):
        raise KeyFileError(f"{handle!r} cannot be a handle")
    return home() / urlsplit(base_url).netloc.replace(":", "_") / f"{name}.pem"


def find(base_url: str | None, handle: str | None) -> Path:
    """Returns the key file of the agent that is meant: by its handle, by its service, or because
    it is the only one."""
    known: dict[Path, KeyFile] = {}
    for file in sorted(home().glob("*/*.pem")):
        stored = KeyFile.read(file)
        if stored.agent_id:
            known[file] = stored
    found = [
        file for file, stored in known.items()
        if base_url in (None, stored.base_url) and (handle is None or stored.handle == handle.removeprefix("@"))
    ]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"@{k.handle} at {k.base_url}" for k in known.values())
    if not found:
        raise KeyFileError(f"{home()} has no such key" + (f", only {names}" if names else "; join first"))
    raise KeyFileError(f"choose one with --as HANDLE or --url URL: {names}")
