"""Rows of ConfigMaps, and which of them are watched: those that the DaemonSets of device plugins name, nothing else.

A cluster may have a hundred thousand ConfigMaps, and what is in them is nobody's business. So each is listed and watched by its name
in its namespace, which the API server answers from one key and a role can be cut down to; those that are written for each node,
by their label, or among all of the one namespace where only their names tell them. The watcher of DaemonSets writes down which these
are (`choose`), in the transaction of what it read.
"""

from __future__ import annotations

import msgspec
from django.db.models.functions import Now

from inventory.mirror.anew import anew
from inventory.mirror.values import Columns, common_columns, plain
from inventory.models import ConfigMap as ConfigMapRow
from inventory.models import DaemonSet as DaemonSetRow
from inventory.models import Watch
from inventory.models.cluster import Kind, WatchState
from kube.config_maps import ConfigMap
from kube.decoders import decoder
from kube.objects import DaemonSet
from kube.source import Place
from stacks.engine.base import Context, ReadConfigMap, Selection
from stacks.engine.config_maps import place, selections, selects, trim_config_map
from wording.said import sentence, stored

CHANGED = "the plugins use other ConfigMaps"
NOTHING = sentence("no device plugin of this cluster reads settings from a ConfigMap")
NOT_TOLD = "DaemonSets are not read, so the ConfigMaps with plugin settings are unknown"

_daemonset = decoder(DaemonSet)
_selections = decoder(tuple[Selection, ...])
_kept = decoder(ReadConfigMap)


def config_map_row(found: ConfigMap, context: Context) -> Columns | None:
    trimmed = trim_config_map(found, context.selections)
    if trimmed is None:
        return None
    mine = next(one for one in context.selections if selects(one, found.metadata))
    return common_columns(found.metadata, trimmed) | {
        "namespace": plain(found.metadata.namespace, 253),
        "node_name": plain(trimmed.node, 253),
        "place": words(mine)[:600],
    }


def dirty_by_config_map(facts: str) -> set[tuple[str, str]]:
    """The node that it speaks of; else all nodes of the systems that read it."""
    try:
        found = _kept.decode(facts)
    except msgspec.DecodeError:  # somebody wrote into the table: then it may have been anything
        return {("", "")}
    return {(found.node, "")} if found.node else {("", stack) for stack in found.said}


def words(selection: Selection) -> str:
    """What is selected: "namespace/name", "namespace/beginning…", or "namespace, label key=value"."""
    if selection.name or selection.prefix:
        return f"{selection.namespace}/{selection.name or selection.prefix + '…'}"
    return f"{selection.namespace}, label {selection.label}"


def places(chosen: tuple[Selection, ...]) -> tuple[Place, ...]:
    """Where the API server is asked for them, each place once."""
    found: dict[tuple[str, str, str], Place] = {}
    for one in chosen:
        path = f"/api/v1/namespaces/{one.namespace}/configmaps"
        found.setdefault(place(one), Place(path, _query(one), words(one)))
    return tuple(found.values())


def _query(one: Selection) -> tuple[tuple[str, str], ...]:
    if one.prefix:
        return ()
    return (("fieldSelector", f"metadata.name={one.name}") if one.name else ("labelSelector", one.label),)


def chosen(selection: str) -> tuple[Selection, ...]:
    """What is stored with the watch; nothing where it cannot be read."""
    try:
        return _selections.decode(selection) if selection else ()
    except msgspec.DecodeError:
        return ()


def stored_places(selection: str) -> tuple[Place, ...]:
    """Where they are asked for, by what is stored with the watch."""
    return places(chosen(selection))


def choose(cluster_id: int) -> None:
    """Write down which ConfigMaps are to be read, by the DaemonSets as they are stored. Where these are others, all begins anew."""
    rows = DaemonSetRow.objects.filter(cluster_id=cluster_id).order_by("id").values_list("facts", flat=True)
    _write(cluster_id, selections(tuple(_daemonset.decode(facts) for facts in rows)), NOTHING)


def choose_nothing(cluster_id: int) -> None:
    """The DaemonSets cannot be read: what is to be read stays as it was, or is nothing."""
    if Watch.objects.filter(cluster_id=cluster_id, kind=Kind.CONFIGMAPS, selection="").exists():
        _write(cluster_id, (), NOT_TOLD)


def _write(cluster_id: int, wanted: tuple[Selection, ...], nothing: str) -> None:
    text = msgspec.json.encode(wanted).decode()
    watch = Watch.objects.filter(cluster_id=cluster_id, kind=Kind.CONFIGMAPS)
    if watch.filter(selection=text).exists():
        watch.filter(state=WatchState.NOT_NEEDED).exclude(reason=nothing).update(
            reason=nothing, reason_wording=stored(nothing)
        )
        return
    columns = anew(CHANGED) | {"selection": text, "sent_at": None, "next_try_at": None}
    if not wanted and not ConfigMapRow.objects.filter(cluster_id=cluster_id).exists():
        columns |= {"state": WatchState.NOT_NEEDED, "state_since": Now(), "reason": nothing, "relist_reason": ""}
        columns["reason_wording"] = stored(nothing)
    watch.update(**columns)
