"""Texts of files: YAML that is dumped, never put together, and scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from kube.objects import Node
from stacks.engine.setup import Json, Label, named
from stacks.engine.shell import label_node
from wording.said import sentence, series

#: A text that every reader of YAML takes for a text: "1e3" and "y" are others for some, and a colon or a hash ends one.
_PLAIN = re.compile(r"[A-Za-z/][A-Za-z0-9 ._/@-]*[A-Za-z0-9._/]|[A-Za-z][A-Za-z0-9./_-]*:[A-Za-z0-9][A-Za-z0-9._/-]*")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"))


class _Dumper(yaml.SafeDumper):
    """Quotes what is not plainly a text, indents lists, and makes no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    plain = _PLAIN.fullmatch(value) is not None and value.lower() not in _WORDS
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if plain else "'")


_Dumper.add_representer(str, _text)


def yaml_text(*documents: Json) -> str:
    """YAML of some objects, keys in the order in which they stand."""
    return yaml.dump_all(
        documents,
        Dumper=_Dumper,
        sort_keys=False,
        width=120,
        default_flow_style=False,
        explicit_start=len(documents) > 1,
    )


def json_text(value: Any) -> str:
    return json.dumps(value, indent=2) + "\n"


def comment(text: str) -> str:
    """Lines of a comment of YAML, TOML or a shell. text: ours; nothing that a cluster says belongs in it."""
    return "".join(f"# {line}\n" if line else "#\n" for line in text.splitlines())


def script(lines: Iterable[str]) -> str:
    """A script that ends at the first command that fails."""
    return "#!/bin/sh\nset -eu\n" + "".join(f"{line}\n" for line in lines)


def label_commands(label: Label) -> list[str]:
    """The commands that give the label to the nodes that lack it."""
    return [label_node(node, (label.key, label.value), overwrite=True) for node in named(label.lacking)]


def names(nodes: Iterable[Node], most: int = 10) -> str:
    """Some names of nodes for a sentence: "a, b and 3 more"."""
    return some([node.metadata.name for node in nodes], most)


def some(texts: Sequence[str], most: int = 10) -> str:
    shown = series(texts[:most], ", ")
    if len(texts) <= most:
        return shown
    return sentence("{shown} and {number} more", shown=shown, number=len(texts) - most)


def on_nodes(number: int, of: int, which: str = "") -> str:
    """Of how many nodes something is true. which: their names; "" where all have it."""
    if which:
        return sentence("on {number} of {all} nodes: {names}", number=number, all=of, names=which)
    return sentence("on {number} of {all} nodes", number=number, all=of)
