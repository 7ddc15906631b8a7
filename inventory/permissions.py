"""What the watchers' credentials may have to do in a cluster, and the rule that grants it. deploy/watcher-role.yaml grants the same.

Knows what the watches of a cluster say, and makes no call to it.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from inventory.mirror import config_maps, software
from inventory.models import Cluster, Watch
from inventory.models.cluster import Kind, WatchState
from inventory.stacks import STACKS
from inventory.stacks.engine.base import Selection
from wording.said import known, sentence, series

ROLE = "deploy/watcher-role.yaml"


class Wanted(msgspec.Struct, frozen=True):
    """A permission that a part of gpudash needs. resource: with its subresource, as in "pods/log".

    namespace: where it is needed, "" for the whole cluster. name: the one object that it is needed for, "" for all.
    optional: the mirror works without it. role: the file that grants it.
    launcher: the launcher's credentials need it, not the watchers'. kind: the watched kind that it is for; "" for none.
    """

    verb: str
    group: str
    resource: str
    needed_for: str
    optional: bool = False
    namespace: str = ""
    role: str = ROLE
    launcher: bool = False
    name: str = ""
    kind: str = ""

    @property
    def full_resource(self) -> str:
        """As `kubectl auth can-i` takes it: "jobs.batch", "pods/log"."""
        name, slash, sub = self.resource.partition("/")
        return ".".join(filter(None, (name, self.group))) + slash + sub

    @property
    def rule(self) -> str:
        """What is to be added to the watchers' role; "" for what is not theirs."""
        if not self.kind:
            return ""
        names = f', resourceNames: ["{self.name}"]' if self.name else ""
        added = f'apiGroups: ["{self.group}"], resources: ["{self.resource}"]{names}, verbs: ["get", "list", "watch"]'
        if self.namespace and not self.name:
            return sentence(
                "the Role in namespace {namespace} ({role}): {added}",
                namespace=self.namespace,
                role=self.role,
                added=added,
            )
        return sentence("the ClusterRole ({role}): {added}", role=self.role, added=added)


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
