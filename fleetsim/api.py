"""What the embedded API server answers: discovery, lists, watches, objects, Jobs, logs. Knows no sockets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from fleetsim import resources
from fleetsim.exporters import CONTENT_TYPE, Silent, exported
from fleetsim.fleet import Fleet
from fleetsim.pages import Pages
from fleetsim.patch import check_patch, merge_patch
from fleetsim.podlog import LogStream, parse_log_request
from fleetsim.request import WATCH_TIMEOUT_S, Proxied, Request, Target, proxied, selection, target, version
from fleetsim.resources import JOBS, NODES, PODS, Resource, Served
from fleetsim.status import (
    ApiError,
    bad_request,
    conflict,
    expired,
    invalid,
    method_not_allowed,
    no_such_path,
    success,
    too_large,
)
from fleetsim.watch import Watch, WatchLimits, WatchRequest


@dataclass(frozen=True)
class Reply:
    """An answer: a body, or chunks of a stream."""

    code: int
    body: bytes = b""
    content_type: str = "application/json"
    chunks: Iterator[bytes] | None = None


class Api:
    """Answers requests about one fleet. `stop()` ends all streams."""

    def __init__(self, fleet: Fleet, limits: WatchLimits) -> None:
        self.fleet = fleet
        self.limits = limits
        self.pages = Pages(fleet.store)
        self.stopping = threading.Event()

    def stop(self) -> None:
        self.stopping.set()
        with self.fleet.store.changed:
            self.fleet.store.changed.notify_all()

    def answer(self, request: Request, cut: Callable[[], None]) -> Reply:
        """Raises ApiError. cut: breaks the connection of this request, for a reader that is too slow."""
        if request.path in ("/livez", "/readyz", "/healthz"):
            return Reply(200, b"ok", "text/plain; charset=utf-8")
        if request.path.endswith("/selfsubjectaccessreviews"):
            return _review(request)
        document = _document(request.path, self._served)
        if document is not None:
            return _json(200, document)
        if (page := proxied(request.path)) is not None:
            return self._proxied(request, page)
        wanted = target(request.path)
        if not self._served(wanted.resource):
            raise no_such_path()
        if request.method == "GET":
            return self._read(request, wanted, cut)
        return self._write(request, wanted)

    def _served(self, resource: Resource) -> bool:
        """A custom resource is defined by whoever installs what makes objects of it."""
        return not resource.custom or bool(self.fleet.store.names(resource))

    def _proxied(self, request: Request, page: Proxied) -> Reply:
        """What a pod's own port answers, as the API server hands it on."""
        if request.method != "GET":
            raise method_not_allowed()
        try:
            answer = exported(self.fleet, page.namespace, page.pod, page.port, page.path)
        except Silent as where:
            raise ApiError(
                503,
                "ServiceUnavailable",
                f"error trying to reach service: dial tcp {where}: connect: connection refused",
            ) from None
        kind = CONTENT_TYPE if answer.code == 200 else "text/plain; charset=utf-8"
        return Reply(answer.code, answer.body.encode(), kind)

    def _read(self, request: Request, wanted: Target, cut: Callable[[], None]) -> Reply:
        if wanted.name is None:
            return self._watch(request, wanted, cut) if request.flag("watch") else self._list(request, wanted)
        if wanted.subresource == "log" and wanted.resource is PODS:
            return self._log(request, wanted)
        if wanted.subresource not in (None, "status"):
            raise no_such_path()
        return _json(200, self._object(wanted))

    def _object(self, wanted: Target) -> dict[str, Any]:
        obj = self.fleet.store.get(wanted.resource, wanted.namespace or "", wanted.name or "")
        return _typed(wanted, obj)

    def _list(self, request: Request, wanted: Target) -> Reply:
        token = request.query.get("continue", "")
        at, current = version(request), self.fleet.store.version
        if at is not None and token:
            raise bad_request("specifying resource version is not allowed when using continue")
        if at is not None and at > current:
            raise too_large(at, current)
        if at is not None and at != current and request.query.get("resourceVersionMatch") == "Exact":
            raise expired(f"The resourceVersion for the provided list is too old: {at}")
        body = self.pages.page(wanted.resource, selection(request, wanted), request.number("limit") or 0, token)
        return Reply(200, body)

    def _watch(self, request: Request, wanted: Target, cut: Callable[[], None]) -> Reply:
        initial = request.flag("sendInitialEvents")
        bookmarks = request.flag("allowWatchBookmarks")
        if initial:
            _check_streaming_list(request, wanted)
        timeout = request.number("timeoutSeconds")
        asked = WatchRequest(
            wanted.resource,
            selection(request, wanted),
            None if initial else version(request),
            bookmarks,
            WATCH_TIMEOUT_S if timeout is None or timeout == 0 else float(timeout),
            initial,
        )
        watch = Watch(self.fleet.store, asked, self.limits, cut, self.stopping.is_set)
        return Reply(200, chunks=watch.chunks())

    def _log(self, request: Request, wanted: Target) -> Reply:
        pod = self.fleet.store.get(PODS, wanted.namespace or "", wanted.name or "")
        asked = parse_log_request(request)
        container = asked.container_of(pod)
        if not (pod.get("spec") or {}).get("nodeName"):
            return Reply(204)  # As the API server answers for a pod without a node.
        stream = LogStream(self.fleet, pod, container, asked, self.stopping.is_set)
        stream.check_started()
        return Reply(200, content_type="text/plain", chunks=stream.chunks())

    def _write(self, request: Request, wanted: Target) -> Reply:
        verb = {"POST": "create", "PATCH": "patch", "DELETE": "delete"}.get(request.method, "")
        collection = wanted.name is None
        if verb not in wanted.resource.verbs or collection != (verb == "create"):
            raise method_not_allowed()
        if verb == "create":
            return self._create(request, wanted)
        return self._patch(request, wanted) if verb == "patch" else self._delete(request, wanted)

    def _create(self, request: Request, wanted: Target) -> Reply:
        if wanted.namespace is None:
            raise method_not_allowed()
        obj = request.object()
        job = self.fleet.jobs.create(wanted.namespace, obj, dry_run=request.query.get("dryRun") == "All")
        return _json(201, _typed(wanted, job))

    def _patch(self, request: Request, wanted: Target) -> Reply:
        if wanted.subresource is not None:
            raise method_not_allowed()
        store = self.fleet.store
        with store.changed:
            obj = store.get(wanted.resource, wanted.namespace or "", wanted.name or "")
            patched = merge_patch(obj, request.object(), request.content_type)
            check_patch(wanted.resource, obj, patched)
            if request.query.get("dryRun") != "All":
                patched = store.replace(wanted.resource, patched)
                if wanted.resource is NODES:
                    self.fleet.marked(patched)
        return _json(200, _typed(wanted, patched))

    def _delete(self, request: Request, wanted: Target) -> Reply:
        options = request.object()
        namespace, name = wanted.namespace or "", wanted.name or ""
        obj = self.fleet.store.get(wanted.resource, namespace, name)
        _check_preconditions(wanted, obj, options)
        if request.query.get("dryRun") == "All":
            return _json(200, _typed(wanted, obj))
        if wanted.resource is JOBS:
            policy = request.query.get("propagationPolicy") or options.get("propagationPolicy") or "Background"
            self.fleet.jobs.delete(namespace, name, _policy(wanted, policy))
            return _json(200, success("jobs", name, obj["metadata"]["uid"]))
        grace = options.get("gracePeriodSeconds", request.number("gracePeriodSeconds"))
        return _json(200, _typed(wanted, self.fleet.delete_pod(namespace, name, grace == 0)))


