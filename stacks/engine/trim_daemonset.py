"""What the mirror keeps of a DaemonSet or Deployment of a component: labels, images, on which nodes its pods run, and what stacks
read of a plugin: command lines, environment, the ConfigMaps that its settings come from.

Of a DaemonSet's status only is kept whether it selects no node: the rest changes with each step of a roll-out.
"""

from __future__ import annotations

from kube.objects import (
    Affinity,
    DaemonSet,
    DaemonSetSpec,
    DaemonSetStatus,
    Metadata,
    PodTemplate,
    StringMap,
    TemplateContainer,
    TemplateSpec,
)
from kube.software import Deployment, DeploymentSpec, DeploymentStatus
from stacks.engine.components import FURTHER_KEYS, LABEL_KEYS, component_of
from stacks.engine.registry import readers
from stacks.engine.trim import component_env

_LABELS = frozenset(
    (*LABEL_KEYS, *FURTHER_KEYS, "app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart")
)


def trim_daemonset(daemonset: DaemonSet) -> DaemonSet | None:
    """A copy with only what is read; None when its pods are no component of the GPU machinery."""
    template = daemonset.spec.template if daemonset.spec else None
    if template is None or not components(daemonset):
        return None
    read = bool(readers(components(daemonset)))
    desired = daemonset.status.desiredNumberScheduled if daemonset.status else None
    return DaemonSet(
        metadata=_metadata(daemonset.metadata),
        spec=DaemonSetSpec(_template(template, read), daemonset.spec.updateStrategy if daemonset.spec else None),
        status=DaemonSetStatus(desiredNumberScheduled=0) if desired == 0 else None,
    )


def trim_deployment(deployment: Deployment) -> Deployment | None:
    """A copy with only what is read; None when its pods are no component."""
    template = deployment.spec.template if deployment.spec else None
    labels = (template.metadata.labels if template else None, deployment.metadata.labels)
    if template is None or not any(component_of(each) for each in labels):
        return None
    status = deployment.status
    failed = [one for one in (status.conditions if status else None) or () if one.type == "ReplicaFailure"]
    return Deployment(
        metadata=_metadata(deployment.metadata),
        spec=DeploymentSpec(deployment.spec.replicas if deployment.spec else None, _template(template, False)),
        status=DeploymentStatus(status.readyReplicas, failed or None) if status is not None else None,
    )


def _metadata(metadata: Metadata) -> Metadata:
    return Metadata(
        name=metadata.name,
        namespace=metadata.namespace,
        uid=metadata.uid,
        creationTimestamp=metadata.creationTimestamp,
        labels=_labels(metadata.labels),
    )


def _template(template: PodTemplate, read: bool) -> PodTemplate:
    """read: whether a stack reads its settings."""
    return PodTemplate(Metadata(labels=_labels(template.metadata.labels)), _spec(template.spec, read))


def components(daemonset: DaemonSet) -> set[str]:
    """Ids of what the DaemonSet is by its own labels and by those of its pods: a stack may go by either."""
    template = daemonset.spec.template if daemonset.spec else None
    labels = (daemonset.metadata.labels, template.metadata.labels if template else None)
    return {found for each in labels if (found := component_of(each))}


def _labels(labels: StringMap | None) -> StringMap | None:
    return {name: labels[name] for name in sorted(_LABELS & labels.keys())} or None if labels else None


def _spec(spec: TemplateSpec | None, read: bool) -> TemplateSpec | None:
    if spec is None:
        return None
    volumes = [item for item in spec.volumes or () if item.configMap is not None] if read else []
    names = {item.name for item in volumes}
    containers = [
        _container(item, names) if read else TemplateContainer(name=item.name, image=item.image)
        for item in spec.containers or ()
    ]
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
        image=container.image,
        command=container.command,
        args=container.args,
        env=component_env(container.env) if container.env else None,
        envFrom=container.envFrom or None,
        volumeMounts=[item for item in container.volumeMounts or () if item.name in volumes] or None,
    )
