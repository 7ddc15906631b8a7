"""A run that did not start: what the software of its node has to do with it, as a reason beside that of the cluster.

It changes no verdict. It is the first reason, the cause, where the node kept the pod from starting; where the cluster's words speak
of the run's own image or container, they stay first.
"""

from __future__ import annotations

import msgspec

from validations.models import Run
from validations.software import CODE, cause_of
from validations.suites.engine.base import Reason, Result

#: Endings of a run whose node did not take the pod, and of one whose container could not be made or started.
_BY_NODE = frozenset(("unschedulable", "refused-by-node", "no-resource"))
_BY_CONTAINER = frozenset(("image", "container-config"))
#: Reasons of a container that has an exit code and never ran.
_NEVER_RAN = frozenset(("StartError", "ContainerCannotRun"))
#: Refusals of the kubelet in which no device has a part.
_NO_DEVICE = frozenset(("OutOfcpu", "OutOfmemory", "OutOfpods", "OutOfephemeral-storage", "NodeAffinity"))


def software_of(run: Run, rest: bytes = b"") -> Reason | None:
    """The cause that the node has now, where the run did not start by it. No query for a run that started."""
    if not _did_not_start(run, rest):
        return None
    cause = cause_of(run.cluster_id, run.node_name)
    return Reason(CODE, cause.dated()) if cause is not None and cause.blocks else None


def with_software(result: Result, run: Run, software: Reason | None) -> Result:
    """The same result with this reason in its place."""
    if software is None or result.verdict != "errored":
        return result
    others = [one for one in result.reasons if one.code != CODE]
    reasons = [software, *others] if _by_node(run) else [*others, software]
    return msgspec.structs.replace(result, reasons=reasons)


def _did_not_start(run: Run, rest: bytes) -> bool:
    """Whether the run ended before its container ran, for a reason in which the node may have a part."""
    if run.log_stored or rest:
        return False
    if run.end_reason in _NEVER_RAN:
        return True
    if run.exit_code is not None or run.started_at is not None or run.end_reason in _NO_DEVICE:
        return False
    return _by_node(run) or _code(run) in _BY_CONTAINER


def _by_node(run: Run) -> bool:
    return _code(run) in _BY_NODE or _no_device(run) or (_code(run) in _BY_CONTAINER and _sandbox(run))


def _no_device(run: Run) -> bool:
    """The kubelet names the resource of which it has too little: OutOfnvidia.com/gpu."""
    return run.end_reason.startswith("OutOf") and "/" in run.end_reason


def _sandbox(run: Run) -> bool:
    """The runtime of the node could not even make the pod: FailedCreatePodSandBox, CreatePodSandboxError."""
    return "podsandbox" in str(run.ending[1]).lower()


def _code(run: Run) -> str:
    return str(run.ending[0]) if isinstance(run.ending, list) and len(run.ending) == 2 else ""
