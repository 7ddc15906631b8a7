"""Versions as servers, image tags and labels write them, for comparison."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_V = re.compile(r"^v(?=\d+(\.|$))")
_OS = re.compile(r"-(ubuntu|ubi|distroless|centos|rhel|rhcos|sles|sl-micro|flatcar|debian|rocky|alpine|suse)[\w.]*$")
#: Precompiled drivers: <branch>-<kernel>-<flavour>; which release of the branch it is does not stand there.
_PRECOMPILED = re.compile(r"^(\d{3})-\d+\.\d+\.\d+-.*$")
_NUMBERS = re.compile(r"\d+")
_RELEASE = re.compile(r"v?([0-9]{1,4})(?:\.([0-9]{1,4}))?(?:\.([0-9]{1,4}))?")
#: Longest version that is taken from an image, which anybody may name.
LONGEST_VERSION = 64


class Version(NamedTuple):
    """Of Kubernetes or a component. Compare it with tuples: `version >= (1, 24)`."""

    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    @property
    def short(self) -> str:
        return f"{self.major}.{self.minor}"


#: Of Kubernetes, where a cluster does not tell its version.
NEWEST = Version(1, 36)


def version_of(text: object) -> Version | None:
    """The version that a text begins with ("v1.28.9-eks-1", "1.7.27"), its first three numbers; None: none."""
    found = _RELEASE.match(text.strip()) if isinstance(text, str) else None
    return Version(int(found[1]), int(found[2] or 0), int(found[3] or 0)) if found else None


@lru_cache(maxsize=4096)
def plain_version(text: str) -> str:
    """A tag or label without "v" and operating system: "v0.17.4-ubi8" → "0.17.4"; "" for a digest or "latest"."""
    tag = _OS.sub("", text.strip())
    if found := _PRECOMPILED.match(tag):
        tag = found[1]
    tag = _V.sub("", tag)
    return tag[:LONGEST_VERSION] if any(letter.isdigit() for letter in tag) else ""


@lru_cache(maxsize=4096)
def image_version(image: str | None) -> str:
    """The version in an image's tag; "" where it has none, or a digest says what is pulled."""
    if not image:
        return ""
    rest, _, _ = image.partition("@")
    _, colon, tag = rest.rpartition(":")
    return plain_version(tag) if colon and "/" not in tag else ""


@lru_cache(maxsize=4096)
def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, for comparison; those after the first part with a letter are left out."""
    head = re.split(r"[^\d.]", version, maxsplit=1)[0]
    return tuple(int(one) for one in _NUMBERS.findall(head)[:6])


@lru_cache(maxsize=4096)
def below(version: str, floor: str) -> bool:
    """Whether a version is older than another; False where one of them has no numbers."""
    mine, other = numbers(version), numbers(floor)
    if not mine or not other:
        return False
    length = max(len(mine), len(other))
    return (*mine, *[0] * (length - len(mine))) < (*other, *[0] * (length - len(other)))
