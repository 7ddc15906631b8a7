"""What differs between two texts of HTML, as short instructions that the browser follows (static/js/parts.js).

Both sides cut a text into pieces at each "<", so that positions mean the same in every language and encoding. The new text is told
from left to right with a place in the old one that moves along; three kinds of instruction, as JSON:

    12        the next 12 pieces are those of the old text from here on
    [7]       go on at piece 7 of the old text (counted from 0), forward or back
    "td>5"    a piece that the old text does not have here; it stands for the old one at this place

Whatever was inserted, removed or moved, following them gives the new text exactly. Linear in both lengths. Knows no requests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import pairwise

Instruction = int | list[int] | str
_CUT = "<"


def changes(old: str, new: str) -> list[Instruction]:
    """From `old` to `new`."""
    had, wanted = old.split(_CUT), new.split(_CUT)
    # A row is found again by what stands nowhere else: its key, its address, its name; or one piece behind another.
    places, pairs = _once(had), _once(list(pairwise(had)))
    made: list[Instruction] = []
    at = same = 0
    for piece, pair in zip(wanted, [*pairwise(wanted), None], strict=True):
        if at >= len(had) or had[at] != piece:
            if same:
                made.append(same)
                same = 0
            place = places.get(piece, pairs.get(pair))
            if place is None:
                made.append(piece)
                at += 1
                continue
            made.append([place])
            at = place
        same += 1
        at += 1
    return [*made, same] if same else made


def _once(pieces: Sequence[Hashable]) -> dict[Hashable, int]:
    """Place of each that stands in one place only."""
    counts = Counter(pieces)
    return {piece: at for at, piece in enumerate(pieces) if counts[piece] == 1}


def changed(old: str, instructions: list[Instruction]) -> str:
    """The new text. The browser does the same."""
    had = old.split(_CUT)
    made: list[str] = []
    at = 0
    for one in instructions:
        if isinstance(one, int):
            made += had[at : at + one]
            at += one
        elif isinstance(one, list):
            at = one[0]
        else:
            made.append(one)
            at += 1
    return _CUT.join(made)
