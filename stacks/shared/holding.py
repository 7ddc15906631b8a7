"""What systems have in common whose scheduler writes the card of a pod on it: the allocation of one container, and findings."""

from __future__ import annotations

from kube.objects import Pod
from stacks.engine.base import ANNOTATION, ERROR, MEMORY, WARNING, WHOLE, Allocation, Finding
from stacks.engine.names import MAX_CARDS
from stacks.engine.requests import Need, allocation, name_of


def held(
    pod: Pod,
    container: str,
    resource: str,
    quantity: int,
    stack: str,
    *,
    card: str | None = None,
    memory: int | None = None,
    core: int | None = None,
    whole: bool = False,
    evidence: str = ANNOTATION,
) -> Allocation:
    """One container's hold; evidence: where the card comes from, if it is known."""
    return allocation(
        pod,
        Need(container, resource, quantity, 0),
        stack,
        WHOLE if whole else MEMORY,
        card=card,
        evidence=evidence,
        memory_bytes=memory,
        core_percent=core,
    )


def warning(code: str, pod: Pod, text: str) -> Finding:
    """A finding about a pod."""
    severity = ERROR if code == "index-out-of-range" else WARNING
    return Finding(code=code, severity=severity, text=text, pod=name_of(pod))


def indices(text: str | None) -> list[int] | None:
    """Numbers of cards, as "0" or "1,0"; None when it is no such list."""
    parts = [part.strip() for part in (text or "").split(",")]
    if len(parts) > MAX_CARDS or not all(part.isascii() and part.isdigit() and len(part) <= 4 for part in parts):
        return None
    return [int(part) for part in parts]
