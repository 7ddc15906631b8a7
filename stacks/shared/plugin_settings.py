"""What the environment of a plugin says, also where a variable has its value from a ConfigMap.

Kubernetes takes the last value of a variable in `env`, and that before any of `envFrom`. Must not know any plugin.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kube.config_maps import ConfigMap
from kube.objects import Container, EnvFrom, Pod, TemplateContainer
from stacks.engine.base import INFO, Context, Finding, Selection
from stacks.engine.config_maps import found_in
from wording.said import sentence

UNREAD = "plugin-settings-unread"
#: It was changed when the plugin ran already, which goes by what it said before; it cannot be read.
LATE, BAD = "late", "bad"
_WHY = {
    "": sentence("It does not exist, or gpudash is not allowed to read it. Run `gpudash cluster check NAME`."),
    LATE: sentence(
        "It changed after the plugin started on this node. Restart the plugin pod to apply the current setting."
    ),
    BAD: sentence("Its value is invalid. Check the plugin log."),
}
#: No setting that is read is longer.
_LONGEST = 256


class Stated(NamedTuple):
    """One variable. text: None where it is not set, or where it is not known what it is set to; known tells these apart.

    place: the ConfigMap that it is in ("namespace/name, key KEY"); "" where it is in none. why: where that is in the mirror, why
    it is not known all the same (`LATE`, `BAD`).
    """

    known: bool
    text: str | None = None
    place: str = ""
    why: str = ""


UNSET = Stated(True)


class Reader(NamedTuple):
    """Who reads: the namespace of the pod, where its ConfigMaps are, and when it started (RFC 3339; "" where it is not known)."""

    context: Context
    stack: str
    namespace: str
    started_at: str = ""


def started_at(pods: Iterable[Pod]) -> str:
    """When the first of these pods started; "" where none says it."""
    return min((pod.status.startTime for pod in pods if pod.status and pod.status.startTime), default="")


def stated(containers: Iterable[Container], name: str, reader: Reader) -> Stated:
    """What these containers' environment says of a variable."""
    found = UNSET
    for container in containers:
        for source in _whole(container):
            prefix = source.prefix or ""
            if not name.startswith(prefix):
                continue
            ref = source.configMapRef  # without one it is a Secret, which may have it
            here = _in_map(reader, ref.name, name.removeprefix(prefix), may_miss=True) if ref else Stated(False)
            found = here if here != UNSET else found
        for item in container.env or ():
            if item.name == name:
                chosen = item.valueFrom.configMapKeyRef if item.valueFrom else None
                if chosen is not None:
                    found = _in_map(reader, chosen.name, chosen.key, may_miss=bool(chosen.optional))
                else:
                    found = Stated(item.value is not None, item.value)
    return found


def _in_map(reader: Reader, name: str, key: str, may_miss: bool) -> Stated:
    place = f"{reader.namespace}/{name}, key {key}"
    there = found_in(reader.context, reader.stack, reader.namespace, name)
    if there is None:
        return Stated(False, None, place)
    if "" < reader.started_at < there.changed_at:
        return Stated(False, None, place, LATE)
    said = there.said[reader.stack]
    if key not in said:
        return UNSET if may_miss else Stated(False, None, place)
    return Stated(True, said[key], place)


def _whole(container: Container) -> list[EnvFrom]:
    return (container.envFrom if isinstance(container, TemplateContainer) else None) or []


def wanted(containers: Iterable[Container], names: tuple[str, ...], namespace: str, stack: str) -> list[Selection]:
    """The ConfigMaps that these variables have their values from."""
    found = []
    for container in containers:
        for source in _whole(container):
            keys = tuple(
                name.removeprefix(source.prefix or "") for name in names if name.startswith(source.prefix or "")
            )
            if source.configMapRef is not None and keys:
                found.append(Selection(stack, namespace, source.configMapRef.name, keys=keys))
        for item in container.env or ():
            key = item.valueFrom.configMapKeyRef if item.valueFrom else None
            if item.name in names and key is not None:
                found.append(Selection(stack, namespace, key.name, keys=(key.key,)))
    return found


def of_keys(found: ConfigMap, keys: tuple[str, ...]) -> dict[str, str]:
    """Of a ConfigMap the texts of these keys, as far as a setting goes."""
    data = found.data or {}
    return {key: data[key][:_LONGEST] for key in keys if key in data}


def unread(what: str, said: Stated) -> Finding:
    """A setting that decides what is shown is in a ConfigMap that gpudash does not have, or that the plugin does not go by."""
    text = sentence(
        "{what} is unknown. The plugin reads this setting from the ConfigMap {place}. {why}",
        what=what,
        place=said.place[:300],
        why=_WHY[said.why],
    )
    return Finding(code=UNREAD, severity=INFO, text=text)
