"""What reasons of the scheduler mean, and what to do. Stacks declare the reasons of their own schedulers.

Source: Kubernetes 1.28 to 1.36, pkg/scheduler/framework/plugins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

from kube.unschedulable import Reason
from stacks import STACKS
from wording.said import gettext_noop as _
from wording.said import known

#: A reason is a line or two; a longer one is compared with nothing, and shown as it is.
_LONGEST = 600
_WAIT = _("Wait until pods end, or request less.")
#: Filters of taints, selectors and cordons, which run first.
_EARLY = re.compile(
    r"node\(s\) (?:had (?:untolerated )?taint|didn't match Pod's node affinity|were unschedulable|didn't match the requested)"
)
_VOLUMES = _("Check kubectl describe pvc of the pod's volumes.")

#: (pattern of the whole reason, what it means, what to do). The first that fits counts.
_KNOWN: tuple[tuple[str, str, str], ...] = (
    (
        r"node\(s\) didn't match Pod's node affinity/selector",
        _("The pod's node selector or node affinity excludes these nodes."),
        _("Compare the pod's nodeSelector and affinity with the labels of the intended nodes."),
    ),
    (
        r"node\(s\) had (?:untolerated )?taint \{node\.kubernetes\.io/(?P<taint>unreachable|not-ready): .*",
        _("Not ready ({taint})."),
        _("Check the nodes. The pod can run there when they are ready."),
    ),
    (
        r"node\(s\) had (?:untolerated )?taint \{node\.kubernetes\.io/unschedulable: .*",
        _("Cordoned: unschedulable until uncordoned."),
        _("Uncordon the nodes when they are ready for use."),
    ),
    (
        r"node\(s\) had (?:untolerated )?taint \{(?P<taint>.{0,400}?):? ?\}(?:, that the pod didn't tolerate)?",
        _("Taint not tolerated: {taint}."),
        _("If the pod may run there, add a toleration for this taint."),
    ),
    (
        r"node\(s\) had (?:untolerated taint\(s\)|taints that the pod didn't tolerate)",
        _("Taint not tolerated."),
        _("Check the taints of the intended nodes. If the pod may run there, add a toleration."),
    ),
    (
        r"node\(s\) were unschedulable",
        _("Cordoned: unschedulable until uncordoned."),
        _("Uncordon the nodes when they are ready for use."),
    ),
    (
        r"Insufficient (?P<resource>cpu|memory|ephemeral-storage)",
        _("Insufficient {resource}."),
        _("Request less of it in the pod's containers, or free some on these nodes."),
    ),
    (
        r"Insufficient (?P<resource>[\w.-]{1,253}/[\w.-]{1,253})",
        _("Insufficient {resource}, or not offered."),
        _WAIT,
    ),
    (
        r"Too many pods",
        _("Pod limit of the nodes reached."),
        _("Wait until pods end, or raise the kubelet limit (maxPods)."),
    ),
    (
        r"cannot allocate all claims",
        _("No free devices match all claims of the pod."),
        _("Compare the claims' requests and selectors with the free cards."),
    ),
    (
        r"(?:resourceclaim in use|resourceclaim not available on the node)",
        _("A claim of the pod is already allocated on another node or reserved for other pods."),
        _("Check the claims below. The pod can run only where their devices are."),
    ),
    (
        r"request (?P<request>\S{1,253}): device class (?P<device_class>\S{1,253}) does not exist",
        _("Request {request} of the claim: device class {device_class} does not exist."),
        _("Run kubectl get deviceclasses, then correct the claim or its template."),
    ),
    (
        r"node\(s\) had volume node affinity conflict|node\(s\) didn't match PersistentVolume's node affinity",
        _("A volume of the pod is bound to other nodes or zones."),
        _VOLUMES,
    ),
    (
        r"node\(s\) had no available volume zone",
        _("A volume of the pod is in another zone."),
        _VOLUMES,
    ),
    (
        r"node\(s\) (?:didn't find available persistent volumes to bind|did not have enough free storage)",
        _("No available volume for a PersistentVolumeClaim of the pod."),
        _VOLUMES,
    ),
    (
        r"pod has unbound immediate PersistentVolumeClaims.*",
        _("A PersistentVolumeClaim of the pod is not bound yet."),
        _VOLUMES,
    ),
    (
        r'persistentvolumeclaim "(?P<claim>[^"]{1,253})" (?:not found|is being deleted|bound to non-existent .*)',
        _("PersistentVolumeClaim {claim} does not exist or is being deleted."),
        _VOLUMES,
    ),
    (
        r"node\(s\) exceed max volume count",
        _("Volume limit of the nodes reached."),
        _("Use other nodes or fewer volumes."),
    ),
    (
        r"node\(s\) (?:had no available disk|unavailable due to (?:PersistentVolumeClaim|one or more pvc).*)",
        _("A volume of the pod is in use on another node, or no longer exists."),
        _VOLUMES,
    ),
    (
        r"node\(s\) didn't match pod topology spread constraints \(missing required label\)",
        _("These nodes lack the label of a topology spread constraint."),
        _("Correct topologyKey in the pod's topologySpreadConstraints, or label the nodes."),
    ),
    (
        r"node\(s\) didn't match pod topology spread constraints",
        _("A topology spread constraint excludes these nodes."),
        _("Check maxSkew in the pod's topologySpreadConstraints, or free capacity in the other domains."),
    ),
    (
        r"node\(s\) didn't (?:match pod (?:affinity|anti-affinity) rules|satisfy existing pods anti-affinity rules)",
        _("Pod affinity or anti-affinity rules exclude these nodes."),
        _("Check podAffinity and podAntiAffinity of this pod and of the pods on these nodes."),
    ),
    (
        r"node\(s\) didn't have free ports for the requested pod ports",
        _("A host port that the pod requests is in use on these nodes."),
        _("Remove hostPort if it is not needed. Another pod with the same port runs there."),
    ),
    (
        r"node\(s\) didn't match the requested node name",
        _("The pod requests another node by name."),
        _("Check that the named node exists and is ready."),
    ),
    (
        r"node\(s\) didn't satisfy plugin\(s\) \[(?P<plugins>[\w ]{1,300})\]",
        _("Scheduler plugins excluded these nodes: {plugins}."),
        _("Check the pod's selector, affinity and volumes."),
    ),
    (
        r"waiting for (?:minCount pods from a gang|pods's pod group .*) to appear in scheduling queue",
        _("The pod is scheduled with its group, and pods of the group are missing."),
        _("Check that all pods of the group were created."),
    ),
    (
        r"(?:waiting for scheduling gates: .*|Scheduling is blocked due to non-empty scheduling gates)",
        _("Scheduling gates block the pod until they are removed."),
        _("Find the controller that sets them (queue or quota): spec.schedulingGates of the pod."),
    ),
    (
        r"no nodes available to schedule pods",
        _("The scheduler has no nodes."),
        _("Check that the cluster's nodes are registered."),
    ),
    (
        r"No preemption victims found for incoming pod|no candidate node for preemption",
        _("No pods of lower priority can be preempted."),
        "",
    ),
    (
        r"Preemption is not helpful for scheduling",
        _("Preemption would not help: the pods there do not have the missing resources."),
        "",
    ),
    (
        r"not eligible due to preemptionPolicy=Never",
        _("The pod's priority class does not allow preemption."),
        "",
    ),
    (
        r"not eligible due to a terminating pod on the nominated node",
        _("Preemption is in progress. The pod is pending until the other pods are deleted."),
        "",
    ),
)


class Meaning(NamedTuple):
    """says, action: sentences, "" where nothing is known. same: what reasons that mean the same have in common.

    early: a filter that looks at nodes before their resources are counted; such nodes may not be those that were meant.
    """

    says: str
    action: str
    same: str
    early: bool = False


class Line(NamedTuple):
    """Reasons that mean the same. nodes: their sum; None where no node was asked. texts: as the scheduler wrote them."""

    nodes: int | None
    meaning: Meaning
    texts: list[str]


@cache
def _patterns() -> list[tuple[re.Pattern[str], str, str]]:
    of_systems = [one for stack in STACKS for one in stack.refusals]
    return [(re.compile(pattern, re.DOTALL), says, action) for pattern, says, action in (*_KNOWN, *of_systems)]


@lru_cache(maxsize=2048)
def meaning_of(text: str) -> Meaning:
    """What a reason means; nothing for an unknown one. Many pods of a list have the same."""
    for pattern, says, action in _patterns() if len(text) <= _LONGEST else ():
        if match := pattern.fullmatch(text):
            told = _filled(says, match)
            return Meaning(told, known(action) if action else "", told, _EARLY.match(text) is not None)
    return Meaning("", "", text)


def _filled(says: str, match: re.Match[str]) -> str:
    return known(says, **match.groupdict()) if says else ""


def lines(reasons: Iterable[Reason]) -> list[Line]:
    """Reasons that mean the same as one line, those of most nodes first; what is said of the pod itself before them."""
    found: dict[str, Line] = {}
    for one in reasons:
        meaning = meaning_of(one.text)
        before = found.get(meaning.same)
        nodes = _sum(before.nodes if before else None, one.nodes)
        found[meaning.same] = Line(nodes, meaning, [*(before.texts if before else ()), one.text])
    return sorted(found.values(), key=lambda line: (line.nodes is not None, -(line.nodes or 0)))


def decisive(found: Iterable[Line]) -> Line | None:
    """The line that tells most: what is said of the pod itself, then of nodes that were not filtered before their resources were
    counted, then of most nodes. found: as `lines` gives it. None where nothing is said."""
    return min(found, key=lambda line: (line.nodes is not None, line.meaning.early), default=None)


def _sum(before: int | None, more: int | None) -> int | None:
    return more if before is None else before + (more or 0)
