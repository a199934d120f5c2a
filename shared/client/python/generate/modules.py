"""Makes the modules of the package that are not written by hand:

- types.py: the JSON of all endpoints, by datamodel-code-generator
- _operations.py: the table of operations
- _async/operations.py: a method for each operation, and an iterator for each list
- _sync/: the modules of _async/, by unasync

All come from the OpenAPI document, except that _sync/ comes from _async/."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import unasync
from operations import methods, table

SOURCE = "# Generated from the OpenAPI document. Do not edit.\n"

NOT_REQUIRED = "from typing_extensions import NotRequired\n"
BY_VERSION = """import sys

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired
"""


def generate(document: Path, package: Path, out: Path) -> list[Path]:
    """Writes the modules below out, and returns their paths."""
    doc = json.loads(document.read_text(encoding="utf-8"))
    (out / "_async").mkdir()
    (out / "types.py").write_text(types(doc, out), encoding="utf-8")
    (out / "_operations.py").write_text(SOURCE + table(doc), encoding="utf-8")
    (out / "_async/operations.py").write_text(SOURCE + methods(doc), encoding="utf-8")

    # unasync replaces a folder in the paths of the files that it reads.
    both = out / "both"
    shutil.copytree(package / "_async", both / "_async")
    shutil.copy(out / "_async/operations.py", both / "_async")
    files = sorted(str(f) for f in (both / "_async").glob("*.py"))
    names = {"AsyncIO": "SyncIO", "AsyncAgent": "Agent", "AsyncClient": "Client", "AsyncBaseTransport": "BaseTransport"}
    unasync.unasync_files(files, [unasync.Rule("/_async/", "/_sync/", additional_replacements=names)])
    shutil.move(both / "_sync", out / "_sync")
    shutil.rmtree(both)
    return sorted(out.rglob("*.py"))


def types(doc: dict[str, object], out: Path) -> str:
    """Returns the module of types. A schema that forbids other members becomes a type that does
    not mention them: a later version of the service may answer with more."""
    opened = out / "openapi.json"
    opened.write_text(json.dumps(without_closing(doc)), encoding="utf-8")
    made = out / "types.py"
    options = {
        "--input": str(opened), "--input-file-type": "openapi", "--output": str(made),
        "--output-model-type": "typing.TypedDict", "--target-python-version": "3.10", "--enum-field-as-literal": "all",
    }
    flags = [
        "--use-schema-description", "--use-field-description", "--use-double-quotes", "--disable-timestamp",
        "--use-union-operator", "--use-standard-collections",
    ]
    command = [sys.executable, "-W", "ignore", "-m", "datamodel_code_generator", *flags]
    subprocess.run(command + [part for option in options.items() for part in option], check=True)
    opened.unlink()
    text = made.read_text(encoding="utf-8")
    if text.count(NOT_REQUIRED) != 1:
        raise SystemExit(f"types.py does not have {NOT_REQUIRED!r} once; it begins with\n{text[:500]}")
    return SOURCE + text.replace(NOT_REQUIRED, BY_VERSION)


def without_closing(value: object) -> object:
    """Returns a JSON value without `additionalProperties: false`."""
    if isinstance(value, dict):
        return {k: without_closing(v) for k, v in value.items() if not (k == "additionalProperties" and v is False)}
    if isinstance(value, list):
        return [without_closing(v) for v in value]
    return value


if __name__ == "__main__":
    here = Path(__file__).parent
    target = Path(sys.argv[1])
    target.mkdir(parents=True)
    generate(here.parents[3] / "functions/docs/openapi.json", here.parent / "src/agentsocial", target)
