"""The calls that a launcher makes: create, list, delete Jobs; list pods; read a log; events and runtime classes where allowed.

Knows no tables. Errors are `ApiError` of the client that name the call; a 200 that makes no sense is one with status 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

import msgspec

from kube.bodies import MAX_ANSWER, MAX_PAGE
from kube.client import ApiError
from kube.stream import Stream
from kube.workloads import Event, Job, Listed, NotAList, Pod, read_job, read_list
from validations.installation import INSTANCE_LABEL
from validations.lifecycle.deadlines import TooSlow, within
from validations.suites.engine.manifest import CONTAINER, MANAGED_BY
from wording.said import of_error

T = TypeVar("T", Job, Pod, Event)
PAGE = 500
MOST_PAGES = 200
#: Until the whole answer is there, whatever hangs on the way: name, connection, credentials, server.
LIST_S = 10.0
CALL_S = 10.0
#: The same of one object: what a pass may ask for each of its runs.
ONE_S = 3.0
DELETE = "delete jobs"


@contextmanager
def _calling(call: str) -> Iterator[None]:
    """Errors name what was asked for, so that a refusal can say which rule is missing."""
    try:
        yield
    except ApiError as error:
        error.call = call
        raise


class Caller(Protocol):
    """What is needed of `kube.client.Client`."""

    def get(
        self,
        path: str,
        query: dict[str, Any] | None = None,
        timeout_s: float = 60.0,
        accept: str = "",
        most: int = MAX_ANSWER,
    ) -> bytes: ...

    def send(
        self, method: str, path: str, body: bytes | None, query: dict[str, Any] | None = None, content_type: str = ""
    ) -> bytes: ...

    def stream(self, path: str, query: dict[str, Any], silence_s: float, total_s: float = 600.0) -> Any: ...


def _nothing() -> None: ...


class ClusterApi:
    """One cluster's Jobs of this installation, in one namespace. Each call ends within its time.

    meanwhile: called every two seconds while a call is waited for; a pass renews its lease there.
    """

    def __init__(self, client: Caller, namespace: str, instance: str) -> None:
        self.client, self.namespace, self.instance = client, namespace, instance
        self.meanwhile: Callable[[], None] = _nothing
        self._hung: dict[str, ApiError] = {}
        self._selector = f"{MANAGED_BY}=gpudash,{INSTANCE_LABEL}={instance}"
        self._jobs = f"/apis/batch/v1/namespaces/{quote(namespace, safe='')}/jobs"
        self._core = f"/api/v1/namespaces/{quote(namespace, safe='')}"

    def _within(self, seconds: float, call: Callable[[], bytes]) -> bytes:
        try:
            return within(seconds, call, self.meanwhile, "the API server")
        except TooSlow as error:
            raise ApiError(0, "Slow", of_error(error)) from None

    def hangs(self, call: str) -> bool:
        """Whether a call of this kind got no answer."""
        return call in self._hung

    @contextmanager
    def _of_one(self, call: str) -> Iterator[None]:
        """A call that is made for each of many runs: when one has got no answer the next ones are not made, so all cost ONE_S."""
        if call in self._hung:
            raise self._hung[call]
        began = time.monotonic()
        try:
            with _calling(call):
                yield
        except ApiError as error:
            if not error.status and time.monotonic() - began > ONE_S / 2:
                self._hung[call] = error
            raise

    def get(
        self, path: str, query: dict[str, Any] | None = None, seconds: float = CALL_S, most: int = MAX_ANSWER
    ) -> bytes:
        """The whole answer, of so many bytes at most. Raises ApiError."""
        return self._within(seconds, partial(self.client.get, path, query, seconds, most=most))

    def send(self, method: str, path: str, body: dict[str, Any], seconds: float = CALL_S) -> bytes:
        """POST, PUT or DELETE. Raises ApiError; after `Slow` it may have been carried out all the same."""
        return self._within(seconds, partial(self.client.send, method, path, msgspec.json.encode(body)))

    def jobs(self) -> Listed[Job]:
        with _calling("list jobs"):
            return self._list(self._jobs, Job, self._selector)

    def pods(self) -> Listed[Pod]:
        with _calling("list pods"):
            return self._list(f"{self._core}/pods", Pod, self._selector)

    def pod_uid(self, name: str) -> str:
        """The uid of the pod of this name as it is now, "" when there is none. Raises ApiError."""
        query = {"fieldSelector": f"metadata.name={name}", "limit": 1}
        with _calling("list pods"):
            try:
                found = read_list(self.get(f"{self._core}/pods", query), Pod).objects
            except NotAList as error:
                raise ApiError(0, "Strange", of_error(error)) from None
        return next((pod.metadata.uid for pod in found if pod.metadata.name == name), "")

    def _list(self, path: str, kind: type[T], selector: str) -> Listed[T]:
        """All pages. A list that changes its token under way (410) begins anew at the next pass."""
        query = {"labelSelector": selector, "limit": PAGE}
        whole: Listed[T] = Listed([], set())
        for _ in range(MOST_PAGES):
            try:
                page = read_list(self.get(path, dict(query), LIST_S, MAX_PAGE), kind)
            except NotAList as error:
                raise ApiError(0, "Strange", of_error(error)) from None
            whole.objects += page.objects
            whole.strange |= page.strange
            if not page.continue_token:
                return whole
            query["continue"] = page.continue_token
        raise ApiError(0, "TooLarge", f"more than {PAGE * MOST_PAGES} objects came")

    def create(self, manifest: dict[str, Any]) -> Job:
        """POST the Job. Raises ApiError; 409 when there is one of this name."""
        with _calling("create jobs"):
            body = self.send("POST", self._jobs, manifest)
        job = read_job(body)
        if job is None:
            raise ApiError(0, "Strange", "the answer to the creation is not a Job")
        return job

    def job(self, name: str) -> Job | None:
        """The Job of this name, None when there is none. Raises ApiError."""
        try:
            with self._of_one("get jobs"):
                job = read_job(self.get(f"{self._jobs}/{quote(name, safe='')}", seconds=ONE_S))
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        if job is None:
            raise ApiError(0, "Strange", "the answer is not a Job")
        return job

    def delete(self, name: str, uid: str = "") -> None:
        """Delete the Job and its pods; nothing when it is away, or when another has its name. Raises ApiError."""
        options: dict[str, Any] = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        if uid:
            options["preconditions"] = {"uid": uid}
        try:
            with self._of_one(DELETE):
                self.send("DELETE", f"{self._jobs}/{quote(name, safe='')}", options, ONE_S)
        except ApiError as error:
            if error.status != 404 and not (error.status == 409 and uid):
                raise

    @contextmanager
    def log(self, pod: str, silence_s: float, total_s: float, limit_bytes: int | None = None) -> Iterator[Stream]:
        """The container's log from its first byte, for a thread that may block (`validations.lifecycle.logreads`).

        Raises ApiError: 400 not started, 404 pod away, 500 node not reached, 0 after `silence_s` without a byte, or
        when it is not there after `total_s`.
        """
        query: dict[str, Any] = {"container": CONTAINER}
        if limit_bytes is not None:
            query["limitBytes"] = limit_bytes
        path = f"{self._core}/pods/{quote(pod, safe='')}/log"
        with _calling("get pods/log"), self.client.stream(path, query, silence_s, total_s) as stream:
            yield stream

    def events(self, uid: str) -> list[Event]:
        """Events of one object, as they come; [] where they may not be read."""
        query = {"fieldSelector": f"involvedObject.uid={uid}", "limit": 100}
        try:
            with self._of_one("list events"):
                return read_list(self.get(f"{self._core}/events", query, ONE_S), Event).objects
        except (ApiError, NotAList):
            return []

    def gives_way(self, name: str) -> bool | None:
        """Whether the PriorityClass of this name is there, is negative and never pre-empts; None when it could not be read."""
        try:
            found = msgspec.json.decode(self.get(f"/apis/scheduling.k8s.io/v1/priorityclasses/{quote(name, safe='')}"))
            return found["value"] < 0 and found.get("preemptionPolicy") == "Never" and not found.get("globalDefault")
        except ApiError as error:
            return False if error.status in (403, 404) else None
        except (msgspec.DecodeError, UnicodeDecodeError, AttributeError, TypeError, KeyError):
            return None

    def runtime_classes(self) -> list[str] | None:
        """Names of the RuntimeClasses; None when they could not be read."""
        try:
            body = self.get("/apis/node.k8s.io/v1/runtimeclasses", {"limit": PAGE})
            items = msgspec.json.decode(body).get("items") or []
            return sorted(str(item["metadata"]["name"]) for item in items)
        except ApiError as error:
            return [] if error.status in (403, 404) else None
        except (msgspec.DecodeError, UnicodeDecodeError, AttributeError, TypeError, KeyError):
            return None
