"""What is known of a run that went wrong: what it says itself, and how its suite ended on its card, beside it and elsewhere. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from validations.suites import reasons
from validations.suites.engine.reason_words import PointsTo

#: What decides by itself; the rest that a reason points to yields to what the runs around it show.
_DECISIVE = ("scheduling", "configuration", "unknown")
CANCELLED = "cancelled"


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A run that ended wrong. code: of the reason that decided. started: whether its container ran. placed: whether a node had taken
    the pod. end_reason: of the container.

    health: what the card reports of itself now that is degraded or unhealthy, in English. diagnostic: whether a suite that confirms
    a fault of the card can run there.
    """

    verdict: str
    code: str
    node: str
    card: str = ""
    image: str = ""
    digest: str = ""
    driver: str = ""
    started: bool = True
    placed: bool = True
    end_reason: str = ""
    health: tuple[str, ...] = ()
    diagnostic: bool = False


class Other(msgspec.Struct, frozen=True, kw_only=True):
    """Another run of the same suite: on the node, or on a card of the same model. later: it ended after the run. Newest first."""

    verdict: str
    node: str
    card: str = ""
    code: str = ""
    image: str = ""
    digest: str = ""
    driver: str = ""
    started: bool = True
    later: bool = False

    @property
    def passed(self) -> bool:
        return self.verdict in ("passed", "warning")

    @property
    def tells(self) -> bool:
        """Whether it says something of the test: an errored one does when it ran and ended by itself."""
        stopped = self.code == CANCELLED or points_to(self.code) in _DECISIVE
        return self.passed or self.verdict == "failed" or (self.verdict == "errored" and self.started and not stopped)


class Around(msgspec.Struct, frozen=True, kw_only=True):
    """Comparable results: all of the card itself, and the last of each card beside it and elsewhere.

    other_image, other_driver: results that differ in that. started: nodes on which the image has started.
    """

    own: list[Other]
    beside: list[Other]
    elsewhere: list[Other]
    other_image: list[Other]
    other_driver: list[Other]
    started: frozenset[str]


def found_around(run: Failure, others: list[Other]) -> Around:
    """others: of the same suite, newest first."""
    alike = [one for one in others if _same_image(run, one)]
    same = [one for one in alike if one.tells and not _differ(run.driver, one.driver)]
    return Around(
        own=[one for one in same if is_own(run, one)],
        beside=_last(one for one in same if one.node == run.node and not is_own(run, one) and one.card),
        elsewhere=_last(one for one in same if one.node != run.node),
        other_image=[one for one in others if one.tells and not _same_image(run, one)],
        other_driver=[one for one in alike if one.tells and _differ(run.driver, one.driver)],
        started=frozenset(one.node for one in alike if one.started),
    )


def points_to(code: str) -> PointsTo:
    """What the declaration of a reason says; "" of an unknown one."""
    words = reasons().get(code)
    return words.points_to if words is not None else ""


def _differ(one: str, other: str) -> bool:
    return bool(one) and bool(other) and one != other


def is_own(run: Failure, one: Other) -> bool:
    """Whether it ran on the card of the run."""
    return (one.node, one.card) == (run.node, run.card)


def _same_image(run: Failure, one: Other) -> bool:
    return run.digest == one.digest if run.digest and one.digest else run.image == one.image


def _last(rows: Iterable[Other]) -> list[Other]:
    """Of each card the newest."""
    kept: dict[tuple[str, str], Other] = {}
    for one in rows:
        kept.setdefault((one.node, one.card), one)
    return list(kept.values())


def passing(rows: Iterable[Other]) -> list[Other]:
    return [one for one in rows if one.passed]


def failing(rows: Iterable[Other]) -> list[Other]:
    return [one for one in rows if not one.passed]


def nodes_of(rows: Iterable[Other]) -> int:
    return len({one.node for one in rows})
