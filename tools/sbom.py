"""What gpudash is made of, as CycloneDX 1.6 JSON: `python -m tools.sbom FILE [--debian LIST]` (make sbom).

The Python packages of requirements.lock with their hashes, by cyclonedx-py; the npm packages whose files the pages load
(tools/browser/package-lock.json); and of an image its Debian packages, from a file that
`dpkg-query --show --showformat '${Package} ${Version} ${Architecture}\n'` has written there. The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import base64
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tools.browser_packages import FILES

ROOT = Path(__file__).resolve().parent.parent
CYCLONEDX = ROOT / ".tools/supply/bin/cyclonedx-py"
LOCK = ROOT / "requirements.lock"
BROWSER_LOCK = ROOT / "tools/browser/package-lock.json"
Component = dict[str, Any]


class Refused(Exception):
    """A list that cannot be read, named with what is wrong."""


def python_packages(lock: Path = LOCK) -> dict[str, Any]:
    """The whole document, with the packages of the lock file. Raises Refused."""
    command = [str(CYCLONEDX), "requirements", str(lock), "--pyproject", str(ROOT / "pyproject.toml")]
    command += ["--mc-type", "application", "--output-reproducible", "--spec-version", "1.6", "--output-format", "JSON"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except FileNotFoundError:
        raise Refused(f"{CYCLONEDX} is not there: make sbom installs it") from None
    if done.returncode:
        raise Refused(f"cyclonedx-py: {done.stderr.strip()[-600:]}")
    document: dict[str, Any] = json.loads(done.stdout)
    for component in document["components"]:
        # "requirements line 5: …" and all hashes once more; they stand in externalReferences.
        component.pop("description", None)
    return document


def browser_packages(lock: Path = BROWSER_LOCK) -> list[Component]:
    """The npm packages of the pages, with the hash of their archive."""
    found = []
    for path, entry in sorted(json.loads(lock.read_text())["packages"].items()):
        name = path.removeprefix("node_modules/")
        if name not in FILES:  # what only tests load, and what npm would install beside a package
            continue
        algorithm, _, digest = entry["integrity"].partition("-")
        found.append(
            {
                "type": "library",
                "bom-ref": f"npm-{name}",
                "name": name,
                "version": entry["version"],
                "purl": f"pkg:npm/{quote(name)}@{entry['version']}",
                "hashes": [
                    {"alg": algorithm.upper().replace("SHA", "SHA-"), "content": base64.b64decode(digest).hex()}
                ],
            }
        )
    return found


def debian_packages(text: str) -> list[Component]:
    """Of dpkg-query's lines. Raises Refused at one that is none."""
    found = []
    for line in sorted(filter(None, text.splitlines())):
        words = line.split(" ")
        if len(words) != 3 or not all(words):
            raise Refused(f"no line of dpkg-query (package version architecture): {line!r}")
        name, version, architecture = words
        found.append(
            {
                "type": "library",
                "bom-ref": f"deb-{name}-{architecture}",
                "name": name,
                "version": version,
                "purl": f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}?arch={architecture}",
            }
        )
    if not found:
        raise Refused("the list of Debian packages is empty")
    return found


def document(debian: str = "") -> dict[str, Any]:
    """debian: what dpkg-query has written, "" for none. Raises Refused."""
    made = python_packages()
    made["components"] += browser_packages()
    if debian:
        made["components"] += debian_packages(debian)
    return made


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="sbom", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--debian", type=Path, help="what dpkg-query says in the image")
    given = parser.parse_args(words)
    try:
        made = document(given.debian.read_text() if given.debian else "")
    except (Refused, OSError) as error:
        print(f"sbom: {error}", file=sys.stderr)
        return 1
    given.file.parent.mkdir(parents=True, exist_ok=True)
    given.file.write_text(json.dumps(made, indent=1) + "\n")
    print(f"{given.file}: {len(made['components'])} components")
    return 0


if __name__ == "__main__":
    sys.exit(main())
