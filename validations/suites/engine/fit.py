"""Why a suite cannot run on a target: said before a launch, in words that say what to do."""

from __future__ import annotations

from kube.objects import Taint
from validations.suites.engine.declaration import Declaration
from validations.suites.engine.needs import Needs, cuda_of, unchecked, unmet
from validations.suites.engine.options import Values
from validations.suites.engine.placement import binds, candidates, family_of, units
from validations.suites.engine.target import Target
from validations.suites.engine.verdict import Reason
from wording.said import sentence, series

#: Taints of a node that cannot do work now; a run that tolerated them would only wait or be thrown off.
BROKEN = {
    "node.kubernetes.io/not-ready": sentence("is not ready"),
    "node.kubernetes.io/unreachable": sentence("is unreachable"),
    "node.kubernetes.io/memory-pressure": sentence("is short of memory"),
    "node.kubernetes.io/disk-pressure": sentence("is short of disk space"),
    "node.kubernetes.io/pid-pressure": sentence("is short of process IDs"),
    "node.kubernetes.io/network-unavailable": sentence("has no network"),
    "node.kubernetes.io/out-of-service": sentence("is out of service"),
    "node.cloudprovider.kubernetes.io/uninitialized": sentence("is not initialized yet"),
    "ToBeDeletedByClusterAutoscaler": sentence("is about to be deleted by the autoscaler"),
}


def why_not(suite: Declaration, target: Target, values: Values) -> list[Reason]:
    """All reasons at once; empty when the suite can run."""
    return [
        *_node(suite, target),
        *_resource(suite, target, values),
        *_needs(suite, target, values),
        *_runtime(target, values),
    ]


def _node(suite: Declaration, target: Target) -> list[Reason]:
    reasons = []
    if target.os not in suite.os:
        runs = series(suite.os, " and ")
        reasons.append(
            Reason(
                "wrong-os",
                sentence(
                    "The suite runs on {runs}, node {node} runs {os}.",
                    runs=runs,
                    node=target.node,
                    os=target.os or sentence("an unknown operating system"),
                ),
            )
        )
    if target.ready is False:
        reasons.append(Reason("not-ready", sentence("Node {node} is not ready.", node=target.node)))
    for taint in target.taints:
        if taint.key in BROKEN and taint.effect in ("NoSchedule", "NoExecute"):
            reasons.append(
                Reason(
                    "not-ready",
                    sentence(
                        "Node {node} {broken} (taint {key}).", node=target.node, broken=BROKEN[taint.key], key=taint.key
                    ),
                )
            )
        elif not harmless(taint) and not tolerable(taint, target):
            text = sentence(
                "Node {node} has the taint {taint}, which runs do not tolerate (GPUDASH_TOLERATED_TAINTS).",
                node=target.node,
                taint=_written(taint),
            )
            reasons.append(Reason("taint", text))
    return reasons


def harmless(taint: Taint) -> bool:
    """PreferNoSchedule keeps no pod away, and needs no toleration."""
    return taint.effect not in ("NoSchedule", "NoExecute")


def tolerable(taint: Taint, target: Target) -> bool:
    """Whether a run on the target may tolerate it. Nodes with an extended resource are tainted by its name, as Kubernetes has it."""
    if taint.key in BROKEN:
        return False
    if taint.key in target.tolerated or any(taint.key == one.name for one in target.resources):
        return True
    return f"{taint.key}={taint.value or ''}".lower() in {one.lower() for one in target.tolerated}


def _written(taint: Taint) -> str:
    return f"{taint.key}{'=' if taint.value else ''}{taint.value or ''}:{taint.effect}"


