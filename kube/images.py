"""Names of container images, as kubelets read them, and lists of those that are allowed.

Grammar: distribution/reference. A name without a host is one of docker.io, one without a path there is below `library`, one without
tag and digest has the tag `latest`. Where both are given, the digest alone says what is pulled, so the tag says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

#: Word of a list that stands for the images that each suite brings.
SUITES = "suites"
_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?(?::[0-9]{1,5})?")
_PART = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_LONGEST = 512
_DOCKER = "docker.io"
_ALSO_DOCKER = ("index.docker.io", "registry-1.docker.io")
WANTED = "use registry/name:tag, registry/name@sha256:…, registry/name (any tag), registry/path/* or suites"


class Image(msgspec.Struct, frozen=True):
    """A reference in full. name: host and path. tag, digest: "" where the reference has none."""

    name: str
    tag: str = ""
    digest: str = ""

    def __str__(self) -> str:
        return self.name + (f":{self.tag}" if self.tag else "") + (f"@{self.digest}" if self.digest else "")


def parsed(text: str) -> Image | None:
    """The reference with nothing left to guess but its tag; None when it is none."""
    rest, at, digest = text.partition("@")
    if len(text) > _LONGEST or (at and not _DIGEST.fullmatch(digest)):
        return None
    place, colon, tag = rest.rpartition(":")
    if not colon or "/" in tag:  # the colon of a port
        place, tag = rest, ""
    elif not _TAG.fullmatch(tag):
        return None
    name = _full(place)
    return Image(name, tag, digest) if name else None


def _full(place: str) -> str:
    """Host and path; "" when they are none."""
    host, slash, path = place.partition("/")
    if not slash or not ("." in host or ":" in host or host == "localhost"):
        host, path = _DOCKER, place
    if host.lower() in (_DOCKER, *_ALSO_DOCKER):
        host, path = _DOCKER, path if "/" in path else f"library/{path}"
    whole = _HOST.fullmatch(host) and all(_PART.fullmatch(part) for part in path.split("/"))
    return f"{host.lower()}/{path}" if whole else ""


class Allowed(msgspec.Struct, frozen=True):
    """A list of images that may run. suites: whether each suite's own may. names: entries; below: hosts and paths, each with "/"."""

    suites: bool
    names: tuple[Image, ...]
    below: tuple[str, ...]

    def admits(self, text: str) -> bool:
        """Whether the list names this reference. A digest must be listed itself, or its whole name."""
        image = parsed(text)
        if image is None:
            return False
        return image.name.startswith(self.below) or any(_matches(entry, image) for entry in self.names)

    def pinned(self, text: str) -> str:
        """The reference as it is to be pulled: where the list has its tag with a digest, that digest."""
        image = parsed(text)
        if image is None or image.digest:
            return text
        found = [one for one in self.names if one.digest and (one.name, one.tag) == (image.name, image.tag or "latest")]
        return f"{text}@{found[0].digest}" if found else text


def _matches(entry: Image, image: Image) -> bool:
    if entry.name != image.name:
        return False
    if image.digest:
        return entry.digest == image.digest or not (entry.digest or entry.tag)
    return (not entry.tag and not entry.digest) or (entry.tag == (image.tag or "latest"))


def allowed(entries: Iterable[str]) -> Allowed:
    """The list of these entries. Raises ValueError with the entry that is none."""
    names: list[Image] = []
    below: list[str] = []
    suites = False
    for entry in entries:
        if entry == SUITES:
            suites = True
        elif entry.endswith("/*"):
            below.append(f"{_below(entry.removesuffix('/*'), entry)}/")
        elif (image := parsed(entry)) is not None:
            names.append(image)
        else:
            raise ValueError(f"invalid image {entry[:100]!r}; {WANTED}")
    return Allowed(suites, tuple(names), tuple(below))


def _below(place: str, entry: str) -> str:
    """A host, or a host with a path. One without a host is of docker.io."""
    host, slash, _ = place.partition("/")
    if not slash and ("." in host or ":" in host or host == "localhost") and _HOST.fullmatch(host):
        return _DOCKER if host.lower() in _ALSO_DOCKER else host.lower()
    # What has one more part is no path below `library`.
    name = _full(f"{place}/x")
    if not name:
        raise ValueError(f"invalid image {entry[:100]!r}; {WANTED}")
    return name.removesuffix("/x")
