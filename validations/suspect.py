"""Why a run went wrong: the card, the driver or runtime of its node, the image, the configuration, or the scheduling. Pure.

It weighs what the run itself says (its deciding reason, how its container ended), what the card says of itself now, and how the same
suite ended around it: on the same card, on its neighbours, and on other nodes with cards of the model. Only results of the same image
and, where both are known, the same driver are compared. Nothing is guessed: without anything to compare it is unknown, and the tests
that would decide are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

import msgspec

from validations.evidence import (
    CANCELLED,
    Around,
    Failure,
    Other,
    failing,
    found_around,
    is_own,
    nodes_of,
    passing,
    points_to,
)
from wording.said import known, sentence, series

What: TypeAlias = Literal["card", "driver or runtime", "image", "configuration", "scheduling", "unknown"]
#: Test that decides or confirms: the same suite again, on a card beside, on another node, or a long
#: diagnostic of the card; of a group, some of its nodes.
Test: TypeAlias = Literal["rerun", "other-card", "other-node", "diagnostic", "group"]

_TIMEOUT = "timeout"


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """because: sentences, the strongest first. try_: what to do. tests: that decide or confirm it, best first."""

    what: What
    because: tuple[str, ...]
    try_: str
    tests: tuple[Test, ...] = ()


def suspect(run: Failure, others: Iterable[Other]) -> Suspect | None:
    """None for a run that did not go wrong, or that was cancelled."""
    if run.verdict not in ("failed", "errored") or run.code == CANCELLED:
        return None
    around = found_around(run, list(others))
    found = (rule(run, around) for rule in _RULES)
    return next(one for one in found if one is not None)


def _scheduling(run: Failure, around: Around) -> Suspect | None:
    if points_to(run.code) != "scheduling" and not (run.code == _TIMEOUT and not run.placed):
        return None
    return Suspect(
        what="scheduling",
        because=(sentence("The pod was not placed on the target (`{code}`).", code=run.code),),
        try_=sentence("Free resources or choose another node, then rerun."),
        tests=("other-node",),
    )


def _configuration(run: Failure, around: Around) -> Suspect | None:
    if run.end_reason == "OOMKilled" and not run.health:
        because = sentence("The container exceeded its host memory (OOMKilled).")
        return Suspect(
            what="configuration",
            because=(because,),
            try_=sentence("Raise the option `host_memory`, then rerun."),
            tests=("rerun",),
        )
    if points_to(run.code) != "configuration":
        return None
    return Suspect(
        what="configuration",
        because=(sentence("An option, permission or setting prevents the test (`{code}`).", code=run.code),),
        try_=sentence("Correct the option, permission or setting that the reason names, then rerun."),
        tests=("rerun",),
    )


def _not_asked(run: Failure, around: Around) -> Suspect | None:
    if points_to(run.code) != "unknown":
        return None
    because = sentence("The run ended before the card was tested.")
    return Suspect(what="unknown", because=(because,), try_=sentence("Rerun it."), tests=("rerun",))


def _not_started(run: Failure, around: Around) -> Suspect | None:
    """The image was not pulled, or its program cannot be run."""
    if run.code != "image" and (run.code != _TIMEOUT or run.started):
        return None
    elsewhere = len(around.started - {run.node})
    if elsewhere:
        return Suspect(
            what="driver or runtime",
            because=(_started_on(elsewhere),),
            try_=sentence("Check the registry access and the container runtime of node {node}.", node=run.node),
            tests=("rerun",),
        )
    if around.started:
        because = sentence("The image has started on this node in another run.")
        return Suspect(what="unknown", because=(because,), try_=sentence("Rerun it."), tests=("rerun", "other-node"))
    return Suspect(
        what="image",
        because=(sentence("No other run of this suite has started this image."),),
        try_=sentence("Check the image name, the registry and the pull secret."),
        tests=("other-node",),
    )


def _started_on(nodes: int) -> str:
    if nodes == 1:
        return sentence("The same image has started on 1 other node.")
    return sentence("The same image has started on {n} other nodes.", n=nodes)


def _health(run: Failure, around: Around) -> Suspect | None:
    """A card that reports a fault of its own."""
    if not run.health or not run.started:
        return None
    told = series(map(known, run.health), "; ")
    because = [sentence("The card reports a fault: {faults}.", faults=told), *_neighbours(around)]
    return _card(run, because)


def _recurs_not(run: Failure, around: Around) -> Suspect | None:
    """The same test on the same card passed since."""
    if not run.card or not any(one.passed and one.later for one in around.own):
        return None
    because = sentence("The same card passed the same image later: the failure did not recur.")
    if points_to(run.code) == "card":
        return _card(run, [_by_reason(run), because])
    return Suspect(
        what="unknown",
        because=(because,),
        try_=sentence("Rerun it to see whether it recurs."),
        tests=("rerun",),
    )


def _everywhere(run: Failure, around: Around) -> Suspect | None:
    """No card passes with this image, and cards of several nodes were tried."""
    if passing((*around.own, *around.beside, *around.elsewhere)) or not failing(around.elsewhere):
        return None
    nodes = nodes_of(failing(around.elsewhere)) + 1
    because: list[str] = [sentence("This image failed on {n} nodes and passed on none.", n=nodes)]
    earlier = passing(around.other_image)
    if earlier:
        because.append(sentence("Another image of this suite passed: {where}.", where=_places(earlier)))
    elif points_to(run.code) == "driver or runtime":
        return _driver(run, because)
    return _image(because)


def _node(run: Failure, around: Around) -> Suspect | None:
    """All cards of the node fail, other nodes pass."""
    if passing(around.beside) or not failing(around.beside) or not passing(around.elsewhere):
        return None
    failed, passed = len(failing(around.beside)), passing(around.elsewhere)
    beside = (
        sentence("1 other card of this node failed too.")
        if failed == 1
        else sentence("{n} other cards of this node failed too.", n=failed)
    )
    return _driver(run, [beside, _elsewhere(passed)])


def _odd_one(run: Failure, around: Around) -> Suspect | None:
    """Its neighbours pass."""
    good, bad = passing(around.beside), failing(around.beside)
    if not run.card or len(good) <= len(bad):
        return None
    return _card(run, [*_neighbours(around), *([_by_reason(run)] if points_to(run.code) == "card" else [])])


def _passed_with_another(run: Failure, around: Around) -> Suspect | None:
    """This card passed since with another image."""
    since = [one for one in around.other_image if is_own(run, one) and one.passed and one.later]
    if not run.card or not since:
        return None
    return _image([sentence("The same card passed later with another image.")])


def _other_driver(run: Failure, around: Around) -> Suspect | None:
    """It passes with another driver, and nowhere with this one."""
    passed = passing(around.other_driver)
    if not passed or passing((*around.own, *around.beside, *around.elsewhere)) or points_to(run.code) == "card":
        return None
    drivers = ", ".join(sorted({one.driver for one in passed})[:3])
    because = sentence(
        "The same image passed with driver {drivers}. This run had driver {driver}.", drivers=drivers, driver=run.driver
    )
    return _driver(run, [because])


def _by_code(run: Failure, around: Around) -> Suspect:
    """What the reason itself points to, and what would decide."""
    passed = passing(around.elsewhere)
    beside = [_elsewhere(passed)] if passed else []
    if points_to(run.code) == "card":
        return _card(run, [_by_reason(run), *beside])
    if points_to(run.code) == "driver or runtime":
        return _driver(run, [_by_reason(run), *beside])
    if points_to(run.code) == "image":
        return _image([_by_reason(run), *beside])
    tried = (*around.beside, *around.elsewhere)
    if passed:
        return Suspect(
            what="unknown",
            because=tuple(beside),
            try_=sentence("A run on another card of this node decides between the card and the driver."),
            tests=("other-card", "rerun"),
        )
    if tried:
        good, bad = len(passing(tried)), len(failing(tried))
        because = [
            sentence("Results on other cards differ: {passed} passed, {failed} failed.", passed=good, failed=bad)
        ]
    else:
        because = [sentence("No comparable run on another card.")]
    return Suspect(
        what="unknown",
        because=tuple(because),
        try_=sentence("A run of the same suite on another card or node decides."),
        tests=("other-card", "other-node", "rerun"),
    )


def _card(run: Failure, because: Sequence[str]) -> Suspect:
    if run.diagnostic:
        try_ = sentence("Confirm with a long diagnostic. Replace the card if it fails.")
        return Suspect(what="card", because=tuple(because), try_=try_, tests=("diagnostic", "rerun"))
    try_ = sentence("Rerun on this card. Replace it if the failure recurs and other cards pass.")
    return Suspect(what="card", because=tuple(because), try_=try_, tests=("rerun", "other-card"))


def _driver(run: Failure, because: Sequence[str]) -> Suspect:
    try_ = sentence("Check driver, device plugin and container runtime of node {node}.", node=run.node)
    return Suspect(what="driver or runtime", because=tuple(because), try_=try_, tests=("other-card", "other-node"))


def _image(because: Sequence[str]) -> Suspect:
    try_ = sentence("Run with another image, or with one that is built for this card and driver.")
    return Suspect(what="image", because=tuple(because), try_=try_, tests=("other-node",))


def _by_reason(run: Failure) -> str:
    return {
        "card": sentence("The reason `{code}` points to the card.", code=run.code),
        "driver or runtime": sentence("The reason `{code}` points to the driver or runtime.", code=run.code),
        "image": sentence("The reason `{code}` points to the image.", code=run.code),
    }[points_to(run.code)]


def _neighbours(around: Around) -> list[str]:
    passed = len(passing(around.beside))
    if not passed:
        return []
    if passed == 1:
        return [sentence("1 other card of this node passed the same image.")]
    return [sentence("{n} other cards of this node passed the same image.", n=passed)]


def _elsewhere(passed: list[Other]) -> str:
    return sentence("Cards of the same model passed the same image elsewhere: {where}.", where=_places(passed))


def _places(rows: list[Other]) -> str:
    """Names of up to three nodes, and how many there are besides."""
    names = sorted({one.node for one in rows})
    shown = ", ".join(names[:3])
    return sentence("{names} and {n} more", names=shown, n=len(names) - 3) if len(names) > 3 else shown


_RULES: tuple[Callable[[Failure, Around], Suspect | None], ...] = (
    _scheduling,
    _configuration,
    _not_asked,
    _not_started,
    _health,
    _recurs_not,
    _everywhere,
    _node,
    _odd_one,
    _passed_with_another,
    _other_driver,
    _by_code,
)
