"""Where a kind is listed and watched: one path, several of them, or one that the API server has to be asked for.

A group may be served in several versions, and another one after an upgrade; the best that there is is taken, and looked for again
when it is gone. Of a kind that many use for many things (ConfigMaps), only those are read that a selector names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import msgspec

from kube.client import ApiError, Client
from kube.decoders import decoder
from wording.said import sentence

#: Seconds for an answer: less than a lease lasts.
TIMEOUT_S = 5.0


class NotServed(ApiError):
    """The API server does not have this kind."""

    def __init__(self, message: str) -> None:
        super().__init__(404, "NotServed", message)


class Place(NamedTuple):
    """query: what is selected there, as parameters of the request. text: of both, for people, rows and comparison."""

    path: str
    query: tuple[tuple[str, str], ...] = ()
    text: str = ""


class _Version(msgspec.Struct):
    version: str


class _Group(msgspec.Struct):
    versions: list[_Version]


class _Resource(msgspec.Struct):
    name: str


class _Resources(msgspec.Struct):
    resources: list[_Resource]


_Document = TypeVar("_Document", _Group, _Resources)


class Source:
    """The places of one kind.

    path: of the kind, in the version that is wanted most. versions: those that can be read, best first; none where the path is
    certain. places: parts of the kind that are read, all of it where left out.
    """

    def __init__(self, path: str, versions: Sequence[str] = (), places: Sequence[Place] | None = None) -> None:
        self._wanted, self.versions = path, tuple(versions)
        self._places = tuple(places) if places is not None else None
        self._found = "" if self.versions else path
        #: How many versions were tried where discovery is refused.
        self._tried = 0

    def __repr__(self) -> str:
        return f"<Source {self.path}>"

    @property
    def path(self) -> str:
        """The path of the kind; before it was asked for, the one that is wanted most."""
        return self._found or self._wanted

    @property
    def places(self) -> tuple[Place, ...]:
        return (Place(self.path),) if self._places is None else self._places

    def locate(self, client: Client, timeout_s: float = TIMEOUT_S) -> None:
        """Find the path, where that is not done: one question, and one a version. Raises NotServed, and ApiError: nobody answers.

        timeout_s: for each of them.
        """
        if not self._found:
            self._found = self._ask(client, timeout_s)

    def moved(self, client: Client) -> bool:
        """After a 404: whether the kind is served under another path now. Raises NotServed, and ApiError when nobody answers."""
        if not self.versions or not self._found:
            return False
        before, self._found = self._found, ""
        self.locate(client)
        return self._found != before

    def _ask(self, client: Client, timeout_s: float) -> str:
        _, _, group, _, plural = self._wanted.split("/")
        said = sentence(
            "the API server has no {plural} of {group} ({versions})",
            plural=plural,
            group=group,
            versions=", ".join(self.versions),
        )
        try:
            served = _document(client, f"/apis/{group}", _Group, timeout_s).versions
        except ApiError as error:
            if error.status == 403:
                return self._try_next(group, plural, said)
            raise _not_served(error, said) from None
        names = {one.version for one in served}
        for version in self.versions:
            if version in names and self._has(client, f"/apis/{group}/{version}", plural, timeout_s):
                return f"/apis/{group}/{version}/{plural}"
        raise NotServed(said)

    def _try_next(self, group: str, plural: str, said: str) -> str:
        """Where the API server does not tell what it serves, each version is tried once."""
        if self._tried == len(self.versions):
            self._tried = 0
            raise NotServed(sentence("{error}; API discovery is denied (403)", error=said))
        self._tried += 1
        return f"/apis/{group}/{self.versions[self._tried - 1]}/{plural}"

    @staticmethod
    def _has(client: Client, path: str, plural: str, timeout_s: float) -> bool:
        try:
            found = _document(client, path, _Resources, timeout_s).resources
        except ApiError as error:
            if error.status == 404:
                return False
            raise
        return any(one.name == plural for one in found)


def _not_served(error: ApiError, said: str) -> ApiError:
    return NotServed(said) if error.status == 404 else error


def _document(client: Client, path: str, kind: type[_Document], timeout_s: float) -> _Document:
    """A document of discovery. Raises ApiError, also where something else came: then it is not known what is served."""
    try:
        return decoder(kind).decode(client.get(path, timeout_s=timeout_s))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise ApiError(
            0, "NotKubernetes", sentence("the response to {path} is not from a Kubernetes API", path=path)
        ) from None
