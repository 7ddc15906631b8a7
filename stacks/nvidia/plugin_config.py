"""How NVIDIA's plugin shares cards by its own configuration, for nodes on which no label of GPU Feature Discovery says it.

The configurations are texts of one ConfigMap that the plugin has as a folder. The node's label nvidia.com/device-plugin.config names
the one that counts there, else the plugin's default, else a fallback: the one called "default", or the only one. Without GPU Feature
Discovery nothing on the node tells that its devices are shares.
Source: NVIDIA/k8s-device-plugin v0.20.0 (api/config/v1, cmd/config-manager, deployments/helm), NVIDIA/gpu-operator a22dbf6.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import msgspec

from kube.config_maps import ConfigMap
from kube.decoders import decoder
from kube.objects import DaemonSet, Node, Pod
from kube.quantity import count
from stacks.engine.base import Context, Finding, Selection
from stacks.engine.components import component
from stacks.engine.config_maps import found_in
from stacks.engine.names import labels_of, too_long
from stacks.engine.requests import holds
from stacks.engine.stack import ConfigMaps, Labels
from stacks.nvidia import mig
from stacks.nvidia.gfd import PREFIX
from stacks.shared.plugin_daemonsets import File, containers, file_at, of, option
from stacks.shared.plugin_settings import BAD, LATE, Stated, started_at, unread
from stacks.shared.yaml_text import Read, mapping, read, sequence, word
from wording.said import gettext_noop, sentence

NAME, PLUGIN, DISCOVERY = "nvidia", "device-plugin", "gpu-feature-discovery"
LABEL = "nvidia.com/device-plugin.config"
#: Variables of the plugin's containers: the default's name, what to do without one, and a file of its own.
DEFAULT, FALLBACKS, FILE = "DEFAULT_CONFIG", "FALLBACK_STRATEGIES", "CONFIG_FILE"
_FOLDER = "/available-configs"
_LONGEST_KEY = 253
#: No card is given out more often.
_MOST = 10_000


class Shared(msgspec.Struct, frozen=True):
    """What one configuration says. strategy: "none", "time-slicing", "mps". replicas: (resource, number) of each device."""

    strategy: str = "none"
    replicas: tuple[tuple[str, int], ...] = ()


class Said(NamedTuple):
    """labels: as GPU Feature Discovery would write them. place: the ConfigMap that says so. findings: where it is not known."""

    labels: dict[str, str]
    place: str = ""
    findings: tuple[Finding, ...] = ()


_NOTHING = Said({})


def said(node: Node, pods: list[Pod], context: Context) -> Said:
    """What the plugin's configuration says of the node; nothing where labels say it, or the plugin has none."""
    labels = labels_of(node)
    if any(f"{PREFIX}.{name}" in labels for name in ("replicas", "sharing-strategy", "count")):
        return _NOTHING
    plugins = of(context.daemonsets, PLUGIN)
    files = {(file, found.metadata.uid): found for found in plugins if (file := _file(found)) is not None}
    if not files or len(files) < len(plugins):  # one without a configuration may be the one that runs here
        return _NOTHING
    running = [pod for pod in pods if component(pod) == PLUGIN and holds(pod)]
    answers = {_answer(file, found, labels, running, context) for (file, _), found in files.items()}
    shared, why = answers.pop() if len(answers) == 1 else (None, None)
    if shared is not None and why is not None:
        return Said(_as_labels(shared), why.place)
    return Said({}, findings=(unread(sentence("The number of shares per card"), why),) if why is not None else ())


def _file(found: DaemonSet) -> File | None:
    """The folder of configurations, or the file that the plugin is started with."""
    own = option(found, "config-file") or _variable(found, FILE)
    return file_at(found, _FOLDER) or (file_at(found, own) if own else None)


def _variable(found: DaemonSet, name: str) -> str:
    values = [item.value for container in containers(found) for item in container.env or () if item.name == name]
    return next((value for value in reversed(values) if value), "")


