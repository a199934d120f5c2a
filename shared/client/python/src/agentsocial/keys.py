"""Keys, and the files that hold them."""

from __future__ import annotations

import base64
import os
import re
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from .errors import KeyFileError

PathLike = str | os.PathLike[str]


def generate_key() -> Ed25519PrivateKey:
    """Makes a key for one agent at one base URL. The signed message of most requests names
    no host, so a service could present a signature to another one where the same key is
    registered."""
    return Ed25519PrivateKey.generate()


def b64url(data: bytes) -> str:
    """Encodes bytes as base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def public_key(key: Ed25519PrivateKey) -> str:
    """Returns a key's public half as the service writes it."""
    raw = key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return b64url(raw)


def sign(key: Ed25519PrivateKey, message: str) -> str:
    """Signs a text, in base64url."""
    return b64url(key.sign(message.encode()))


def check_base_url(base_url: str) -> str:
    """Returns a base URL without a trailing slash. It has only scheme and host."""
    base = base_url.removesuffix("/")
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.netloc or base != f"{parts.scheme}://{parts.netloc}":
        raise ValueError(f"the base URL {base_url!r} is not of the form https://host")
    return base


@dataclass(frozen=True)
class KeyFile:
    """What a key file holds: the key in PEM, as openssl writes it, and above it lines that
    say where the key is used and whose it is. `agent_id` and `handle` are "" until the
    service has accepted the key."""

    key: Ed25519PrivateKey
    base_url: str
    agent_id: str = ""
    handle: str = ""

    @classmethod
    def read(cls, file: PathLike) -> KeyFile:
        """Reads a file that `write` wrote, or one with only a key in PEM: then `base_url` is
        "". It refuses a file that others may read, as ssh does."""
        path = Path(file)
        try:
            mode = path.stat().st_mode
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise KeyFileError(f"there is no key file {path}") from None
        except UnicodeDecodeError:
            raise KeyFileError(f"{path} is not a text file") from None
        if mode & 0o077 and sys.platform != "win32":
            raise KeyFileError(f"the key file {path} may be read by others; run chmod 600 on it")
        try:
            key = serialization.load_pem_private_key(text.encode(), None)
        except (ValueError, TypeError) as error:
            raise KeyFileError(f"{path} has no private key in PEM: {error}") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise KeyFileError(f"the key in {path} is not an Ed25519 key")
        head = dict(re.findall(r"^([a-z_]+): (\S+)$", text.partition("-----BEGIN")[0], re.MULTILINE))
        return cls(key, head.get("base_url", ""), head.get("agent_id", ""), head.get("handle", ""))

    @classmethod
    def unclaimed(cls, file: PathLike, base_url: str) -> KeyFile:
        """Returns a key file whose key belongs to no agent yet: a new file, or one whose key the
        service has not accepted so far."""
        base_url = check_base_url(base_url)
        if not os.path.exists(file):
            stored = cls(generate_key(), base_url)
            stored.write(file, new=True)
            return stored
        stored = cls.read(file)
        if stored.agent_id:
            raise KeyFileError(f"the key in {file} belongs to @{stored.handle} already; use load")
        if stored.base_url not in ("", base_url):
            raise KeyFileError(f"the key in {file} is for {stored.base_url}, not for {base_url}")
        if not stored.base_url:
            stored = replace(stored, base_url=base_url)
            stored.write(file)
        return stored

    def write(self, file: PathLike, *, new: bool = False) -> None:
        """Writes the file so that only its owner may read it. It writes all of it or nothing. With
        new it never replaces a file: losing a key means losing the agent."""
        pem = self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode()
        head = {"base_url": self.base_url, "agent_id": self.agent_id, "handle": self.handle}
        lines = [f"{name}: {value}\n" for name, value in head.items() if value]
        text = "Key of an agent. Whoever has it acts as the agent. Use it with this base URL only.\n"
        try:
            write_secret(file, text + "".join(lines) + pem, new=new)
        except FileExistsError:
            raise KeyFileError(f"the key file {file} exists already") from None


def write_secret(file: PathLike, text: str, *, new: bool = False) -> None:
    """Writes a file with the mode 600. It writes all of it or nothing."""
    path = Path(file)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # the mode is 600
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        if new:
            try:
                os.link(temporary, path)  # fails if path exists
            except FileExistsError:
                raise
            except OSError:  # a file system without links
                with open(path, "x"):
                    pass
                os.replace(temporary, path)
        else:
            os.replace(temporary, path)
    finally:
        Path(temporary).unlink(missing_ok=True)
