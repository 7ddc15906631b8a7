"""What the launcher may have to do in a cluster, for `gpudash cluster check`. deploy/launcher-role.yaml grants the same.

All is optional: a cluster where no validation runs is mirrored without it. Knows no cluster and makes no call.
"""

from __future__ import annotations

from django.conf import settings

from inventory.wanted import LAUNCHER as LAUNCHER_ACCOUNT
from inventory.wanted import Wanted
from wording.said import sentence

ROLE = "deploy/launcher-role.yaml"
LEASES = "coordination.k8s.io"
NEEDED_FOR = sentence("needed for validations")
#: (verb, group, resource, what for): the calls of `lifecycle.cluster_api` and `lifecycle.lock` in the validation namespace.
LAUNCHER = (
    *((verb, "batch", "jobs", NEEDED_FOR) for verb in ("create", "get", "list", "delete")),
    ("list", "", "pods", NEEDED_FOR),
    ("get", "", "pods/log", NEEDED_FOR),
    ("list", "", "events", sentence("shows why a validation is pending")),
    *(
        (verb, LEASES, "leases", sentence("prevents a copy of the database from launching"))
        for verb in ("get", "create", "update")
    ),
)

#: What a run cannot do without.
NEEDED = frozenset(f"{verb} {resource}" for verb, _, resource, why in LAUNCHER if why == NEEDED_FOR)
#: Why the launcher reads classes.
CLASSES = sentence("Linux suites use the RuntimeClass nvidia if it exists")
PRIORITY = sentence("low scheduling priority for policy runs (PriorityClass)")


def _in(why: str, namespace: str) -> str:
    return sentence("{why} (namespace {namespace})", why=why, namespace=namespace)


def wanted() -> tuple[Wanted, ...]:
    """In the namespace of the Jobs, as the settings name it now; classes belong to the whole cluster."""
    namespace = settings.VALIDATION_NAMESPACE
    mine = (
        Wanted(verb, group, resource, _in(why, namespace), True, namespace, ROLE, account=LAUNCHER_ACCOUNT)
        for verb, group, resource, why in LAUNCHER
    )
    return (
        *mine,
        Wanted("list", "node.k8s.io", "runtimeclasses", CLASSES, True, "", ROLE, account=LAUNCHER_ACCOUNT),
        Wanted("get", "scheduling.k8s.io", "priorityclasses", PRIORITY, True, "", ROLE, account=LAUNCHER_ACCOUNT),
    )


def missing_rule(call: str, namespace: str) -> str:
    """Words for a rule that is not granted. call: "create jobs"."""
    return sentence(
        "The launcher is not authorized to {call} in namespace {namespace}. Apply {role}: it also creates the "
        "namespace and the binding.",
        call=call,
        namespace=namespace,
        role=ROLE,
    )
