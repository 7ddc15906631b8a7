"""Suspect cards and nodes, for programs: REST, and `gpudash suspects --json`. Never a verdict: a reason to validate."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from inventory.failures.gaps import GAP, LEAST_CARDS
from inventory.failures.look import HOURS
from inventory.failures.rule import CHANCE, MIN_NAMESPACES
from resources.declared import Shape, fact, filled
from validations.spread import DEVIATIONS
from validations.suspects import Suspect as Row
from validations.suspects import Suspects as Found

#: The rule, in English.
RULE = (
    f"Listed only with failed workloads of at least {MIN_NAMESPACES} namespaces, if so many would occur on any card of the "
    f"model by chance with a probability of at most {CHANCE:.0%}; with a measurement that is an outlier of its pool and model "
    f"({DEVIATIONS:g} robust deviations); or with an activity at least {GAP:.0%} away from the other cards of its job, of "
    f"{LEAST_CARDS} cards or more, in the last {HOURS} h."
)


class SuspectMeasurement(Shape):
    """A measurement of the last result of a suite, worse than those of the same model in its pool."""

    suite: str
    measurement: Annotated[str, fact(of="name")]
    unit: str
    value: float
    median: Annotated[float, fact("Of the other targets.")]
    targets: int
    deviations: Annotated[float | None, fact("Robust standard deviations from the median; null: all others are alike.")]
    run: str


class SuspectActivity(Shape):
    """The activity of the card beside that of the other cards of its job."""

    activity_ratio: Annotated[float, fact(of="activity")]
    others_ratio: Annotated[float, fact("Median.", of="others")]
    cards: Annotated[int, fact("Other cards.")]
    samples: Annotated[int, fact("One per 5 min.")]


class Suspect(Shape):
    """A card or node with evidence against it."""

    cluster: str
    node: str
    card: Annotated[str | None, fact("Key of the card; null: the whole node.")]
    card_id: int | None
    index: int | None
    model: str | None
    evidence: Annotated[list[str], fact("A sentence for each kind of evidence, in English.")]
    workloads: Annotated[
        int | None, fact("Workloads (owners of pods) that had a pod on it; null: not suspect by failed pods.")
    ]
    workloads_failed: int | None
    namespaces: Annotated[int | None, fact("Namespaces of the failed workloads.")]
    pods_failed: int | None
    pods_failed_of_model: Annotated[int | None, fact("Failed pods on all cards of the model in the cluster.")]
    chance: Annotated[float | None, fact("Probability that any card of the model has so many failures by chance.")]
    days: Annotated[int | None, fact("Days on which workloads failed on it.")]
    measurements: Annotated[list[SuspectMeasurement], fact("Outliers, the worst first.")]
    activity_difference: Annotated[SuspectActivity | None, fact("null: none.")]
    oom_killed: Annotated[int, fact("Failed pods that exceeded their host memory.")]
    exit_codes: Annotated[list[int], fact("The most frequent exit codes.")]
    findings: Annotated[list[str], fact("Codes of current findings on it.")]


class SuspectList(Shape):
    """Suspect cards and nodes: most kinds of evidence first, then the least likely by chance."""

    days: Annotated[int, fact("Days that the answer rests on, at most 14.")]
    pods_failed: int
    looked_at: Annotated[datetime | None, fact("When failures were counted, once per hour; null: not yet.")]
    rule: str
    suspects: list[Suspect]


def suspects_of(found: Found) -> SuspectList:
    return SuspectList(
        days=found.days,
        pods_failed=found.failures,
        looked_at=found.looked_at,
        rule=RULE,
        suspects=[_of(one) for one in found.rows],
    )


def _of(one: Row) -> Suspect:
    card, told = one.of.card, one.of.found
    return Suspect(
        cluster=one.of.cluster,
        node=one.of.node,
        card=card.key if card else None,
        card_id=card.pk if card else None,
        index=card.index if card else None,
        model=(card.model or None) if card else None,
        evidence=[str(text) for text in one.evidence],
        workloads=told and told.workloads,
        workloads_failed=told and told.failed,
        namespaces=told and told.namespaces,
        pods_failed=told and told.pods,
        pods_failed_of_model=told and told.of_pods,
        chance=told and told.chance,
        days=told and told.days,
        measurements=[filled(SuspectMeasurement, slow) for slow in one.slow],
        activity_difference=filled(SuspectActivity, one.of.gap) if one.of.gap else None,
        oom_killed=one.of.oom,
        exit_codes=list(one.of.exit_codes),
        findings=list(one.of.findings),
    )
