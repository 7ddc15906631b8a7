"""Plugins that run where people set a label: what is to be said of a node without it."""

from __future__ import annotations

from collections.abc import Callable

from kube.objects import Node
from stacks.engine.makers import maker
from stacks.engine.names import labels_of
from stacks.engine.shell import label_node
from stacks.engine.software.base import LEFT_OUT, NOT_NEEDED, UNKNOWN, WANTED, Expected, Software, Statement
from stacks.shared.served import by_another, labelled_for_another
from wording.said import sentence

_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")


def without_label(
    node: Node, software: Software, label: tuple[str, str], made_by: str, mine: Callable[[str], bool]
) -> Expected:
    """label: that the plugin's DaemonSet selects. made_by: whose cards it gives out. mine: the plugin's own resources.

    Raises LookupError: no stack is of this maker.
    """
    text, labels, made = "=".join(label), labels_of(node), maker(made_by)
    if any(name in labels for name in _CONTROL_PLANE):
        return Statement(state=NOT_NEEDED, why=sentence("A control-plane node without the label {label}.", label=text))
    if by_another(node, mine) or labelled_for_another(node, software):
        return LEFT_OUT
    if made.labelled(node):
        return WANTED
    if made.ruled_out(node):
        return LEFT_OUT
    return Statement(
        state=UNKNOWN,
        why=sentence(
            "The label {label} is missing, and the API does not report whether this node has a card.", label=text
        ),
        remedy=label_node(node, label),
    )
