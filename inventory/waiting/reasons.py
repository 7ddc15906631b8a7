"""What reasons of the scheduler mean, and what to do. What sharing systems' own schedulers say is declared by them.

Source: Kubernetes 1.28 to 1.36, pkg/scheduler/framework/plugins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from django.utils.translation import gettext as translated
from django.utils.translation import gettext_noop as _

from inventory.stacks import STACKS
from kube.unschedulable import Reason

#: A reason is a line or two; a longer one is compared with nothing, and shown as it is.
_LONGEST = 600
_WAIT = _("Wait until holders end, or ask for less.")
_VOLUMES = _("Look at kubectl describe pvc of the pod's volumes.")

#: (pattern of the whole reason, what it means, what to do). The first that fits counts.
_KNOWN: tuple[tuple[str, str, str], ...] = (
    (
        r"node\(s\) didn't match Pod's node affinity/selector",
        _("The pod's node selector or node affinity does not admit these nodes."),
        _("Compare nodeSelector and affinity of the pod with the labels of the nodes that you mean."),
    ),
    (
        r"node\(s\) had (?:untolerated )?taint \{node\.kubernetes\.io/(?P<taint>unreachable|not-ready): .*",
        _("These nodes are not ready (%(taint)s)."),
        _("Look at the nodes: the pod goes there when they are back."),
    ),
    (
        r"node\(s\) had (?:untolerated )?taint \{node\.kubernetes\.io/unschedulable: .*",
        _("These nodes are cordoned."),
        _("Nobody schedules there until an administrator uncordons them."),
    ),
    (
        r"node\(s\) had (?:untolerated )?taint \{(?P<taint>.{0,400}?):? ?\}(?:, that the pod didn't tolerate)?",
        _("These nodes have the taint %(taint)s, which the pod does not tolerate."),
        _("If the pod may run there, give it a toleration of this taint."),
    ),
    (
        r"node\(s\) had (?:untolerated taint\(s\)|taints that the pod didn't tolerate)",
        _("These nodes have a taint that the pod does not tolerate."),
        _("Look at the taints of the nodes that you mean. If the pod may run there, give it a toleration."),
    ),
    (
        r"node\(s\) were unschedulable",
        _("These nodes are cordoned."),
        _("Nobody schedules there until an administrator uncordons them."),
    ),
    (
        r"Insufficient (?P<resource>cpu|memory|ephemeral-storage)",
        _("These nodes have too little %(resource)s left for the pod, whatever cards are free."),
        _("Ask for less of it: the pod's containers ask for it beside the cards."),
    ),
    (
        r"Insufficient (?P<resource>[\w.-]{1,253}/[\w.-]{1,253})",
        _("These nodes have too little %(resource)s free, or none at all."),
        _WAIT,
    ),
    (
        r"Too many pods",
        _("These nodes run as many pods as they may."),
        _("Wait until pods end; an administrator can raise the limit of the kubelet (maxPods)."),
    ),
    (
        r"cannot allocate all claims",
        _("These nodes have no free devices that fulfil all claims of the pod."),
        _("Compare what the claims ask for with the cards that are free; selectors of a claim may admit none."),
    ),
    (
        r"(?:resourceclaim in use|resourceclaim not available on the node)",
        _("A claim of the pod has its devices already, elsewhere or for others."),
        _("Look at the claims below: the pod can run only where their devices are."),
    ),
    (
        r"request (?P<request>\S{1,253}): device class (?P<device_class>\S{1,253}) does not exist",
        _("The claim's request %(request)s names the device class %(device_class)s, which does not exist."),
        _("Look at kubectl get deviceclasses, and correct the claim or its template."),
    ),
    (
        r"node\(s\) had volume node affinity conflict|node\(s\) didn't match PersistentVolume's node affinity",
        _("A volume of the pod is bound to other nodes or zones than these."),
        _VOLUMES,
    ),
    (
        r"node\(s\) had no available volume zone",
        _("A volume of the pod is in another zone than these nodes."),
        _VOLUMES,
    ),
    (
        r"node\(s\) (?:didn't find available persistent volumes to bind|did not have enough free storage)",
        _("Here is no volume that a claim of the pod for storage could be bound to."),
        _VOLUMES,
    ),
    (
        r"pod has unbound immediate PersistentVolumeClaims.*",
        _("A claim of the pod for storage is not bound to a volume yet."),
        _VOLUMES,
    ),
    (
        r'persistentvolumeclaim "(?P<claim>[^"]{1,253})" (?:not found|is being deleted|bound to non-existent .*)',
        _("The pod's claim for storage %(claim)s does not exist, or is being deleted."),
        _VOLUMES,
    ),
    (
        r"node\(s\) exceed max volume count",
        _("These nodes have as many volumes attached as they may."),
        _("Choose other nodes, or use fewer volumes."),
    ),
    (
        r"node\(s\) (?:had no available disk|unavailable due to (?:PersistentVolumeClaim|one or more pvc).*)",
        _("A volume of the pod is in use elsewhere, or does not exist any more."),
        _VOLUMES,
    ),
    (
        r"node\(s\) didn't match pod topology spread constraints \(missing required label\)",
        _("The pod is to be spread over a label that these nodes do not have."),
        _("Correct topologyKey in the pod's topologySpreadConstraints, or label the nodes."),
    ),
    (
        r"node\(s\) didn't match pod topology spread constraints",
        _("With the pod here, its pods would be spread too unevenly."),
        _("Look at maxSkew in the pod's topologySpreadConstraints, or make room in the other domains."),
    ),
    (
        r"node\(s\) didn't (?:match pod (?:affinity|anti-affinity) rules|satisfy existing pods anti-affinity rules)",
        _("Rules about which pods run beside each other keep it from these nodes."),
        _("Look at podAffinity and podAntiAffinity of this pod and of those that run there."),
    ),
    (
        r"node\(s\) didn't have free ports for the requested pod ports",
        _("A port of the host that the pod wants is taken on these nodes."),
        _("Use hostPort only where it must be; another pod with the same port runs there."),
    ),
    (
        r"node\(s\) didn't match the requested node name",
        _("The pod names one node, and these are others."),
        _("Look whether the node that it names exists and is ready."),
    ),
    (
        r"node\(s\) didn't satisfy plugin\(s\) \[(?P<plugins>[\w ]{1,300})\]",
        _("The scheduler left these nodes out without asking them: %(plugins)s."),
        _("Look at the selector, the affinity and the volumes of the pod."),
    ),
    (
        r"waiting for (?:minCount pods from a gang|pods's pod group .*) to appear in scheduling queue",
        _("The pod is scheduled together with others of its group, which are not there yet."),
        _("Look whether all pods of the group were created."),
    ),
    (
        r"(?:waiting for scheduling gates: .*|Scheduling is blocked due to non-empty scheduling gates)",
        _("The pod has scheduling gates: nobody schedules it until they are taken away."),
        _("Look which controller sets and removes them (a queue, a quota): spec.schedulingGates of the pod."),
    ),
    (
        r"no nodes available to schedule pods",
        _("The scheduler sees no node at all."),
        _("Look whether the nodes of the cluster are registered."),
    ),
    (
        r"No preemption victims found for incoming pod|no candidate node for preemption",
        _("No pods of lower priority could be removed to make room."),
        "",
    ),
    (
        r"Preemption is not helpful for scheduling",
        _("Removing pods would not help here: nothing that they hold is what is missing."),
        "",
    ),
    (
        r"not eligible due to preemptionPolicy=Never",
        _("The pod's priority class forbids that it removes others."),
        "",
    ),
    (
        r"not eligible due to a terminating pod on the nominated node",
        _("Others are being removed for it already: it waits until they are gone."),
        "",
    ),
)


class Meaning(NamedTuple):
    """says, action: translated, "" where nothing is known. same: what reasons that mean the same have in common."""

    says: str
    action: str
    same: str


class Line(NamedTuple):
    """Reasons that mean the same. nodes: their sum; None where no node was asked. texts: as the scheduler wrote them."""

    nodes: int | None
    meaning: Meaning
    texts: list[str]


@cache
def _patterns() -> list[tuple[re.Pattern[str], str, str]]:
    of_systems = [one for stack in STACKS for one in stack.refusals]
    return [(re.compile(pattern, re.DOTALL), says, action) for pattern, says, action in (*_KNOWN, *of_systems)]


def meaning_of(text: str) -> Meaning:
    """What a reason means; nothing for one that nobody knows."""
    for pattern, says, action in _patterns() if len(text) <= _LONGEST else ():
        if match := pattern.fullmatch(text):
            told = _filled(says, match)
            return Meaning(told, translated(action) if action else "", told)
    return Meaning("", "", text)


def _filled(says: str, match: re.Match[str]) -> str:
    groups = match.groupdict()
    return translated(says) % groups if groups else translated(says)


def lines(reasons: Iterable[Reason]) -> list[Line]:
    """Reasons that mean the same as one line, those of most nodes first; what is said of the pod itself before them."""
    found: dict[str, Line] = {}
    for one in reasons:
        meaning = meaning_of(one.text)
        before = found.get(meaning.same)
        nodes = _sum(before.nodes if before else None, one.nodes)
        found[meaning.same] = Line(nodes, meaning, [*(before.texts if before else ()), one.text])
    return sorted(found.values(), key=lambda line: (line.nodes is not None, -(line.nodes or 0)))


def _sum(before: int | None, more: int | None) -> int | None:
    return more if before is None else before + (more or 0)
