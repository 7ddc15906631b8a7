"""What would run: a run request becomes a plan, with its manifest and every reason why it cannot run. Nothing is written here."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec
from django.conf import settings

from inventory.models import Card
from runtime.clock import database_now
from validations import groups
from validations.allowed_images import allowed_images, denied
from validations.ids import new_id
from validations.installation import instance_name
from validations.jobs import build, sure_card
from validations.maker import maker
from validations.models import Run
from validations.permitted import forbidden
from validations.software import CODE, Cause, cause_of
from validations.suites import find, registry
from validations.suites.engine.base import OptionError, Reason, Suite
from validations.suites.engine.reasons import PASSING
from validations.targets import NO_PLACE, NoPlace, Place, find_place
from wording.said import cut, restored, sentence, series, stored


class RunDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A run to launch. card: key, UUID or index. queue_if_full: queue the run if the node is full or not ready.

    nodes: of a suite for several nodes, instead of node and card; or so many idle nodes (node_count) of a pool.
    """

    suite: str
    node: str = ""
    cluster: str = ""
    card: str = ""
    options: dict[str, Any] = {}
    queue_if_full: bool = False
    nodes: list[str] = []
    pool: str = ""
    node_count: int = 0


class Refused(Exception):
    """The run request makes no sense, or is not allowed. problems: field → what is wrong with it. codes: of its reasons."""

    def __init__(self, problems: dict[str, list[str]], codes: Iterable[str] = ()) -> None:
        super().__init__("; ".join(f"{field}: {' '.join(texts)}" for field, texts in problems.items()))
        self.problems, self.codes = problems, frozenset(codes)

    @property
    def words(self) -> str:
        """What is wrong without the names of fields, for who has filled in none."""
        return series(text for texts in self.problems.values() for text in texts)