def _resource(suite: Declaration, target: Target, values: Values) -> list[Reason]:
    found = candidates(suite.families, target, str(values.get("resource", "")))
    if not found:
        named = [
            resource.name
            for resource in target.resources
            if family_of(resource.name, target) and resource.allocatable != 0
        ]
        has = (
            sentence("it has {names}", names=", ".join(named))
            if named
            else sentence("it has none that suites can request")
        )
        return [
            Reason(
                "no-resource",
                sentence("Node {node} has no resource that this suite can use: {has}.", node=target.node, has=has),
            )
        ]
    choice, resource = found[0], found[0].resource
    if lacking := choice.family.lacking(target):
        return [Reason("no-driver-path", lacking)]
    cards = _cards(suite, values)
    if cards > 1 and target.whole_cards is not None and target.whole_cards < cards:
        return [Reason("shared-cards", _shared(target, resource.name, cards))]
    needed = units(choice, values, cards)
    if needed is None:
        return [
            Reason(
                "unit-unknown",
                sentence("The memory unit of {name} on node {node} is unknown.", name=resource.name, node=target.node),
            )
        ]
    reasons = []
    for name, there in ((sentence("allocatable"), resource.allocatable), (sentence("free"), resource.free)):
        if there is not None and there < needed:
            reasons.append(
                Reason(
                    "no-free",
                    sentence(
                        "{needed} {resource} required, {there} {what}.",
                        needed=needed,
                        resource=resource.name,
                        there=there,
                        what=name,
                    ),
                )
            )
            break
    if not reasons and binds(choice, target, cards) and (target.card_free or 0) < needed:
        text = sentence(
            "Card {card_key} has {card_free} of {needed} required {name} free.",
            needed=needed,
            name=resource.name,
            card_key=target.card_key,
            card_free=target.card_free,
        )
        reasons.append(Reason("no-free", text))
    return reasons


def _shared(target: Target, resource: str, cards: int) -> str:
    """Two units of a resource that is shared may be one card: nobody can ask the scheduler for two cards then."""
    whole = (
        sentence("no card")
        if not target.whole_cards
        else sentence("{whole_cards} of its cards", whole_cards=target.whole_cards)
    )
    return sentence(
        "The suite needs {cards} whole cards. Node {node} allocates {whole} as a whole card: {resource} may be "
        "shares of one card.",
        cards=cards,
        node=target.node,
        whole=whole,
        resource=resource,
    )


def _cards(suite: Declaration, values: Values) -> int:
    return int(values.get("cards", suite.cards))


def _needs(suite: Declaration, target: Target, values: Values) -> list[Reason]:
    """What the node is known not to have."""
    return [
        Reason(one.code, one.text) for needs in _needed(suite, target, values) for one in unmet(needs, target.facts)
    ]


def not_checked(suite: Declaration, target: Target, values: Values) -> list[Reason]:
    """What the run needs and nobody knows of the node."""
    found = (one for needs in _needed(suite, target, values) for one in unchecked(needs, target.facts))
    return [Reason(one.code, one.text) for one in found]


def _needed(suite: Declaration, target: Target, values: Values) -> list[Needs]:
    """What the image needs, and what the devices do; nothing where no resource of the node suits."""
    found = candidates(suite.families, target, str(values.get("resource", "")))
    return [_of_image(suite, target, values), found[0].family.needs] if found and target.os in suite.needs else []


def _of_image(suite: Declaration, target: Target, values: Values) -> Needs:
    """The suite says what its own image needs. Of another one its tag may say the CUDA, whose table is that of Linux."""
    given = suite.workload(target, values).image
    own = next(option.default for option in suite.options if option.name == "image")
    if given == suite.workload(target, values | {"image": own}).image:
        return suite.needs[target.os]
    return Needs(cuda=cuda_of(given)) if target.os == "linux" else Needs()


def _runtime(target: Target, values: Values) -> list[Reason]:
    wanted = str(values.get("runtime_class", "auto"))
    if wanted in ("auto", "none") or wanted in target.runtime_classes:
        return []
    return [Reason("no-runtime-class", sentence("The cluster has no RuntimeClass {wanted}.", wanted=wanted))]
