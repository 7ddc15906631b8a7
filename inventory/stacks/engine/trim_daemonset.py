"""What the mirror keeps of a DaemonSet: what stacks read of a plugin's pods, their labels, command lines, environment, the
ConfigMaps that they take their settings from, and on which nodes they run.

Status, annotations and images are left out: they change with each step of a roll-out, and no account depends on them.
"""

from __future__ import annotations

from inventory.stacks.engine.components import LABEL_KEYS, component_of
from inventory.stacks.engine.registry import readers
from inventory.stacks.engine.trim import component_env
from kube.objects import (
    Affinity,
    DaemonSet,
    DaemonSetSpec,
    Metadata,
    PodTemplate,
    StringMap,
    TemplateContainer,
    TemplateSpec,
)

_LABELS = frozenset(LABEL_KEYS)


def trim_daemonset(daemonset: DaemonSet) -> DaemonSet | None:
    """A copy with only what is read; None when its pods are no component of the GPU machinery."""
    template = daemonset.spec.template if daemonset.spec else None
    if template is None or not component_of(template.metadata.labels):
        return None
    metadata, read = daemonset.metadata, bool(readers(components(daemonset)))
    return DaemonSet(
        metadata=Metadata(
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            creationTimestamp=metadata.creationTimestamp,
            labels=_labels(metadata.labels),
        ),
        spec=DaemonSetSpec(
            PodTemplate(Metadata(labels=_labels(template.metadata.labels)), _spec(template.spec) if read else None)
        ),
    )


def components(daemonset: DaemonSet) -> set[str]:
    """Ids of what the DaemonSet is by its own labels and by those of its pods: a stack may go by either."""
    template = daemonset.spec.template if daemonset.spec else None
    labels = (daemonset.metadata.labels, template.metadata.labels if template else None)
    return {found for each in labels if (found := component_of(each))}


def _labels(labels: StringMap | None) -> StringMap | None:
    return {name: labels[name] for name in sorted(_LABELS & labels.keys())} or None if labels else None


def _spec(spec: TemplateSpec | None) -> TemplateSpec | None:
    if spec is None:
        return None
    volumes = [item for item in spec.volumes or () if item.configMap is not None]
    names = {item.name for item in volumes}
    containers = [_container(item, names) for item in spec.containers or ()]
    required = spec.affinity.nodeAffinity if spec.affinity else None
    return TemplateSpec(
        containers=containers,
        volumes=volumes or None,
        nodeName=spec.nodeName,
        nodeSelector=dict(sorted(spec.nodeSelector.items())) if spec.nodeSelector else None,
        affinity=Affinity(required) if required is not None else None,
        tolerations=spec.tolerations or None,
        hostNetwork=spec.hostNetwork or None,
    )


def _container(container: TemplateContainer, volumes: set[str]) -> TemplateContainer:
    """volumes: those whose mounts are kept."""
    return TemplateContainer(
        name=container.name,
        command=container.command,
        args=container.args,
        env=component_env(container.env) if container.env else None,
        envFrom=container.envFrom or None,
        volumeMounts=[item for item in container.volumeMounts or () if item.name in volumes] or None,
    )