class Caution(Reason, frozen=True, kw_only=True):
    """What to know before a launch that is possible all the same.

    component: whose state it is, remedy: what to do about it; "" where there is none.
    """

    component: str = ""
    remedy: str = ""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A run request that names things that exist. manifest: {} when none can be made. reasons: why it cannot run now.

    warnings: what to know before a launch that is possible all the same; cause: of these, what the software of the node lacks.
    unchecked: what it needs and nobody knows of the node.
    card: the card that the run will take, None for "any card of this node". Which one it took is read from its pod.
    """

    run_id: str
    suite: Suite
    place: Place
    options: dict[str, Any]
    manifest: dict[str, Any]
    reasons: list[Reason]
    card: Card | None
    warnings: list[Caution] = []
    cause: Cause | None = None
    unchecked: list[Reason] = []
    #: The nodes of a group, of which `place` is the first; () for a run on one node.
    group: tuple[Place, ...] = ()

    def hindrances(self, queue_if_full: bool) -> list[Reason]:
        """The reasons that forbid a launch."""
        return [one for one in self.reasons if not self.manifest or not (queue_if_full and one.code in PASSING)]


def find_suite(suite_id: str) -> Suite:
    """Raises Refused."""
    suite = find(suite_id)
    if suite is None:
        raise Refused({"suite": [f"There is no suite {suite_id[:64]!r}; there are: {', '.join(registry())}."]})
    return suite


def plan(draft: RunDraft, at: datetime | None = None) -> Plan:
    """at: when it was asked for; None: now.

    Raises Refused when the run request names something that does not exist, or options that make no sense or are not allowed.
    """
    suite = find_suite(draft.suite)
    try:
        group = _group(suite, draft)
        place = group[0] if group else find_place(draft.cluster, draft.node, draft.card)
        options = dict(suite.settle(draft.options))
    except NoPlace as error:
        raise Refused({error.field: [str(error)]}, [NO_PLACE]) from None
    except OptionError as error:
        raise Refused({f"options.{name}": [text] for name, text in error.problems.items()}) from None
    run_id = new_id(at)
    manifest, reasons = _manifest(suite, place, group, options, run_id, at)
    if problems := denied(suite, options, manifest):
        raise Refused({f"options.{one.option}": [one.text] for one in problems}, [one.code for one in problems])
    cause = cause_of(place.cluster.pk, place.node.name)
    return Plan(
        run_id=run_id,
        suite=suite,
        place=place,
        options=options,
        manifest=manifest,
        reasons=reasons,
        card=sure_card(suite, place, options),
        warnings=[*_warnings(place, cause), *_of_group(group)],
        cause=cause,
        group=group,
        unchecked=suite.not_checked(place.target, options),
    )


def _group(suite: Suite, draft: RunDraft) -> tuple[Place, ...]:
    """The places of a group, () for a suite of one node. Raises NoPlace, or Refused for places of the other kind."""
    if suite.nodes == 1:
        if draft.nodes or draft.pool or draft.node_count:
            raise Refused({"nodes": [sentence("Suite {suite} runs on one node: name it in node.", suite=suite.id)]})
        return ()
    if draft.node or draft.card:
        raise Refused({"node": [sentence("Suite {suite} runs on several nodes: name them in nodes.", suite=suite.id)]})
    if draft.nodes and draft.pool:
        raise Refused({"pool": [sentence("Name either nodes or a pool.")]})
    names = draft.nodes
    if draft.pool:
        names = groups.idle(suite, draft.cluster, draft.pool, min(max(draft.node_count, suite.nodes), groups.MOST))
    return groups.find_places(suite, draft.cluster, names)


def _of_group(group: tuple[Place, ...]) -> list[Caution]:
    passed = groups.passed_alone(group) if group else {}
    names = [place.node.name for place in group if place.node.name not in passed]
    cordoned = [_cordoned(place.node.name) for place in group[1:] if place.node.unschedulable]
    return [*cordoned, *([_without_pass(names)] if names else [])]


def _without_pass(names: list[str]) -> Caution:
    told = groups.not_alone(names)
    return Caution("no-pass-alone", told.text)


def _warnings(place: Place, cause: Cause | None) -> list[Caution]:
    found = [_cordoned(place.node.name)] if place.node.unschedulable else []
    if cause is not None:
        text = cause.lasting(database_now())
        found.append(Caution(CODE, text, component=cause.component, remedy=cause.remedy))
    return found


def kept(cause: Cause | None) -> dict[str, Any]:
    """What a run's snapshot keeps of the cause that its node had when the run was asked for."""
    if cause is None:
        return {}
    text = cause.dated()
    return {"software": {"component": cause.component, "text": cut(text, 4000), "wording": stored(text)}}


def cautions(run: Run) -> list[Caution]:
    """What was to be known when the run was launched."""
    names = groups.without_pass(run.nodes.all()) if not run.node_name else []
    found = [_without_pass(names)] if names else []
    found += [_cordoned(run.node_name)] if run.node_snapshot.get("cordoned") == "yes" else []
    software = run.node_snapshot.get("software")
    if isinstance(software, dict):
        text = restored(str(software.get("text", "")), software.get("wording"))
        found.append(Caution(CODE, text, component=str(software.get("component", ""))))
    return found


def _cordoned(node: str) -> Caution:
    text = sentence(
        "Node {node} is cordoned. The run tolerates this and occupies one of its cards.",
        node=node,
    )
    return Caution("cordoned", text)


def _manifest(
    suite: Suite, place: Place, group: tuple[Place, ...], options: dict[str, Any], run_id: str, at: datetime | None
) -> tuple[dict[str, Any], list[Reason]]:
    refused = forbidden(place.cluster)
    unfit = groups.why_not(suite, group, options) if group else suite.fit(place.target, options)
    reasons = [*([refused] if refused else []), *unfit]
    namespace = settings.VALIDATION_NAMESPACE
    try:
        made = build(
            suite,
            place,
            options,
            run_id,
            at or database_now(),
            namespace=namespace,
            instance=instance_name(),
            maker=maker(),
            images=allowed_images(),
            hosts=groups.hostnames(group),
        )
    except ValueError as error:
        return {}, reasons or [Reason("no-resource", str(error))]
    return made, reasons
