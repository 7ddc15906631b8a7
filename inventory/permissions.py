"""What the watchers' credentials may have to do in a cluster, and the rule that grants it. deploy/watcher-role.yaml grants the same.

Knows what the watches of a cluster say, and makes no call to it.
"""

from __future__ import annotations

from collections.abc import Iterable

from inventory.mirror import config_maps, software
from inventory.models import Cluster, Watch
from inventory.models.cluster import Kind, WatchState
from inventory.wanted import Wanted
from stacks import STACKS
from stacks.engine.base import Selection
from wording.said import known, sentence, series

_FOR_DEVICES = series((known(stack.devices_for) for stack in STACKS if stack.devices_for), ", ")
_FOR_DAEMONSETS = series((known(stack.daemonsets_for) for stack in STACKS if stack.daemonsets_for), ", ")


def _watched(kind: str, group: str, needed_for: str, optional: bool = True) -> list[Wanted]:
    return [Wanted(verb, group, kind, needed_for, optional, kind=kind) for verb in ("list", "watch")]


READER = (
    *_watched(Kind.NODES.value, "", sentence("cards and totals"), optional=False),
    *_watched(Kind.PODS.value, "", sentence("allocations"), optional=False),
    *_watched(Kind.DAEMONSETS.value, "apps", _FOR_DAEMONSETS),
    *_watched(Kind.RESOURCESLICES.value, "resource.k8s.io", sentence("cards in ResourceClaims (DRA)")),
    *_watched(Kind.RESOURCECLAIMS.value, "resource.k8s.io", sentence("cards in ResourceClaims (DRA)")),
    *_watched(Kind.DEVICETAINTRULES.value, "resource.k8s.io", sentence("tainted cards (DRA)")),
    *_watched(Kind.DEVICES.value, "scheduling.koordinator.sh", _FOR_DEVICES),
    *_watched(Kind.DEPLOYMENTS.value, "apps", sentence("state of operators and scheduler extenders")),
    *(
        Wanted(
            verb,
            "",
            "services",
            sentence("reachability of scheduler extenders"),
            True,
            namespace,
            name=name,
            kind="services",
        )
        for namespace, name in sorted(software.service_names())
        for verb in ("list", "watch")
    ),
    *_watched(Kind.CLUSTERPOLICIES.value, "nvidia.com", sentence("configuration and state of the GPU Operator")),
    *_watched(Kind.NVIDIADRIVERS.value, "nvidia.com", sentence("drivers that the GPU Operator installs")),
    *_watched(Kind.GPUCLUSTERS.value, "nvidia.com", sentence("state of the GPU Operator with DRA")),
    *_watched(Kind.DEVICECONFIGS.value, "amd.com", sentence("drivers and upgrades of the AMD operator")),
    *_watched(Kind.GPUDEVICEPLUGINS.value, "deviceplugin.intel.com", sentence("configuration of the Intel operator")),
    Wanted(
        "get",
        "",
        "namespaces",
        sentence("detection of another cluster at the same address (UID of kube-system)"),
        optional=True,
        name="kube-system",
    ),
)


def of_cluster(cluster: Cluster) -> list[Wanted]:
    """What its watchers need: the same in each cluster, and the ConfigMaps that its device plugins name."""
    watch = Watch.objects.filter(cluster=cluster, kind=Kind.CONFIGMAPS).first()
    return [*READER, *_of_config_maps(config_maps.chosen(watch.selection) if watch else ())]


def not_served(cluster: Cluster) -> set[str]:
    """Kinds that the cluster does not have, as their watches found."""
    return set(Watch.objects.filter(cluster=cluster, state=WatchState.NOT_SERVED).values_list("kind", flat=True))


def _of_config_maps(chosen: Iterable[Selection]) -> list[Wanted]:
    declared = {stack.name: stack.config_maps for stack in STACKS if stack.config_maps is not None}
    found: dict[tuple[str, str, str], Wanted] = {}
    for one in chosen:
        if (of := declared.get(one.stack)) is not None:
            for verb in ("list", "watch"):
                why = sentence(
                    "{read_for} (ConfigMap {name})", read_for=known(of.read_for), name=config_maps.words(one)
                )
                made = Wanted(
                    verb, "", "configmaps", why, True, one.namespace, of.role, name=one.name, kind=Kind.CONFIGMAPS.value
                )
                found.setdefault((verb, one.namespace, one.name or one.label or one.prefix), made)
    return list(found.values())
