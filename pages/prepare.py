"""Set up a stack: the files that a cluster needs for it, and what labels its nodes lack, from the synced nodes alone."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from inventory.models import Cluster
from inventory.prepared import prepared_of
from pages.clusters import found_cluster
from pages.frame.freshness import incomplete, notices
from pages.frame.links import node_url, with_query
from pages.frame.refusals import BadParameter, answered
from runtime.scope import current
from stacks import STACKS
from stacks.engine.preparing import setups
from stacks.engine.setup import COMMANDS, DIFFERS, HIDDEN, HOST, MISSING, OBJECTS, PRESENT, REMOVE, VALUES
from stacks.engine.shell import command

_SIGNS = {PRESENT: "good", HIDDEN: "none"}


@require_safe
@answered
def prepare(request: HttpRequest, name: str) -> HttpResponse:
    cluster = found_cluster(name)
    if not current().sees_whole(cluster.pk):
        raise PermissionDenied
    stack = request.GET.get("stack", "")
    if stack and stack not in setups():
        told = {"name": stack[:100], "names": ", ".join(sorted(setups()))}
        raise BadParameter({"stack": [_("Unknown stack: %(name)s. Must be one of: %(names)s.") % told]})
    context: dict[str, Any] = {
        "cluster": cluster,
        "stack": stack,
        "stacks": _stacks(cluster),
        "notices": notices(request, {cluster.pk}),
        "incomplete": incomplete(request, {cluster.pk}),
    }
    return render(request, "prepare/page.html", context | (_content(cluster, stack) if stack else {}))


def _stacks(cluster: Cluster) -> list[tuple[str, str, str, str]]:
    """(word, label, address, what is rendered)."""
    here = reverse("cluster-prepare", args=[cluster.name])
    known = {stack.setup.name: (stack.label, stack.setup.renders) for stack in STACKS if stack.setup is not None}
    by_label = sorted(known.items(), key=lambda one: one[1][0].lower())
    return [(word, _(label), with_query(here, stack=word), text) for word, (label, text) in by_label]


def _content(cluster: Cluster, stack: str) -> dict[str, Any]:
    synced = prepared_of(cluster.pk, stack)
    base = ("gpudash", "cluster", "prepare", cluster.name, "--stack", stack)
    states, kinds = _state_words(), _kind_words()
    return {
        "synced": synced,
        "prepared": synced.prepared,
        "node_url": node_url(cluster.name, synced.node) if synced.node else "",
        "differences": [
            (one.what, _SIGNS.get(one.state, "warning"), states[one.state], one.says) for one in synced.prepared.ordered
        ],
        "files": [(one, kinds[one.kind]) for one in synced.prepared.files],
        "write_command": command(*base, "--output", "DIR"),
        "diff_command": command(*base, "--diff"),
    }


def _state_words() -> dict[str, str]:
    return {
        PRESENT: _("present"),
        MISSING: _("missing"),
        DIFFERS: _("differs"),
        REMOVE: _("to remove"),
        HIDDEN: _("not visible"),
    }


def _kind_words() -> dict[str, str]:
    return {
        OBJECTS: _("manifests"),
        HOST: _("host file"),
        VALUES: _("values"),
        COMMANDS: _("commands"),
    }
