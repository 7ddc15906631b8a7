"""The counting rule, in its one place: which pods hold devices, and how many.

A pod holds devices when it has a node and its phase is not Succeeded or Failed; a terminating pod still holds. Its
effective request per resource is max(sum of app containers and sidecars, each ordinary init container and the sidecars
before it). This module must not know any stack or resource name but the two that the scheduler itself counts: CPU and memory.
Source: the effective-request rule of the Kubernetes scheduler (pod lifecycle, sidecar containers, pod-level resources, overhead).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from kube import listed
from kube.objects import Container, ExtendedClaim, Pod, Resources
from kube.quantity import count, millis, size
from stacks.engine.base import COUNT_ONLY, Allocation

_ENDED = frozenset(("Succeeded", "Failed"))

#: More devices (or memory units) than a node has: 10 TiB counted in MiB. It also keeps every sum of bytes inside int64.
MOST_DEVICES = 10_000_000
#: So many digits are always fewer.
_PLAIN_DIGITS = 7


class Need(NamedTuple):
    """What one container asks of one resource.

    quantity: in the resource's own unit; for an ordinary init container only what exceeds the rest of the pod.
    position: place in `spec.containers` (or in `spec.initContainers` when init is true), from 0.
    """

    container: str
    resource: str
    quantity: int
    position: int
    init: bool = False


class Host(NamedTuple):
    """What a pod requests of its node's own: CPU in thousandths, memory in bytes."""

    cpu_millis: int = 0
    memory_bytes: int = 0


def devices(value: str | int | None) -> int | None:
    """A quantity as a number of devices or units; None when it is no quantity or more than can be believed."""
    if type(value) is str and len(value) <= _PLAIN_DIGITS and value.isascii() and value.isdigit():
        return int(value)  # nearly all: several times for each pod
    number = count(value)
    return number if number is not None and number <= MOST_DEVICES else None


def ended(pod: Pod) -> bool:
    """Whether the pod's phase is terminal: whatever it held is released."""
    return pod.status is not None and pod.status.phase in _ENDED


def holds(pod: Pod) -> bool:
    """Whether the pod holds the devices it asks for: bound to a node, not ended; terminating still holds."""
    return pod.spec is not None and bool(pod.spec.nodeName) and not ended(pod)


def waits(pod: Pod) -> bool:
    """Whether the pod is demand only: no node yet, not ended."""
    return not (pod.spec is not None and pod.spec.nodeName) and not ended(pod)


def name_of(pod: Pod) -> str:
    """The pod as findings name it: "namespace/name"."""
    return f"{pod.metadata.namespace}/{pod.metadata.name}"


def asked(container: Container) -> Iterable[tuple[str, str | int]]:
    """(resource, quantity as written) of one container: limits first, requests for what has no limit.

    Extended resources must have requests equal to limits, so either will do; limits are what the stacks' own tools read.
    """
    resources = container.resources
    if resources is None:
        return ()
    limits, wished = resources.limits, resources.requests
    if not limits:
        return wished.items() if wished else ()
    if not wished or limits.keys() >= wished.keys():
        return limits.items()
    return {**wished, **limits}.items()


def containers(pod: Pod) -> Iterator[tuple[int, bool, Container]]:
    """(position, init, container) of all containers of the pod, app containers first."""
    spec = pod.spec
    if spec is None:
        return
    for position, container in enumerate(spec.containers or ()):
        yield position, False, container
    for position, container in enumerate(spec.initContainers or ()):
        yield position, True, container


def requests(pod: Pod, wanted: Callable[[str], bool]) -> list[Need]:
    """What the pod needs of the resources that `wanted` accepts, per container and resource.

    The quantities of one resource add up to the pod's effective request; nothing is returned for 0. Where an init
    container needs more than the running pod will, the excess is its own. What is no number of devices is left out;
    `node_findings` reports it.
    """
    spec = pod.spec
    if spec is None:
        return []
    if pod.status is not None and pod.status.extendedResourceClaimStatus is not None:
        wanted = _not_claimed(pod.status.extendedResourceClaimStatus, wanted)
    needs: list[Need] = []
    for position, container in enumerate(spec.containers or ()):
        if container.resources is not None:
            needs += _needs(container, wanted, position, False)
    if spec.initContainers:
        needs += _init_needs(spec.initContainers, wanted, needs)
    return needs


