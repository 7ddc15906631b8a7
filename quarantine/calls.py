"""The calls of the account that marks nodes. Knows no tables. Errors are `ApiError`, with the name of the call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol
from urllib.parse import quote

import msgspec

from inventory.marks import FIELD_MANAGER
from kube.claims import DeviceTaintRule, ResourceSlice
from kube.client import ApiError
from kube.decoders import decoder
from kube.objects import Condition
from quarantine import sentinel
from quarantine.changes import NodeNow
from quarantine.devices import LABEL, VERSIONS
from quarantine.nodes import read

#: One call, to the last byte of its answer.
CALL_S = 5.0
SLICE_VERSIONS = ("v1", "v1beta2", "v1beta1")
MERGE = "application/merge-patch+json"
Json = dict[str, Any]


class _Status(msgspec.Struct):
    conditions: list[Condition] | None = None


class Rule(DeviceTaintRule):
    """A rule with what the API server says of it."""

    status: _Status | None = None


class _Rules(msgspec.Struct):
    items: list[Rule] | None = None


class _Slices(msgspec.Struct):
    items: list[ResourceSlice] | None = None


_rules, _slices = decoder(_Rules), decoder(_Slices)


class Caller(Protocol):
    """What is needed of `kube.client.Client`."""

    def get(self, path: str, query: Json | None = None, timeout_s: float = 60.0) -> bytes: ...

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        query: Json | None = None,
        content_type: str = "",
        timeout_s: float = 60.0,
    ) -> bytes: ...


def _nothing() -> None: ...


class Api:
    """One cluster. meanwhile: called before each call; a pass renews its lease there."""

    def __init__(self, client: Caller) -> None:
        self._client = client
        self.meanwhile: Callable[[], None] = _nothing

    def node(self, name: str) -> NodeNow | None:
        """None where there is none of this name."""
        body = self._get("get nodes", _node(name))
        return read(body) if body is not None else None

    def patch_node(self, name: str, patch: Json) -> None:
        """409: it is not as it was read, or another node has the name now."""
        self._send("patch nodes", "PATCH", _node(name), patch)

    def rules(self) -> tuple[str, dict[str, Rule]]:
        """The version that is served, and our rules by case. ("", {}) where the cluster has no device taint rules."""
        for version in VERSIONS:
            body = self._get(
                "list devicetaintrules", f"{_resource(version)}/devicetaintrules", {"labelSelector": LABEL}
            )
            if body is not None:
                found = _rules.decode(body).items or ()
                return version, {(one.metadata.labels or {}).get(LABEL, ""): one for one in found}
        return "", {}

    def slices(self, node: str) -> list[ResourceSlice]:
        """Of one node; [] where the cluster has none."""
        for version in SLICE_VERSIONS:
            query = {"fieldSelector": f"spec.nodeName={node}"}
            body = self._get("list resourceslices", f"{_resource(version)}/resourceslices", query)
            if body is not None:
                return _slices.decode(body).items or []
        return []

    def create_rule(self, rule: Json) -> None:
        self._send("create devicetaintrules", "POST", f"/apis/{rule['apiVersion']}/devicetaintrules", rule)

    def patch_rule(self, version: str, rule: Rule, patch: Json) -> None:
        patch = {"metadata": {"resourceVersion": rule.metadata.resourceVersion}} | patch
        self._send("patch devicetaintrules", "PATCH", _rule(version, rule.metadata.name), patch)

    def delete_rule(self, version: str, rule: Rule) -> None:
        """No error where it is gone, or another has its name."""
        self._delete("delete devicetaintrules", _rule(version, rule.metadata.name), rule.metadata.uid)

    def request(self, case: str) -> Json | None:
        """The MaintenanceRequest of a case; None where there is none."""
        body = self._get(f"get {sentinel.RESOURCE}", f"{sentinel.PATH}/{sentinel.request_name(case)}")
        found = msgspec.json.decode(body) if body is not None else None
        return found if isinstance(found, dict) else None

    def create_request(self, body: Json) -> None:
        self._send(f"create {sentinel.RESOURCE}", "POST", sentinel.PATH, body)

    def delete_request(self, case: str) -> None:
        self._delete(f"delete {sentinel.RESOURCE}", f"{sentinel.PATH}/{sentinel.request_name(case)}", "")

    def _get(self, call: str, path: str, query: Json | None = None) -> bytes | None:
        self.meanwhile()
        with _calling(call):
            try:
                return self._client.get(path, query, CALL_S)
            except ApiError as error:
                if error.status == 404:
                    return None
                raise

    def _send(self, call: str, method: str, path: str, body: Json) -> None:
        self.meanwhile()
        kind = MERGE if method == "PATCH" else ""
        query = {"fieldManager": FIELD_MANAGER}
        with _calling(call):
            self._client.send(method, path, msgspec.json.encode(body), query, kind, CALL_S)

    def _delete(self, call: str, path: str, uid: str) -> None:
        self.meanwhile()
        options: Json = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if uid:
            options["preconditions"] = {"uid": uid}
        with _calling(call):
            try:
                self._client.send("DELETE", path, msgspec.json.encode(options), None, "", CALL_S)
            except ApiError as error:
                if error.status not in (404, 409):
                    raise


@contextmanager
def _calling(call: str) -> Iterator[None]:
    """Errors name what was asked for; an answer that makes no sense is one too."""
    try:
        yield
    except ApiError as error:
        error.call = call
        raise


def _node(name: str) -> str:
    return f"/api/v1/nodes/{quote(name, safe='')}"


def _resource(version: str) -> str:
    return f"/apis/resource.k8s.io/{version}"


def _rule(version: str, name: str) -> str:
    return f"{_resource(version)}/devicetaintrules/{quote(name, safe='')}"
