"""Dex, an issuer of OpenID Connect, as its authors build it: from its Go module at one version, kept between runs.

Who signs in is told by headers, as its connector for proxies takes them, so that a test can be anybody in any groups.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import yaml

from tests.go_program import BUILD_S, Withheld
from tests.services import end, free_port, scratch, wait_until

MODULE = "github.com/dexidp/dex"
#: v2.45.1. Its tags are none that Go takes for this module, so the version is that of the commit.
VERSION = "v0.0.0-20260303133905-11d2eeb52b42"
#: Names a program that is built already, where the module cannot be had.
SETTING = "DEX"
CLIENT, CLIENT_SECRET = "gpudash", "a-secret-of-tests"
CALLBACK = "http://testserver/sign-in/oidc/callback"


def program() -> Path:
    """The built program. Raises Withheld.

    Its module replaces a part of itself by a folder that the module does not hold, so `go install` refuses it: it is built in
    a copy, with the part as it was published.
    """
    if named := os.environ.get(SETTING):
        return Path(named)
    root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "dex" / VERSION
    if (root / "dex").exists():
        return root / "dex"
    if shutil.which("go") is None:
        raise Withheld(f"no Go here (go) to build {MODULE} with, and {SETTING} names no program")
    with scratch("dex-build") as folder:
        # Not inside a module of somebody's.
        found = json.loads(_go(folder, "mod", "download", "-json", f"{MODULE}@{VERSION}"))
        copy = shutil.copytree(found["Dir"], folder / "dex", copy_function=shutil.copyfile)
        for path in (copy, *copy.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        _go(copy, "mod", "edit", f"-dropreplace={MODULE}/api/v2")
        _go(copy, "build", "-mod=mod", "-trimpath", "-o", str(folder / "built"), "./cmd/dex")
        root.mkdir(parents=True, exist_ok=True)
        shutil.copy2(folder / "built", root / "dex.part")
        (root / "dex.part").rename(root / "dex")
    return root / "dex"


def _go(folder: Path, *words: str) -> str:
    # Without cgo: it would only bring SQLite along.
    environment = {**os.environ, "CGO_ENABLED": "0"}
    done = subprocess.run(["go", *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=BUILD_S)
    if done.returncode:
        raise Withheld(f"go {' '.join(words)}: {' '.join((done.stderr + done.stdout).split())[-400:]}")
    return done.stdout


@contextmanager
def dex(callback: str = CALLBACK) -> Iterator[str]:
    """The address of an issuer that knows gpudash. callback: where it sends who has signed in. Raises Withheld."""
    found, port = program(), free_port()
    url = f"http://127.0.0.1:{port}/dex"
    settings: dict[str, Any] = {
        "issuer": url,
        "storage": {"type": "memory"},
        "web": {"http": f"127.0.0.1:{port}"},
        "oauth2": {"skipApprovalScreen": True},
        "staticClients": [
            {"id": CLIENT, "secret": CLIENT_SECRET, "name": "gpudash", "redirectURIs": [callback]},
        ],
        "connectors": [{"type": "authproxy", "id": "proxy", "name": "proxy"}],
    }
    with scratch("dex") as folder, (folder / "log").open("wb") as log:
        (folder / "dex.yaml").write_text(yaml.safe_dump(settings))
        process = subprocess.Popen([str(found), "serve", str(folder / "dex.yaml")], stdout=log, stderr=log)
        try:
            wait_until(lambda: _answers(url), f"Dex answers\n{(folder / 'log').read_text()[-400:]}", 30)
            yield url
        finally:
            end(process)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/.well-known/openid-configuration", timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def sign_in_there(address: str, user: str, groups: str, *, subject: str = "", until: str = CALLBACK) -> str:
    """Follow Dex' own redirects as this person; the address back to gpudash."""
    browser = urllib.request.build_opener(_Stay, urllib.request.HTTPCookieProcessor(CookieJar()))
    who = {"X-Remote-User": user, "X-Remote-User-Id": subject or user, "X-Remote-Group": groups}
    for _step in range(8):
        if address.startswith(until):
            return address
        try:
            with browser.open(urllib.request.Request(address, headers=who), timeout=10) as answer:
                raise AssertionError(f"{address} leads nowhere: {answer.read().decode()[:400]}")
        except urllib.error.HTTPError as error:
            with error:
                if "Location" not in error.headers:
                    raise AssertionError(f"{address}: {error.code} {error.read().decode()[:400]}") from None
                address = urljoin(address, error.headers["Location"])
    raise AssertionError(f"still at {address}")