def _not_claimed(claim: ExtendedClaim, wanted: Callable[[str], bool]) -> Callable[[str], bool]:
    """What a claim serves is held by the claim: counted here too, it would be held twice."""
    served = {mapping.resourceName for mapping in claim.requestMappings or ()}
    return lambda resource: resource not in served and wanted(resource)


def _needs(container: Container, wanted: Callable[[str], bool], position: int, init: bool) -> list[Need]:
    return [
        Need(container.name, name, number, position, init)
        for name, value in asked(container)
        if wanted(name) and (number := devices(value))
    ]


def _init_needs(init: list[Container], wanted: Callable[[str], bool], app: list[Need]) -> list[Need]:
    """The needs of sidecars, and of the one init container (per resource) that exceeds the running pod."""
    sidecars: list[Need] = []
    before: dict[str, int] = {}
    peaks: dict[str, tuple[int, Need]] = {}
    for position, container in enumerate(init):
        found = _needs(container, wanted, position, True)
        if container.restartPolicy == "Always":
            sidecars += found
            for need in found:
                before[need.resource] = before.get(need.resource, 0) + need.quantity
            continue
        for need in found:
            peak = need.quantity + before.get(need.resource, 0)
            if need.resource not in peaks or peak > peaks[need.resource][0]:
                peaks[need.resource] = (peak, need)
    running = dict(before)
    for need in app:
        running[need.resource] = running.get(need.resource, 0) + need.quantity
    excess = ((need, peak - running.get(name, 0)) for name, (peak, need) in peaks.items())
    return sidecars + [need._replace(quantity=extra) for need, extra in excess if extra > 0]


def host(spec: listed.PodSpec | None) -> Host:
    """The effective request of CPU and memory. What is no quantity counts as 0: the scheduler has never let it in."""
    if spec is None:
        return Host()
    return Host(_effective(spec, "cpu", millis), _effective(spec, "memory", size))


def _effective(spec: listed.PodSpec, name: str, amount: Callable[[str | int | None], int | None]) -> int:
    def of(resources: Resources | None) -> int:
        if resources is None:
            return 0
        value = (resources.requests or {}).get(name, (resources.limits or {}).get(name))
        return (amount(value) or 0) if value is not None else 0

    running, most, sidecars = sum(of(one.resources) for one in spec.containers or ()), 0, 0
    for one in spec.initContainers or ():
        if one.restartPolicy == "Always":
            sidecars += of(one.resources)
        else:
            most = max(most, of(one.resources) + sidecars)
    # What is stated for the pod as a whole is in the place of what its containers state.
    whole = of(spec.resources) or max(running + sidecars, most)
    return min(whole + (amount((spec.overhead or {}).get(name)) or 0), 2**63 - 1)


def allocation(
    pod: Pod,
    need: Need,
    stack: str,
    mode: str,
    *,
    quantity: int | None = None,
    card: str | None = None,
    evidence: str = COUNT_ONLY,
    memory_bytes: int | None = None,
    core_percent: int | None = None,
    with_pod: str = "",
) -> Allocation:
    """What a container holds by a need. quantity: the part of the need that falls on the card, all of it where it is left out.

    evidence: where the card comes from; of no known card nothing is known but the count.
    """
    return Allocation(
        pod_uid=pod.metadata.uid,
        namespace=pod.metadata.namespace,
        pod=pod.metadata.name,
        container=need.container,
        resource=need.resource,
        quantity=need.quantity if quantity is None else quantity,
        evidence=evidence if card is not None else COUNT_ONLY,
        stack=stack,
        card=card,
        memory_bytes=memory_bytes,
        core_percent=core_percent,
        mode=mode,
        with_pod=with_pod,
    )
