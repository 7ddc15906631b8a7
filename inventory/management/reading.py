"""A cluster as `cluster prepare` reads it: its version, its nodes, its DaemonSets, and the objects that a stack's setup names.

Only get and list, with the credentials of the watchers. What may not be read is noted and not guessed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from inventory import clusters
from inventory.models import Cluster
from kube.client import ApiError, Client
from kube.decode import Decoder, NotAList
from kube.objects import Node
from kube.pages import get_page
from kube.plugin import LIMIT_S as PLUGIN_S
from stacks.engine.setup import Found, Json, Key, Setup, Wanted, place_of, text_at
from stacks.engine.versions import version_of

_PAGE, _ANSWER_S = 500, 30.0
_UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
_DAEMONSETS = Wanted("DaemonSet")


def read_cluster(cluster: Cluster, setup: Setup) -> tuple[Found, list[str]]:
    """What is there, and notes on what could not be read. Raises ApiError and BadKubeconfig."""
    client = clusters.client_of(cluster, PLUGIN_S)
    try:
        return _read(client, setup)
    finally:
        client.close()


def _read(client: Client, setup: Setup) -> tuple[Found, list[str]]:
    version = text_at(_document(client, "/version"), "gitVersion")[:64]
    nodes, unread = _nodes(client)
    found = Found(version=version, nodes=nodes, objects={})
    found = _with(client, found, [_DAEMONSETS])
    found = _with(client, found, setup.reads(found))
    notes = [f"Excluded: {unread} unreadable node{'' if unread == 1 else 's'}."] if unread else []
    return found, notes


def _nodes(client: Client) -> tuple[list[Node], int]:
    """The nodes, and how many more there are that do not decode."""
    decoder, nodes, unread, token = Decoder(Node), [], 0, ""
    while True:
        body = _page(client, "/api/v1/nodes", token)
        try:
            page = decoder.page(body)
        except NotAList as error:
            raise ApiError(0, "NotKubernetes", f"{client.server}: nodes: {error}") from None
        nodes += page.objects
        unread += len(page.unread)
        token = page.continue_token
        if not token:
            return nodes, unread


def _with(client: Client, found: Found, wanted: Iterable[Wanted]) -> Found:
    """The same with these objects."""
    objects, hidden = dict(found.objects or {}), list(found.hidden)
    version = version_of(found.version)
    for one in wanted:
        try:
            objects |= _objects(client, one, place_of(one, version))
        except ApiError as error:
            if error.status == 403:
                hidden.append(one)
            elif error.status != 404:
                raise
    return Found(version=found.version, nodes=found.nodes, objects=objects, hidden=tuple(hidden))


def _objects(client: Client, wanted: Wanted, path: str) -> dict[Key, Json]:
    if wanted.name:
        return {wanted.key: _document(client, path)}
    found: dict[Key, Json] = {}
    token = ""
    while True:
        page = _decoded(client, path, _page(client, path, token))
        items = page.get("items")
        for item in items if isinstance(items, list) else ():
            if name := text_at(item, "metadata", "name"):
                found[Key(wanted.kind, text_at(item, "metadata", "namespace"), name)] = item
        token = text_at(page, "metadata", "continue")
        if not token:
            return found


def _page(client: Client, path: str, token: str) -> bytes:
    answered = get_page(client, path, {"continue": token} if token else {}, _PAGE)
    answered.room.give_back()
    return answered.body


def _document(client: Client, path: str) -> Json:
    return _decoded(client, path, client.get(path, timeout_s=_ANSWER_S))


def _decoded(client: Client, path: str, body: bytes) -> Json:
    try:
        value: Any = msgspec.json.decode(body)
    except _UNREADABLE:
        value = None
    if not isinstance(value, dict):
        raise ApiError(0, "NotKubernetes", f"{client.server} responds to {path}, but not as a Kubernetes API server")
    return value
