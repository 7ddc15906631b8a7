"""The parts of the list of components that gpudash reads itself: npm's lock file, and dpkg-query's lines."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tools.browser_packages import FILES
from tools.sbom import Refused, browser_packages, debian_packages


def test_what_the_pages_load_is_listed_with_the_hash_of_its_archive(tmp_path: Path) -> None:
    lock = tmp_path / "package-lock.json"
    integrity = f"sha512-{base64.b64encode(bytes(range(64))).decode()}"
    packages: dict[str, Any] = {"": {}, "node_modules/idiomorph": {"version": "1.2.3", "integrity": integrity}}
    packages["node_modules/of-tests"] = {"version": "1.0.0", "integrity": integrity, "dev": True}
    packages["node_modules/@x/not-installed"] = {"version": "1.0.0", "integrity": integrity}
    lock.write_text(json.dumps({"packages": packages}))
    (found,) = browser_packages(lock)
    assert (found["name"], found["purl"]) == ("idiomorph", "pkg:npm/idiomorph@1.2.3")
    assert found["hashes"] == [{"alg": "SHA-512", "content": bytes(range(64)).hex()}]


def test_every_package_whose_files_are_served_is_listed() -> None:
    assert set(FILES) <= {component["name"] for component in browser_packages()}


def test_debian_packages_have_addresses_as_scanners_read_them() -> None:
    zlib, adduser = "zlib1g 1:1.2.13.dfsg-1 amd64", "adduser 3.134 all"
    found = debian_packages(f"{zlib}\n{adduser}\n")
    assert [component["purl"] for component in found] == [
        "pkg:deb/debian/adduser@3.134?arch=all",
        "pkg:deb/debian/zlib1g@1%3A1.2.13.dfsg-1?arch=amd64",
    ]


@pytest.mark.parametrize("text", ["", "adduser", "dpkg-query: no packages found matching x"])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(Refused):
        debian_packages(text)
