"""List answers in pages: every page continues the snapshot that the first page was taken from."""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_left
from collections import OrderedDict

import msgspec

from fleetsim.resources import Resource
from fleetsim.selectors import Selection
from fleetsim.status import ApiError, bad_request, expired
from fleetsim.store import Entry, Store

#: Version in a token that reads the rest from what is there now.
INCONSISTENT = -1


class Token(msgspec.Struct):
    """What a continue token says, in the field names of the API server: version of the snapshot and first key."""

    rv: int
    start: str
    v: str = "meta.k8s.io/v1"


#: Made before there are threads: see kube/decoders.py, which nothing here may import.
_token = msgspec.json.Decoder(Token)


class Pages:
    """Snapshots that unfinished lists still read. The oldest is forgotten when there are more than `most`.

    A snapshot holds what one selection chose at one version: the chosen are counted and cut into pages, not looked for again.
    """

    def __init__(self, store: Store, most: int = 16) -> None:
        self.store = store
        self.most = most
        self._snapshots: OrderedDict[tuple[str, int, Selection], list[Entry]] = OrderedDict()

    def forget(self) -> None:
        """Expire every continue token, as a compaction does."""
        with self.store.changed:
            self._snapshots.clear()

    def page(self, resource: Resource, selection: Selection, limit: int, token: str) -> bytes:
        """One List object. limit 0: all. Raises ApiError 400 on a token that is none and 410 on one that expired."""
        if token:
            version, entries, start = self._continue(resource, selection, _read_token(token))
        else:
            version, entries = self._chosen(resource, selection)
            start = 0
        end = min(start + limit, len(entries)) if limit else len(entries)
        page = entries[start:end]
        if end == len(entries):
            return _list_body(resource, version, page, "", None)
        self._keep(resource, version, selection, entries)
        # The API server cannot know how many a selector will choose, and leaves the count out.
        remaining = None if selection.filters else len(entries) - end
        return _list_body(resource, version, page, _write_token(version, entries[end].key), remaining)

    def _chosen(self, resource: Resource, selection: Selection) -> tuple[int, list[Entry]]:
        version, entries = self.store.snapshot(resource)
        if selection != Selection():
            entries = [entry for entry in entries if entry.chosen_by(selection)]
        return version, entries

    def _keep(self, resource: Resource, version: int, selection: Selection, entries: list[Entry]) -> None:
        key = (resource.plural, version, selection)
        with self.store.changed:
            self._snapshots[key] = entries
            self._snapshots.move_to_end(key)
            while len(self._snapshots) > self.most:
                self._snapshots.popitem(last=False)

    def _continue(self, resource: Resource, selection: Selection, token: Token) -> tuple[int, list[Entry], int]:
        if token.rv == INCONSISTENT:
            version, entries = self._chosen(resource, selection)
            return version, entries, bisect_left(entries, token.start, key=lambda entry: entry.key)
        with self.store.changed:
            kept = self._snapshots.get((resource.plural, token.rv, selection))
        if kept is None:
            raise _expired(token)
        return token.rv, kept, bisect_left(kept, token.start, key=lambda entry: entry.key)


def _expired(token: Token) -> ApiError:
    error = expired("The provided continue parameter is too old to display a consistent list result.")
    # As the API server does: a client that accepts an inconsistent rest may go on with this token.
    error.continue_token = _write_token(INCONSISTENT, token.start)
    return error


def _read_token(text: str) -> Token:
    try:
        return _token.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (binascii.Error, msgspec.DecodeError, UnicodeDecodeError, ValueError):
        raise bad_request("continue key is not valid: cannot be decoded") from None


def _write_token(version: int, start: str) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(Token(rv=version, start=start))).decode().rstrip("=")


def _list_body(resource: Resource, version: int, page: list[Entry], token: str, remaining: int | None) -> bytes:
    metadata: dict[str, str | int] = {"resourceVersion": str(version)}
    if token:
        metadata["continue"] = token
    if remaining is not None:
        metadata["remainingItemCount"] = remaining
    head = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": metadata}
    return msgspec.json.encode(head)[:-1] + b',"items":[' + b",".join(entry.body for entry in page) + b"]}"
