"""API bytes → structs. The hot path: typed decoding first, object by object only when a page holds something strange.

An object that does not decode is not lost: it comes back as `Unread`, with as much of its name as can be read.
"""

from __future__ import annotations

from typing import Any, Generic

import msgspec

from kube import salvage
from kube.decoders import decoder
from kube.kinds import T
from wording.said import sentence

#: Longest error text kept of an unreadable object.
ERROR_CHARS = 300
#: A page's metadata stands within its first bytes.
HEAD = 16 << 10
#: Objects on a page: no more than 5,000 are asked for.
MOST_ITEMS = 10_000


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


class _ListMeta(msgspec.Struct):
    resourceVersion: str = ""
    continue_: str | None = msgspec.field(default=None, name="continue")


class _RawPage(msgspec.Struct):
    kind: str = ""
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET


class _RawEvent(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _BookmarkMeta(msgspec.Struct):
    resourceVersion: str = ""


class _Bookmark(msgspec.Struct):
    metadata: _BookmarkMeta


class _Status(msgspec.Struct):
    code: int | None = None
    reason: str | None = None
    message: str | None = None


_raw_page = decoder(_RawPage)
_raw_event = decoder(_RawEvent)
#: Events that carry an object.
_CHANGES = frozenset(("ADDED", "MODIFIED", "DELETED"))
_bookmark = decoder(_Bookmark)
_status = decoder(_Status)
_meta = decoder(_ListMeta)
#: What a decoder may answer bytes with that it cannot read.
_UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


class Decoder(Generic[T]):
    """Decodes lists and watch lines of one kind (one of `kinds`; `listed.Pod` is without the rest of a pod)."""

    def __init__(self, kind: type[T]) -> None:
        self.kind: type[Any] = kind
        self._object: msgspec.json.Decoder[Any] = decoder(kind)
        page = msgspec.defstruct(
            f"{kind.__name__}Page",
            [
                ("items", list[kind] | None | msgspec.UnsetType, msgspec.UNSET),  # type: ignore[valid-type]
                ("metadata", _ListMeta, msgspec.field(default_factory=_ListMeta)),
                ("kind", str, ""),
            ],
        )
        self._page = decoder(page)

    def page(self, body: bytes) -> Page[T]:
        """One page. Raises NotAList."""
        try:
            whole: Any = self._page.decode(body)
        except _UNREADABLE:
            return self._page_by_object(body)
        self._check(whole.kind, whole.items)
        objects: list[T] = whole.items or []
        if not all(thing.metadata.name and thing.metadata.uid for thing in objects):
            return self._page_by_object(body)
        return Page(objects, [], whole.metadata.resourceVersion, whole.metadata.continue_ or "")

    def _check(self, kind: str, items: object) -> None:
        if kind != f"{self.kind.__name__}List":
            raise NotAList(
                sentence(
                    "received {came} instead of {kind}List",
                    came=kind[:60] or sentence("an object without a kind"),
                    kind=self.kind.__name__,
                )
            )
        if items is msgspec.UNSET:
            raise NotAList(sentence("received a {kind} without items", kind=kind))
        if isinstance(items, list) and len(items) > MOST_ITEMS:
            raise NotAList(sentence("received a page of {number} objects", number=len(items)))

    def _page_by_object(self, body: bytes) -> Page[T]:
        try:
            raw = _raw_page.decode(body)
        except msgspec.ValidationError as error:
            raise NotAList(_what_came(body, error)) from None
        except _UNREADABLE as error:
            raw = _taken_apart(body, error)
        self._check(raw.kind, raw.items)
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
        except _UNREADABLE as error:
            return _unread(raw, str(error))
        if not thing.metadata.name or not thing.metadata.uid:
            return _unread(raw, "the object has no name or no uid")
        return thing

    def event(self, line: bytes) -> Event[T]:
        """One line of a watch. Raises NotAList when it is not a watch event at all."""
        try:
            raw = _raw_event.decode(line)
        except _UNREADABLE as error:
            raw = _event_taken_apart(line, error)
        try:
            if raw.type == "BOOKMARK":
                return _bookmark_event(raw.object)
            if raw.type == "ERROR":
                status = _status.decode(raw.object)
                return Event(
                    "ERROR", code=status.code or 0, reason=status.reason or "", message=(status.message or "")[:2000]
                )
        except _UNREADABLE as error:
            raise NotAList(_what_came(line, error)) from None
        if raw.type not in _CHANGES:
            raise NotAList(sentence("received a watch event of unknown type {type}", type=f"{raw.type[:60]!r}"))
        thing = self.object(raw.object)
        if isinstance(thing, Unread):
            return Event(
                raw.type, salvage.text(salvage.member(bytes(raw.object), "metadata", "resourceVersion")), unread=thing
            )
        return Event(raw.type, thing.metadata.resourceVersion, object=thing)


def token_at_the_head(body: bytes) -> str:
    """The continue token of a page whose metadata stands before its items, as API servers write it; "" when it cannot be told."""
    end = body.find(b'"items"', 0, HEAD)
    try:
        return _raw_page.decode(body[:end].rstrip().rstrip(b",") + b"}").metadata.continue_ or "" if end > 0 else ""
    except _UNREADABLE:
        return ""


def _bookmark_event(raw: msgspec.Raw) -> Event[Any]:
    return Event("BOOKMARK", _bookmark.decode(raw).metadata.resourceVersion)


def _taken_apart(body: bytes, error: Exception) -> _RawPage:
    """A page that the decoder refuses as a whole, object by object. Raises NotAList."""
    parts = dict(salvage.children(body) or ())
    items = salvage.children(parts.get("items", b""))
    if items is None or not parts["items"].startswith(b"["):
        raise NotAList(_what_came(body, error))
    try:
        meta = _meta.decode(parts.get("metadata", b"{}"))
    except _UNREADABLE as strange:
        raise NotAList(_what_came(body, strange)) from None
    return _RawPage(salvage.text(parts.get("kind", b"")), meta, [msgspec.Raw(item) for _, item in items])


def _event_taken_apart(line: bytes, error: Exception) -> _RawEvent:
    parts = dict(salvage.children(line) or ())
    if not parts.get("type", b"").startswith(b'"') or "object" not in parts:
        raise NotAList(_what_came(line, error))
    return _RawEvent(salvage.text(parts["type"]), msgspec.Raw(parts["object"]))


def _unread(raw: bytes | msgspec.Raw, error: str) -> Unread:
    metadata = dict(salvage.children(salvage.member(bytes(raw), "metadata")) or ())
    namespace, name, uid = (
        salvage.text(metadata.get(key, b"")).replace("\0", "")[:253] for key in ("namespace", "name", "uid")
    )
    return Unread(namespace, name, uid, error.replace("\0", "")[:ERROR_CHARS])


def _what_came(body: bytes, error: Exception) -> str:
    start = body[:200].lstrip().lower()
    if start.startswith((b"<!doctype", b"<html")):
        return sentence("received an HTML page instead of JSON; check for a proxy or sign-in page")
    if not body.strip():
        return sentence("received an empty response")
    if "truncated" in str(error):
        return sentence("the response is cut off after {number} bytes", number=len(body))
    if isinstance(error, msgspec.ValidationError):
        return sentence("received unexpected JSON: {error}", error=str(error)[:ERROR_CHARS])
    return sentence("invalid JSON: {error}", error=str(error)[:ERROR_CHARS])
