"""From conditions at moments to findings that stay: what is begun, told, kept for a while, ended. Pure.

A condition is told when it has lasted, seen in rounds that follow each other. What was told stays while nothing is known of it for a
while, so that one missed round ends and begins nothing; what was only begun, and is not seen once, begins anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from inventory.compared.rules import GIB, Claim, Key, moment
from wording.said import cut, sentence

#: What was told outlives this much time in which nothing is known.
GRACE_S = 300.0
#: Bytes have moved when they did by more than this part of them, and by more than a gibibyte.
MOVED_RATIO = 0.1
#: Characters of a text: names can be long.
MOST_TEXT = 4000


class State(msgspec.Struct, frozen=True):
    """What is stored of one condition. first: the round in which it was first seen, or since when it is known to be.

    told: it is a finding. unknown_since: since when nothing is known of it; None: it was seen in the last look.
    """

    first: float
    text: str = ""
    numbers: tuple[int, ...] = ()
    exact: str = ""
    told: bool = False
    unknown_since: float | None = None


def step(
    stored: Mapping[Key, State],
    found: Mapping[Key, Claim],
    is_unknown: Callable[[Key], bool],
    now: float,
    round_at: float,
    every_s: float = 60.0,
) -> dict[Key, State]:
    """What is to be stored after a look. now, round_at: the look, and the round that it looked at."""
    made = {key: _seen(stored.get(key), claim, round_at, every_s) for key, claim in found.items()}
    for key in _rest(stored, found):
        state = stored[key]
        since = state.unknown_since if state.unknown_since is not None else now
        if state.told and is_unknown(key) and now - since <= GRACE_S:
            made[key] = msgspec.structs.replace(state, unknown_since=since)
    return made


def _rest(stored: Iterable[Key], found: Mapping[Key, Claim]) -> list[Key]:
    return [key for key in stored if key not in found]


def _seen(old: State | None, claim: Claim, round_at: float, every_s: float) -> State:
    first = claim.since if claim.since is not None else old.first if old is not None else round_at
    # Three rounds: two intervals lie between them.
    lasted = round_at - first >= max(claim.wait_s, 2 * every_s if claim.wait_s else 0.0)
    # What has its own beginning is told when that is long enough ago, whatever was told before: another card may be the one now.
    if not lasted and (claim.since is not None or old is None or not old.told):
        return State(first)
    if old is not None and old.told and not _moved(old, claim):
        return msgspec.structs.replace(old, unknown_since=None)
    text = sentence("{what} Since {first}. {action}", what=claim.what, first=moment(first), action=claim.action)
    return State(first, cut(text, MOST_TEXT), claim.numbers, claim.exact[:MOST_TEXT], True)


def _moved(old: State, claim: Claim) -> bool:
    if old.exact != claim.exact[:MOST_TEXT] or len(old.numbers) != len(claim.numbers):
        return True
    pairs = zip(old.numbers, claim.numbers, strict=True)
    return any(abs(after - before) > max(MOVED_RATIO * before, GIB) for before, after in pairs)
