"""What is wrong with the measuring of a whole cluster, said once instead of at each node. Pure; times are seconds since 1970."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from inventory.compared import entries
from inventory.compared.rules import Claim, Key, moment, names
from wording.said import sentence

#: More nodes than these, and more than half of all, are said of the cluster.
MOST_NODES = 20
#: A source that has just been set has its time.
PATIENCE_S = 300.0


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """How the reading of a cluster's exporters stands. overdue_since: nobody reads them; trouble_since: reading them fails.

    reads: rounds end well. measured: cards of the mirror that are measured; None: not known now. cards: cards of the mirror.
    unmatched: cards that exporters name and the mirror does not have.
    """

    overdue_since: float | None = None
    trouble_since: float | None = None
    round_at: float | None = None
    reason: str = ""
    reads: bool = False
    measured: int | None = None
    cards: int = 0
    unmatched: int = 0


def gathered(found: Mapping[str, dict[Key, Claim]], nodes: int) -> dict[Key, Claim]:
    """Claims of the cluster, in the place of those of its nodes where these are too many: they are taken out of `found`."""
    made: dict[Key, Claim] = {}
    for code, words in _WORDS.items():
        key = Key(code)
        bad = [name for name, claims in found.items() if key in claims]
        if len(bad) <= MOST_NODES or 2 * len(bad) <= nodes:
            continue
        first = found[bad[0]][key]
        for name in bad:
            del found[name][key]
        what = sentence(
            "{number} of {nodes} nodes with cards {words} ({bad}).",
            number=len(bad),
            nodes=nodes,
            words=words,
            bad=names(sorted(bad)),
        )
        made[key] = Claim(key, what, first.action, exact=str(len(bad)))
    return made


_WORDS = {
    entries.SILENT: sentence("have cards that exporters no longer report"),
    entries.MISSING: sentence("have no card that an exporter has ever reported"),
}


def not_read(source: Source) -> dict[Key, Claim]:
    """Where nobody reads, reading fails, or what is read measures nothing."""
    key = Key(entries.NOT_READ)
    last = (
        sentence(" The last complete round was at {round_at}.", round_at=moment(source.round_at))
        if source.round_at is not None
        else ""
    )
    if source.overdue_since is not None:
        what = sentence(
            "The exporters of this cluster are not being read. A round has been overdue since {overdue_since}.{last}",
            overdue_since=moment(source.overdue_since),
            last=last,
        )
        action = sentence("Start a usage worker: `gpudash worker usage`.")
        return {key: Claim(key, what, action, exact=f"overdue {last}", wait_s=PATIENCE_S, since=source.overdue_since)}
    if source.trouble_since is not None:
        what = sentence("Cannot read the exporters of this cluster: {reason}.{last}", reason=source.reason, last=last)
        exact = f"trouble {source.reason} {last}"
        return {key: Claim(key, what, _CHECK, exact=exact, wait_s=PATIENCE_S, since=source.trouble_since)}
    if not source.reads or source.measured != 0 or not source.cards:
        return {}
    what = sentence("The exporters report none of the {cards} cards of this cluster", cards=source.cards)
    named = sentence(" (cards unknown to gpudash: {unmatched})", unmatched=source.unmatched) if source.unmatched else ""
    why = sentence(" ({reason})", reason=source.reason) if source.reason else ""
    return {
        key: Claim(
            key,
            sentence("{what}{named}{why}.", what=what, named=named, why=why),
            _CHECK,
            exact=f"{source.unmatched} {why}",
        )
    }


_CHECK = sentence("Run `gpudash cluster check NAME` on the host of the usage worker to list the exporters.")
