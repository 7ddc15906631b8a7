"""API bytes → structs. The hot path: typed decoding first, object by object only when a page holds something strange.

An object that does not decode is not lost: it comes back as `Unread`, with as much of its name as can be read.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from inventory.kube.objects import DaemonSet, Node, Pod

T = TypeVar("T", Node, Pod, DaemonSet)

#: Longest error text kept of an unreadable object.
ERROR_CHARS = 300


class NotAList(Exception):
    """A 200 answer that is not a list of objects: HTML, a cut-off body, another kind. The text says what came."""


class Unread(msgspec.Struct, frozen=True):
    """An object that did not decode."""

    namespace: str
    name: str
    uid: str
    error: str


class Page(msgspec.Struct, Generic[T]):
    """One page of a list. continue_token: "" on the last page."""

    objects: list[T]
    unread: list[Unread]
    resource_version: str
    continue_token: str


class Event(msgspec.Struct, Generic[T]):
    """One line of a watch. type: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.

    object is None for bookmarks, errors and what did not decode (`unread` then says what it was). code, reason: of an ERROR.
    """

    type: str
    resource_version: str = ""
    object: T | None = None
    unread: Unread | None = None
    code: int = 0
    reason: str = ""
    message: str = ""
    initial_end: bool = False


class _ListMeta(msgspec.Struct):
    resourceVersion: str = ""
    continue_: str | None = msgspec.field(default=None, name="continue")


class _RawPage(msgspec.Struct):
    kind: str = ""
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[msgspec.Raw] | None = None


class _RawEvent(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _BookmarkMeta(msgspec.Struct):
    resourceVersion: str = ""
    annotations: dict[str, str] | None = None


class _Bookmark(msgspec.Struct):
    metadata: _BookmarkMeta


class _Status(msgspec.Struct):
    code: int | None = None
    reason: str | None = None
    message: str | None = None


class _Anything(msgspec.Struct):
    metadata: Any = None


_raw_page = msgspec.json.Decoder(_RawPage)
_raw_event = msgspec.json.Decoder(_RawEvent)
_bookmark = msgspec.json.Decoder(_Bookmark)
_status = msgspec.json.Decoder(_Status)
_anything = msgspec.json.Decoder(_Anything)


class Decoder(Generic[T]):
    """Decodes lists and watch lines of one kind (Node, Pod or DaemonSet)."""

    def __init__(self, kind: type[T]) -> None:
        self.kind: type[Any] = kind
        self._object: msgspec.json.Decoder[Any] = msgspec.json.Decoder(kind)
        page = msgspec.defstruct(
            f"{kind.__name__}Page",
            [
                ("items", list[kind] | None, None),  # type: ignore[valid-type]
                ("metadata", _ListMeta, msgspec.field(default_factory=_ListMeta)),
                ("kind", str, ""),
            ],
        )
        self._page = msgspec.json.Decoder(page)

    def page(self, body: bytes) -> Page[T]:
        """One page. Raises NotAList."""
        try:
            whole: Any = self._page.decode(body)
        except msgspec.ValidationError:
            return self._page_by_object(body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise NotAList(_what_came(body, error)) from None
        self._check_kind(whole.kind)
        return Page(whole.items or [], [], whole.metadata.resourceVersion, whole.metadata.continue_ or "")

    def _check_kind(self, kind: str) -> None:
        if kind != f"{self.kind.__name__}List":
            raise NotAList(f"a {kind[:60] or 'object without kind'} came instead of a {self.kind.__name__}List")

    def _page_by_object(self, body: bytes) -> Page[T]:
        try:
            raw = _raw_page.decode(body)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise NotAList(_what_came(body, error)) from None
        self._check_kind(raw.kind)
        page: Page[T] = Page([], [], raw.metadata.resourceVersion, raw.metadata.continue_ or "")
        for item in raw.items or []:
            thing = self.object(item)
            if isinstance(thing, Unread):
                page.unread.append(thing)
            else:
                page.objects.append(thing)
        return page

    def object(self, raw: bytes | msgspec.Raw) -> T | Unread:
        """One object, or what is known of one that does not decode."""
        try:
            thing: T = self._object.decode(raw)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            return _unread(raw, str(error))
        if not thing.metadata.name or not thing.metadata.uid:
            return _unread(raw, "it has no name or no uid")
        return thing

    def event(self, line: bytes) -> Event[T]:
        """One line of a watch. Raises NotAList when it is not a watch event at all."""
        try:
            raw = _raw_event.decode(line)
            if raw.type == "BOOKMARK":
                meta = _bookmark.decode(raw.object).metadata
                end = (meta.annotations or {}).get("k8s.io/initial-events-end") == "true"
                return Event("BOOKMARK", meta.resourceVersion, initial_end=end)
            if raw.type == "ERROR":
                status = _status.decode(raw.object)
                return Event(
                    "ERROR", code=status.code or 0, reason=status.reason or "", message=(status.message or "")[:2000]
                )
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise NotAList(_what_came(line, error)) from None
        thing = self.object(raw.object)
        if isinstance(thing, Unread):
            return Event(raw.type, _resource_version(raw.object), unread=thing)
        return Event(raw.type, thing.metadata.resourceVersion, object=thing)


def _metadata(raw: bytes | msgspec.Raw) -> dict[str, Any]:
    try:
        metadata = _anything.decode(raw).metadata
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return {}
    return metadata if isinstance(metadata, dict) else {}


def _resource_version(raw: bytes | msgspec.Raw) -> str:
    value = _metadata(raw).get("resourceVersion")
    return value if isinstance(value, str) else ""


def _unread(raw: bytes | msgspec.Raw, error: str) -> Unread:
    metadata = _metadata(raw)
    namespace, name, uid = (
        str(metadata.get(key) or "")[:253].replace("\0", "") for key in ("namespace", "name", "uid")
    )
    return Unread(namespace, name, uid, error.replace("\0", "")[:ERROR_CHARS])


def _what_came(body: bytes, error: Exception) -> str:
    start = body[:200].lstrip().lower()
    if start.startswith((b"<!doctype", b"<html")):
        return "an HTML page came instead of the API's JSON (a proxy or sign-in page in between?)"
    if "truncated" in str(error):
        return f"the answer ends in the middle (after {len(body)} bytes)"
    return f"not readable as JSON: {str(error)[:ERROR_CHARS]}"
