"""Files of others that pages load: only those that the lock file names, and nothing when something is wrong."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tools import browser_packages
from tools.browser_packages import FILES, LOCK, TESTS_FILES, Refused, install


def archive(**contents: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as whole:
        for path, data in contents.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(data)
            whole.addfile(entry, io.BytesIO(data))
    return made.getvalue()


MORPH = {"idiomorph": FILES["idiomorph"]}
MAPPED = b"\n//# sourceMappingURL=idiomorph.min.js.map\n"
GOOD = archive(**{path: path.encode() + MAPPED for path in FILES["idiomorph"]}, **{"dist/other.js": b"not wanted"})


@pytest.fixture
def registry() -> Iterator[tuple[str, dict[str, bytes]]]:
    """(address, path → answer) of a registry that can be changed."""
    answers: dict[str, bytes] = {"/idiomorph/-/idiomorph-9.9.9.tgz": GOOD}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = answers.get(self.path)
            self.send_response(200 if body else 404)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", answers
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    integrity = "sha512-" + base64.b64encode(hashlib.sha512(GOOD).digest()).decode()
    path = tmp_path / "package-lock.json"
    path.write_text(json.dumps({"packages": {"node_modules/idiomorph": {"version": "9.9.9", "integrity": integrity}}}))
    return path


def test_what_pages_load_is_installed_once(registry: tuple[str, dict[str, bytes]], lock: Path, tmp_path: Path) -> None:
    address, answers = registry
    assert install(lock, tmp_path / "vendor", address, MORPH) == ["idiomorph 9.9.9"]
    found = {path.name for path in (tmp_path / "vendor/idiomorph").iterdir()}
    assert found == {Path(path).name for path in FILES["idiomorph"]} | {browser_packages.MARK}
    text = (tmp_path / "vendor/idiomorph/idiomorph.min.js").read_text()
    assert text == "dist/idiomorph.min.js\n", "its source map is not installed"
    answers.clear()
    assert install(lock, tmp_path / "vendor", address, MORPH) == []


def test_another_archive_is_refused(registry: tuple[str, dict[str, bytes]], lock: Path, tmp_path: Path) -> None:
    address, answers = registry
    answers["/idiomorph/-/idiomorph-9.9.9.tgz"] = archive(**dict.fromkeys(FILES["idiomorph"], b"evil"))
    with pytest.raises(Refused, match="not the archive"):
        install(lock, tmp_path / "vendor", address, MORPH)
    assert not (tmp_path / "vendor/idiomorph").exists()


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "file:///etc", None])
def test_what_cannot_be_had_says_what_to_do(
    registry: tuple[str, dict[str, bytes]], lock: Path, tmp_path: Path, address: str | None
) -> None:
    registry[1].clear()
    with pytest.raises(Refused, match="NPM_CONFIG_REGISTRY"):
        install(lock, tmp_path / "vendor", address or registry[0], MORPH)


def test_the_lock_file_names_each_package_with_its_hash() -> None:
    packages = json.loads(LOCK.read_text())["packages"]
    for name in (*FILES, *TESTS_FILES):
        entry = packages[f"node_modules/{name}"]
        assert entry.get("dev", False) is (name in TESTS_FILES)
        assert entry["integrity"].startswith("sha512-")
        assert "resolved" not in entry, "a registry's host name has no place here"