def _json(code: int, obj: dict[str, Any]) -> Reply:
    return Reply(code, msgspec.json.encode(obj))


def _typed(wanted: Target, obj: dict[str, Any]) -> dict[str, Any]:
    return {"kind": wanted.resource.kind, "apiVersion": wanted.resource.api_version, **obj}


def _document(path: str, served: Served) -> dict[str, Any] | None:
    fixed = {"/version": resources.VERSION, "/api": resources.core_versions()}
    if path in fixed:
        return fixed[path]
    parts = path.strip("/").split("/")
    if parts == ["apis"]:
        return resources.group_list(served)
    if parts[0] == "api" and len(parts) == 2:
        return resources.resource_list("", parts[1], served)
    if parts[0] == "apis" and len(parts) == 2:
        return resources.group(parts[1], served)
    return resources.resource_list(parts[1], parts[2], served) if parts[0] == "apis" and len(parts) == 3 else None


def _review(request: Request) -> Reply:
    if request.method != "POST" or request.path != "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
        raise method_not_allowed()
    asked = request.object()
    spec = asked.get("spec")
    if not isinstance(spec, dict):
        raise bad_request("spec of SelfSubjectAccessReview is missing")
    kind = {"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1"}
    return _json(201, {**kind, "metadata": {}, "spec": spec, "status": {"allowed": True}})


def _check_streaming_list(request: Request, wanted: Target) -> None:
    causes = []
    if request.query.get("resourceVersionMatch") != "NotOlderThan":
        message = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(("resourceVersionMatch", "FieldValueForbidden", message))
    if not request.flag("allowWatchBookmarks"):
        message = "sendInitialEvents requires allowWatchBookmarks"
        causes.append(("allowWatchBookmarks", "FieldValueForbidden", message))
    if causes:
        raise invalid("ListOptions", "meta.k8s.io", "", causes)


def _check_preconditions(wanted: Target, obj: dict[str, Any], options: dict[str, Any]) -> None:
    preconditions = options.get("preconditions")
    if not isinstance(preconditions, dict):
        return
    for name in ("uid", "resourceVersion"):
        given, here = preconditions.get(name), obj["metadata"].get(name)
        if given is not None and given != here:
            raise conflict(
                wanted.resource.plural, wanted.name or "", f"the {name} in the precondition ({given}) is not {here}"
            )


def _policy(wanted: Target, policy: object) -> str:
    if policy not in ("Background", "Foreground", "Orphan"):
        cause = ("propagationPolicy", "FieldValueNotSupported", f"{policy!r} is no propagation policy")
        raise invalid("DeleteOptions", "meta.k8s.io", wanted.name or "", [cause])
    return str(policy)
