"""The body of an answer, kept packed where it came so: one of twenty megabytes waits as one, until it is its turn to be read."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

#: gzip and zlib, as the header says.
_WINDOW = 32 + zlib.MAX_WBITS
#: Unpacked at a time: what is only counted is let go at once.
_STEP = 1 << 20
#: Bytes that are looked at to tell what it is.
BEGIN = 2000


class TooLong(Exception):
    """The body is longer than its limit."""


class Damaged(Exception):
    """The body does not unpack."""


class Body:
    """limit: bytes, unpacked. packed: whether what comes is gzip.

    Each piece is unpacked as it comes, so that a bomb ends at the limit, and what was taken whole can be read.
    """

    def __init__(self, limit: int, packed: bool) -> None:
        self._limit, self._packed = limit, packed
        self._pieces: list[bytes] = []
        self._size = 0
        #: What it begins with, unpacked.
        self.begin = b""
        self._unpacker = zlib.decompressobj(_WINDOW)

    def add(self, piece: bytes) -> None:
        """Raises TooLong and Damaged."""
        self._pieces.append(piece)
        for part in self._unpacked(piece) if self._packed else (piece,):
            self._size += len(part)
            if len(self.begin) < BEGIN:
                self.begin += part[: BEGIN - len(self.begin)]
            if self._size > self._limit:
                raise TooLong

    def end(self) -> None:
        """Nothing more comes. Raises Damaged."""
        if self._packed and self._pieces and not self._unpacker.eof:
            raise Damaged("it ends too early")

    def _unpacked(self, piece: bytes) -> Iterable[bytes]:
        """What comes after the end of a packed part is another one."""
        try:
            while piece:
                if self._unpacker.eof:
                    self._unpacker = zlib.decompressobj(_WINDOW)
                yield self._unpacker.decompress(piece, _STEP)
                piece = self._unpacker.unconsumed_tail or self._unpacker.unused_data
        except zlib.error as error:
            raise Damaged(str(error)) from None

    def read(self) -> bytearray:
        """The whole, unpacked. Once: the pieces are let go."""
        pieces, self._pieces = self._pieces, []
        whole, pieces = bytearray(), pieces[::-1]
        self._unpacker = zlib.decompressobj(_WINDOW)
        while pieces:
            for part in self._unpacked(pieces.pop()) if self._packed else (pieces.pop(),):
                whole += part
        return whole