def _answer(
    file: File, found: DaemonSet, labels: Labels, running: list[Pod], context: Context
) -> tuple[Shared | None, Stated | None]:
    """(what is said, where). None and a place: it is there, and is not known."""
    place = f"{file.namespace}/{file.name}"
    there = found_in(context, NAME, file.namespace, file.name)
    if there is None:
        return None, Stated(False, None, place)
    since = started_at(running)
    if "" < since < there.changed_at:
        return None, Stated(False, None, place, LATE)
    texts = there.said[NAME]
    key = (
        file.key or labels.get(LABEL, "") or _variable(found, DEFAULT) or _fallback(texts, _variable(found, FALLBACKS))
    )
    if not key:
        return Shared(), Stated(True, None, place)
    shared = _decoded(texts.get(key, ""))
    return shared, Stated(shared is not None, None, f"{place}, key {key}", BAD if shared is None else "")


def _fallback(texts: dict[str, str], strategies: str) -> str:
    """ "": an empty configuration, as the plugin has where no strategy helps."""
    for strategy in strategies.split(","):
        if strategy.strip() == "named" and "default" in texts:
            return "default"
        if strategy.strip() == "single" and len(texts) == 1:
            return next(iter(texts))
    return ""


def _as_labels(shared: Shared) -> dict[str, str]:
    """What is not named is not shared."""
    made = {f"{PREFIX}.replicas": "1", f"{PREFIX}.sharing-strategy": "none"}
    for resource, number in shared.replicas:
        made |= {f"{resource}.replicas": str(number), f"{resource}.sharing-strategy": shared.strategy}
    return made


@lru_cache(maxsize=64)
def _decoded(text: str) -> Shared | None:
    try:
        return decoder(Shared).decode(text) if not too_long(text) else None
    except msgspec.MsgspecError:
        return None


def _where(found: DaemonSet) -> tuple[object, object]:
    """What decides on which nodes it runs, apart from taints."""
    spec = found.spec.template.spec if found.spec and found.spec.template else None
    return (spec.nodeSelector or None, spec.affinity) if spec is not None else (None, None)


def _wanted(daemonsets: tuple[DaemonSet, ...]) -> Iterable[Selection]:
    """None where GPU Feature Discovery runs with the plugin: its labels say the same, of each node by itself."""
    discovered = [_where(found) for found in of(daemonsets, DISCOVERY)]
    for found in of(daemonsets, PLUGIN):
        if _where(found) not in discovered and (None, None) not in discovered and (file := _file(found)) is not None:
            yield Selection(NAME, file.namespace, file.name)


def _kept(found: ConfigMap, keys: tuple[str, ...]) -> dict[str, str]:
    """Of each configuration how it shares; "" of one that cannot be read."""
    kept: dict[str, str] = {}
    for key, text in (found.data or {}).items():
        shared = _shared(read(text)) if len(key) <= _LONGEST_KEY else None
        kept[key] = msgspec.json.encode(shared).decode() if shared is not None else ""
    return kept


def _shared(config: Read) -> Shared | None:
    """None where the plugin would not start with it either."""
    if config is not None and not isinstance(config, dict):
        return Shared() if config == "" else None
    sharing = mapping(mapping(config).get("sharing"))
    for name, strategy in (("mps", "mps"), ("timeSlicing", "time-slicing")):
        resources = sequence(mapping(sharing.get(name)).get("resources"))
        if resources:
            pairs = [(word(mapping(one).get("name")), count(word(mapping(one).get("replicas")))) for one in resources]
            replicas = tuple((name, number) for name, number in pairs if number is not None and 2 <= number <= _MOST)
            known = all(resource == PREFIX or mig.profile_of(resource) for resource, _ in pairs)
            return Shared(strategy, replicas) if known and len(dict(replicas)) == len(pairs) else None
    return Shared() if config is not None else None


CONFIG_MAPS = ConfigMaps(
    wanted=_wanted,
    kept=_kept,
    read_for=gettext_noop("the number of shares per card of the NVIDIA plugin, if no label reports it"),
)
