"""DaemonSets of device plugins: their containers, and the ConfigMaps that these have as files. Must not know any plugin."""

from __future__ import annotations

from typing import NamedTuple

from kube.objects import DaemonSet, TemplateContainer
from stacks.engine.components import component_of


class File(NamedTuple):
    """A file that is a text of a ConfigMap, or a folder of one. key: "" for the folder."""

    namespace: str
    name: str
    key: str


def of(daemonsets: tuple[DaemonSet, ...], *parts: str) -> list[DaemonSet]:
    """Those that are one of these components, by their own labels or by those of their pods."""
    return [found for found in daemonsets if not {*parts}.isdisjoint(_components(found))]


def _components(found: DaemonSet) -> tuple[str, str]:
    template = found.spec.template if found.spec else None
    return component_of(found.metadata.labels), component_of(template.metadata.labels if template else None)


def containers(found: DaemonSet) -> list[TemplateContainer]:
    template = found.spec.template if found.spec else None
    return (template.spec.containers if template and template.spec else None) or []


def file_at(found: DaemonSet, path: str) -> File | None:
    """What lies at a path of a container; None where it is nothing of a ConfigMap."""
    template = found.spec.template if found.spec else None
    volumes = (template.spec.volumes if template and template.spec else None) or []
    maps = {volume.name: volume.configMap.name for volume in volumes if volume.configMap is not None}
    for container in containers(found):
        for mount in container.volumeMounts or ():
            base, name = mount.mountPath.rstrip("/"), maps.get(mount.name)
            if name is None or not base:
                continue
            if path == base:
                return File(found.metadata.namespace, name, mount.subPath or "")
            rest = path.removeprefix(f"{base}/")
            if rest != path and not mount.subPath and "/" not in rest:
                return File(found.metadata.namespace, name, rest)
    return None


def option(found: DaemonSet, name: str) -> str | None:
    """The value of an option of the command line, "--name=value" or "--name value"; the last one counts. None: it is not there."""
    value = None
    for container in containers(found):
        words = [word for part in (*(container.command or ()), *(container.args or ())) for word in part.split()]
        for place, word in enumerate(words):
            flag, equals, rest = word.lstrip("-").partition("=")
            if word.startswith("-") and flag == name:
                value = rest if equals else words[place + 1] if place + 1 < len(words) else ""
    return value
