"""GET /pods/{name}/log: parameters, the answers of a container that has not started, and the stream of lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from fleetsim.clock import rfc3339_nano
from fleetsim.fleet import Fleet
from fleetsim.request import Request
from fleetsim.status import bad_request

#: Seconds between looks for new lines while following.
FOLLOW_S = 0.25


@dataclass(frozen=True)
class LogRequest:
    """Parameters of the log endpoint (PodLogOptions)."""

    container: str
    follow: bool
    timestamps: bool
    previous: bool
    tail_lines: int | None
    since_s: int | None
    limit_bytes: int | None

    def container_of(self, pod: dict[str, Any]) -> str:
        """The container asked for, or the only one. Raises ApiError 400."""
        spec = pod.get("spec") or {}
        mains = [one["name"] for one in spec.get("containers") or []]
        inits = [one["name"] for one in spec.get("initContainers") or []]
        name = pod["metadata"]["name"]
        if not self.container and len(mains) == 1:
            return str(mains[0])
        if not self.container:
            raise bad_request(
                f"a container name must be specified for pod {name}, choose one of: [{' '.join(inits + mains)}]"
            )
        if self.container not in inits + mains:
            raise bad_request(f"container {self.container} is not valid for pod {name}")
        return self.container


def parse_log_request(request: Request) -> LogRequest:
    """Raises ApiError 400 on a number that is none."""
    return LogRequest(
        request.query.get("container", ""),
        request.flag("follow"),
        request.flag("timestamps"),
        request.flag("previous"),
        request.number("tailLines"),
        request.number("sinceSeconds"),
        request.number("limitBytes"),
    )


class LogStream:
    """The lines of one container, once or followed to the end of the container."""

    def __init__(
        self, fleet: Fleet, pod: dict[str, Any], container: str, asked: LogRequest, stopped: Callable[[], bool]
    ) -> None:
        self.fleet = fleet
        self.pod = pod
        self.container = container
        self.asked = asked
        self.stopped = stopped
        self.left = asked.limit_bytes

    def check_started(self) -> None:
        """Raises ApiError 400 as the kubelet does for a container that has not started."""
        name = self.pod["metadata"]["name"]
        if self.asked.previous:
            raise bad_request(f'previous terminated container "{self.container}" in pod "{name}" not found')
        waiting = (self._state().get("waiting") or {}).get("reason")
        if waiting is not None and self.fleet.log_of(self.pod, self.container) is None:
            detail = (
                waiting if waiting in ("ContainerCreating", "PodInitializing") else f"trying and failing: {waiting}"
            )
            if waiting in ("ErrImagePull", "ImagePullBackOff"):
                detail = "trying and failing to pull image"
            raise bad_request(f'container "{self.container}" in pod "{name}" is waiting to start: {detail}')

    def _state(self) -> dict[str, Any]:
        status = self.pod.get("status") or {}
        rows = (status.get("containerStatuses") or []) + (status.get("initContainerStatuses") or [])
        found = [row.get("state") or {} for row in rows if row.get("name") == self.container]
        return found[0] if found else {"waiting": {"reason": "ContainerCreating"}}

    def chunks(self) -> Iterator[bytes]:
        lines, ended = self._visible(0)
        seen = len(lines)
        chosen = [line for line in lines if self._recent(line[0])]
        if self.asked.tail_lines is not None:
            chosen = chosen[-self.asked.tail_lines :] if self.asked.tail_lines else []
        yield self._bytes(chosen)
        while self.asked.follow and not ended and not self.stopped() and self.left != 0:
            with self.fleet.store.changed:
                self.fleet.store.changed.wait(FOLLOW_S)
            lines, ended = self._visible(seen)
            seen += len(lines)
            yield self._bytes(lines)

    def _recent(self, at: float) -> bool:
        return self.asked.since_s is None or at >= self.fleet.now - self.asked.since_s

    def _visible(self, start: int) -> tuple[list[tuple[float, str]], bool]:
        log = self.fleet.log_of(self.pod, self.container)
        return ([], True) if log is None else log.visible(self.fleet.now, start)

    def _bytes(self, lines: list[tuple[float, str]]) -> bytes:
        stamped = self.asked.timestamps
        text = "".join(f"{rfc3339_nano(at)} {line}" if stamped else line for at, line in lines).encode()
        if self.left is not None:
            text = text[: self.left]
            self.left -= len(text)
        return text
