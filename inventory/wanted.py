"""A permission that a part of gpudash needs in a cluster."""

from __future__ import annotations

import msgspec

from wording.said import sentence

ROLE = "deploy/watcher-role.yaml"
#: The accounts of gpudash in a cluster, one file with credentials each.
WATCHER, LAUNCHER, QUARANTINE = "watcher", "launcher", "quarantine"


class Wanted(msgspec.Struct, frozen=True):
    """A permission that a part of gpudash needs. resource: with its subresource, as in "pods/log".

    namespace: where it is needed, "" for the whole cluster. name: the one object that it is needed for, "" for all.
    optional: the mirror works without it. role: the file that grants it.
    account: whose credentials need it. kind: the watched kind that it is for; "" for none.
    """

    verb: str
    group: str
    resource: str
    needed_for: str
    optional: bool = False
    namespace: str = ""
    role: str = ROLE
    account: str = WATCHER
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
