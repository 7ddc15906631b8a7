"""The scheduler's message of a pod that no node takes, taken apart: how many nodes, and why each of them does not.

The form is that of `FitError` and of preemption: "0/34 nodes are available: 27 node(s) …, 7 Insufficient …. preemption: 0/34 nodes
are available: …". A reason is what a plugin or an extender wrote; what it means is not known here. Whatever has another form is kept
as it is. Linear in the length of the text.
Source: Kubernetes 1.28 to 1.36, pkg/scheduler/framework/types.go and preemption/preemption.go.
"""

from __future__ import annotations

import re

import msgspec

_WHOLE = re.compile(r"(\d{1,9})/(\d{1,9}) nodes? (?:are|is) available:? ?")
#: A plugin that runs before may end with a comma: "still not schedulable, preemption: …".
_PREEMPTION = re.compile(r"(?:^|[.,] ?)preemption: ")
#: Reasons stand one after the other, each with its count; a comma without a count belongs to a reason.
_NEXT = re.compile(r", (?=\d{1,9} \S)")
_COUNTED = re.compile(r"(\d{1,9}) (\S.*)", re.DOTALL)
#: More kinds of reasons than this are not taken apart: an extender may give each node its own.
MOST_REASONS = 500


class Reason(msgspec.Struct, frozen=True):
    """nodes: of how many it was said; None where it was said of the pod, before any node was looked at."""

    text: str
    nodes: int | None = None


class Unschedulable(msgspec.Struct, frozen=True):
    """nodes: how many the scheduler knew; None: the message has another form, and is `rest`. reasons: why nodes do not take the pod.

    preemption: why deleting other pods would not help. further: sentences of other plugins. rest: what was not taken apart.
    """

    nodes: int | None = None
    reasons: tuple[Reason, ...] = ()
    preemption: tuple[Reason, ...] = ()
    further: tuple[str, ...] = ()
    rest: str = ""


def read(message: str) -> Unschedulable:
    """Take a message apart. Never raises."""
    text = message.strip()
    whole = _WHOLE.match(text)
    if whole is None:
        return Unschedulable(rest=text)
    said, preempted = _split(text[whole.end() :])
    reasons, further, rest = _reasons(said)
    preemption, more, late = _reasons(_without_count(preempted))
    return Unschedulable(
        nodes=int(whole[2]),
        reasons=reasons,
        preemption=preemption,
        further=(*further, *more),
        rest=" ".join(filter(None, (rest, late))),
    )


def _split(body: str) -> tuple[str, str]:
    """(what was said of nodes, what was said of preemption)."""
    found = _PREEMPTION.search(body)
    return (body, "") if found is None else (body[: found.start()], body[found.end() :])


def _without_count(text: str) -> str:
    found = _WHOLE.match(text)
    return text if found is None else text[found.end() :]


def _reasons(text: str) -> tuple[tuple[Reason, ...], tuple[str, ...], str]:
    """(reasons, sentences after them, what is too much)."""
    plain = text.strip()
    if not _COUNTED.match(plain):
        told = _sentence(plain)
        return ((Reason(told),) if told else ()), (), ""
    # Names have dots, never followed by a blank: the first such dot ends the list.
    listed, _, after = plain.partition(". ")
    parts = _NEXT.split(listed, maxsplit=MOST_REASONS)
    rest = parts.pop() if len(parts) > MOST_REASONS else ""
    counted = [match for part in parts if (match := _COUNTED.fullmatch(_sentence(part)))]
    further = _sentence(after)
    return tuple(Reason(one[2], int(one[1])) for one in counted), ((further,) if further else ()), rest


def _sentence(text: str) -> str:
    return text.strip().rstrip(".,").rstrip()
