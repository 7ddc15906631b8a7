"""Put what the pages load from others into static/vendor/: `python3 tools/browser_packages.py`. Needs nothing but Python.

With `--tests` also what tests of the browser load, into .tools/browser/, which is never served.

Which packages is in tools/browser/package-lock.json, each with a version and the hash of its archive; of each only the files that
are loaded are kept, with its licence. NPM_CONFIG_REGISTRY names another registry than npm's own. What is there already is left alone.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import sys
import tarfile
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "tools/browser/package-lock.json"
FOLDER = ROOT / "static/vendor"
TESTS_FOLDER = ROOT / ".tools/browser"
REGISTRY = "https://registry.npmjs.org"
#: Package → files that pages load, and its licence.
FILES = {
    "idiomorph": ("dist/idiomorph.min.js", "LICENSE"),
    "swagger-ui-dist": ("swagger-ui-bundle.js", "swagger-ui.css", "LICENSE", "NOTICE"),
}
#: The same of what only tests load: axe-core says what of a page is not accessible.
TESTS_FILES = {"axe-core": ("axe.min.js", "LICENSE")}
MOST_BYTES = 16 << 20
TIMEOUT_S = 60
#: Beside the files: the hash of the archive that they are from.
MARK = ".from"


class Refused(Exception):
    """A package that cannot be had, or is not the one that the lock file names."""


def install(
    lock: Path = LOCK,
    folder: Path = FOLDER,
    registry: str = REGISTRY,
    wanted: Mapping[str, tuple[str, ...]] = FILES,
) -> list[str]:
    """Returns the names of packages that were fetched. Raises Refused; then nothing of that package was changed."""
    packages = json.loads(lock.read_text())["packages"]
    fetched = []
    for name, files in wanted.items():
        entry = packages[f"node_modules/{name}"]
        place = folder / name
        mark = place / MARK
        if mark.is_file() and mark.read_text() == entry["integrity"]:
            continue
        contents = _unpacked(name, _archive(name, entry["version"], entry["integrity"], registry), files)
        place.mkdir(parents=True, exist_ok=True)
        for path, data in contents.items():
            (place / Path(path).name).write_bytes(data)
        mark.write_text(entry["integrity"])  # last: a folder without it is fetched again
        fetched.append(f"{name} {entry['version']}")
    return fetched


def _archive(name: str, version: str, integrity: str, registry: str) -> bytes:
    url = f"{registry.rstrip('/')}/{name}/-/{name}-{version}.tgz"
    if not url.startswith(("https://", "http://")):
        raise Refused(f"{registry}: an address with https:// is wanted in NPM_CONFIG_REGISTRY")
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            data: bytes = answer.read(MOST_BYTES + 1)
    except (OSError, urllib.error.URLError) as error:
        raise Refused(
            f"{name} {version} could not be fetched: {error}. NPM_CONFIG_REGISTRY names another registry"
        ) from error
    kind, _, wanted = integrity.partition("-")
    if kind != "sha512" or base64.b64encode(hashlib.sha512(data).digest()).decode() != wanted:
        raise Refused(f"{name} {version}: what came is not the archive that {LOCK.name} names; nothing was installed")
    return data


def _unpacked(name: str, archive: bytes, files: tuple[str, ...]) -> dict[str, bytes]:
    found = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as whole:
        for path in files:
            member = whole.extractfile(f"package/{path}")
            if member is None:
                raise Refused(f"{name}: there is no {path} in its archive")
            # Its source map stays behind, and static files must not point to what is not there.
            found[path] = re.sub(rb"/[/*]# sourceMappingURL=.*\s*\Z", b"", member.read())
    return found


def main(with_tests: bool) -> int:
    registry = os.environ.get("NPM_CONFIG_REGISTRY") or REGISTRY
    wanted: list[tuple[Path, Mapping[str, tuple[str, ...]]]] = [(FOLDER, FILES)]
    if with_tests:
        wanted.append((TESTS_FOLDER, TESTS_FILES))
    try:
        for folder, files in wanted:
            for one in install(folder=folder, registry=registry, wanted=files):
                print(f"{folder.relative_to(ROOT)}: {one}")
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main("--tests" in sys.argv[1:]))
