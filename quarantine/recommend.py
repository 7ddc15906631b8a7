"""From confirmed failures to recommendations, and back where a pass took a failure back before anybody decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError
from django.db.models import Exists, Max, OuterRef, Q

from audit.actions import Action
from audit.acts import act
from inventory.models import Node
from quarantine import moves
from quarantine.failures import Failure, Place, level_of
from quarantine.models import OPEN, Case, CaseState, ReturnReason
from validations.models import LastResult, VerdictChoice
from validations.suites import find, reasons
from wording.said import Said, cut, known, quote, sentence, stored


def recommend(failures: Iterable[Failure], at: datetime) -> list[Case]:
    """The new recommendations. One open case a card; none for a failure that a person has decided about already."""
    found = list(failures)
    nodes = {one.place[1] for one in found}
    rows = Case.objects.filter(node_name__in=nodes, state__in=OPEN).select_related("cluster")
    taken = {(case.cluster_id, case.node_name, case.card_key): case for case in rows}
    decided = decisions(nodes)
    made = []
    for failure in found:
        place, ended = failure.place, failure.run.ended_at
        if place in taken:
            _confirm(taken[place], failure)
        elif (
            ended is not None
            and (place not in decided or ended > decided[place])
            and (case := _new(failure, at)) is not None
        ):
            taken[place] = case
            made.append(case)
    return made


def decisions(nodes: Iterable[str]) -> Mapping[Place, datetime]:
    """When a person last decided about a card: a recommendation was declined, the card was returned, or its mark removed."""
    by_person = Q(return_reason__in=(ReturnReason.PERSON, ReturnReason.BY_HAND)) | Q(state=CaseState.DECLINED)
    rows = Case.objects.filter(by_person, node_name__in=list(nodes)).exclude(state__in=OPEN).order_by()
    grouped = rows.values_list("cluster_id", "node_name", "card_key").annotate(
        declined=Max("declined_at"), returned=Max("returned_at")
    )
    return {
        (cluster, node, card): max(filter(None, (declined, returned)))
        for cluster, node, card, declined, returned in grouped
        if declined or returned
    }


def withdraw(at: datetime) -> int:
    """Recommendations whose failure is taken back, or whose node is gone. Returns how many."""
    number = 0
    place = {name: OuterRef(name) for name in ("cluster_id", "node_name", "card_key", "suite")}
    stands = Exists(LastResult.objects.filter(**place, said_verdict=VerdictChoice.FAILED))
    there = Exists(Node.objects.filter(cluster_id=OuterRef("cluster_id"), name=OuterRef("node_name")))
    rows = Case.objects.filter(state=CaseState.RECOMMENDED).annotate(there=there)
    for case in rows.filter(~stands | Q(there=False)).select_related("cluster"):
        reason = ReturnReason.PASSED if case.there else ReturnReason.NODE_REMOVED
        with act(Action.CASE_WITHDRAW, moves.target(case), id=case.pk, reason=reason.value) as done:
            more = {"return_reason": reason.value}
            if moves.move(case, CaseState.RECOMMENDED, at, state=CaseState.WITHDRAWN, **more):
                number += 1
            else:
                done.nothing()
    return number


def _confirm(case: Case, failure: Failure) -> None:
    """A policy confirmed what was recommended without one: from now on the policy may decide."""
    if failure.policy is None or case.state != CaseState.RECOMMENDED or case.policy_id is not None:
        return
    columns = _columns(failure)
    with act(
        Action.CASE_RECOMMEND, moves.target(case), id=case.pk, run=failure.run.pk, reason=_reason(failure)
    ) as done:
        waiting = Case.objects.filter(pk=case.pk, state=CaseState.RECOMMENDED, policy=None)
        if not waiting.update(**columns):
            done.nothing()


def _columns(failure: Failure) -> dict[str, Any]:
    """Those of a case that say why it is recommended."""
    why = _reason(failure)
    return {
        "run": failure.run,
        "suite": failure.run.suite,
        "level": level_of(failure.run),
        "policy": failure.policy,
        "reason": cut(why, 1000),
        "reason_wording": stored(why),
    }


def _new(failure: Failure, at: datetime) -> Case | None:
    """None where another process was first."""
    cluster_id, node, card = failure.place
    case = Case(
        cluster_id=cluster_id,
        node_name=node,
        card_key=card,
        card_uuid=failure.uuid or failure.run.card_uuid,
        state_since=at,
        created_at=at,
        **_columns(failure),
    )
    case.cluster = failure.run.cluster
    try:
        with act(Action.CASE_RECOMMEND, moves.target(case), id=case.pk, run=failure.run.pk, reason=_reason(failure)):
            case.save(force_insert=True)
    except IntegrityError:
        return None
    return case


def _reason(failure: Failure) -> Said:
    """Its log is not quoted: more people see cases than runs."""
    run = failure.run
    if failure.policy is not None:
        return sentence(
            "{suite} failed {times} times on this card ({reason}), confirmed by the policy {policy}.",
            suite=_title(run.suite),
            times=failure.times,
            reason=_headline(run.reason_code),
            policy=failure.policy.name,
        )
    return sentence(
        "{suite} failed {times} times on this card ({reason}), with no pass in between.",
        suite=_title(run.suite),
        times=failure.times,
        reason=_headline(run.reason_code),
    )


def _title(suite_id: str) -> Said:
    """The title of a suite; its id where this version has no such suite."""
    suite = find(suite_id)
    return known(suite.title) if suite is not None else quote(suite_id)


def _headline(code: str) -> Said:
    """A reason code in words; the code itself where an older version wrote it."""
    words = reasons().get(code)
    return known(words.headline) if words is not None else quote(code or "failed")
