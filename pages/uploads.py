"""Kubeconfigs between two steps of a form: uploaded, and a context still to be chosen. They lie in the memory of this process only.

A page can show a list of contexts, but never the file again, and a browser sends a chosen file once.
"""

from __future__ import annotations

import secrets
import time
from threading import Lock
from typing import NamedTuple

from kube.uploaded import Upload

#: Seconds until one is forgotten, and how many there are at most: each may be half a mebibyte.
LASTS_S, MOST = 600.0, 8


class _Kept(NamedTuple):
    upload: Upload
    owner: str
    until: float


class Uploads:
    """By a word that the form carries. Another session's word leads to nothing."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}
        self._lock = Lock()

    def keep(self, upload: Upload, owner: str) -> str:
        """owner: the key of a session. Returns the word; the oldest upload makes room."""
        word = secrets.token_urlsafe(16)
        with self._lock:
            self._forget_old()
            while len(self._kept) >= MOST:
                del self._kept[next(iter(self._kept))]
            self._kept[word] = _Kept(upload, owner, time.monotonic() + LASTS_S)
        return word

    def take(self, word: str, owner: str) -> Upload | None:
        """It is not kept any more; the form keeps it again where it needs it once more."""
        with self._lock:
            self._forget_old()
            found = self._kept.get(word)
            if found is None or not owner or found.owner != owner:
                return None
            del self._kept[word]
            return found.upload

    def _forget_old(self) -> None:
        now = time.monotonic()
        for word in [word for word, one in self._kept.items() if one.until <= now]:
            del self._kept[word]


uploads = Uploads()
