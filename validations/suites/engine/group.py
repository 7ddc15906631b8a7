"""The Job of a run on one node becomes that of a group of nodes: an Indexed Job, one pod on each node.

An Indexed Job is in batch/v1 of each cluster that the suite runs on (stable since 1.24) and needs no operator. MPIJob needs its
operator, a launcher pod and ssh keys in a Secret; JobSet needs its operator and makes the same Indexed Job. How mpirun starts the
other pods without ssh: `bootstrap` of the suite.

All pods are one Job's, so that one deletion ends them all and nothing else has to be owned or removed. Their names come from the one
headless Service of the namespace (deploy/validation-groups.yaml). Which index lands on which node says the scheduler.
Source: batch/v1 JobSpec completionMode; its pods have the host name JOB-INDEX.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from validations.suites.engine.manifest import RUN_LABEL

SERVICE = "gpudash-group"
GROUP_LABEL = "gpudash.io/group"
#: What the Job controller adds to the environment of each container.
INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
#: Where a pod says its index: an annotation, since 1.28 a label too.
INDEX = "batch.kubernetes.io/job-completion-index"


def host_name(job: str, index: int) -> str:
    """Host name of a pod of the Job."""
    return f"{job}-{index}"


def as_group(made: dict[str, Any], hostnames: Sequence[str]) -> dict[str, Any]:
    """The same Job with a pod on each of these nodes. hostnames: values of the label kubernetes.io/hostname."""
    metadata, spec, template = made["metadata"], made["spec"], made["spec"]["template"]
    size, label = len(hostnames), metadata["labels"][RUN_LABEL]
    spec |= {"parallelism": size, "completions": size, "completionMode": "Indexed"}
    template["metadata"]["labels"] |= {GROUP_LABEL: label}
    pod = template["spec"]
    pod["subdomain"] = SERVICE
    required = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    required["nodeSelectorTerms"][0]["matchExpressions"][0]["values"] = list(hostnames)
    apart = {"labelSelector": {"matchLabels": {GROUP_LABEL: label}}, "topologyKey": "kubernetes.io/hostname"}
    pod["affinity"]["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}
    zone = f"{SERVICE}.{metadata['namespace']}.svc"
    hosts = ",".join(f"{host_name(metadata['name'], index)}.{zone}" for index in range(size))
    container = pod["containers"][0]
    container["env"] = [*container.get("env", []), {"name": "GPUDASH_HOSTS", "value": hosts}]
    return made


def is_index_variable(variable: object) -> bool:
    """Whether it is the variable that the Job controller adds, as it adds it."""
    if not isinstance(variable, dict) or variable.get("name") != INDEX_VARIABLE:
        return False
    source = variable.get("valueFrom")
    field = source.get("fieldRef") if isinstance(source, dict) and len(source) == 1 else None
    paths = {f"metadata.{where}['{INDEX}']" for where in ("labels", "annotations")}
    return isinstance(field, dict) and field.get("fieldPath") in paths
