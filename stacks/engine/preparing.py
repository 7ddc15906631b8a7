"""What a cluster needs for a stack, rendered, and what of it is there: `cluster prepare`.

Pure. Where nothing was read of a cluster but its nodes and its version, the files are the same as far as these decide them, and what
is there is said to be not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kube.objects import Node
from stacks.engine.comparing import differences, key_of
from stacks.engine.registry import registry
from stacks.engine.rendering import names, on_nodes
from stacks.engine.setup import (
    DIFFERS,
    HIDDEN,
    HOST,
    MISSING,
    PRESENT,
    REMOVE,
    Difference,
    File,
    Found,
    Key,
    Label,
    Plan,
    Setup,
    Wanted,
    plural_of,
)
from stacks.engine.shell import command
from stacks.engine.versions import version_of
from wording.said import sentence, series

#: In which order differences are shown: first what there is to do.
_ORDER = (MISSING, DIFFERS, REMOVE, PRESENT, HIDDEN)


class UnknownStack(LookupError):
    """There is no such stack to prepare for; the text names those that there are."""


class Prepared(NamedTuple):
    """files: what is needed. differences: beside what is there, as far as that is known. warnings: below a floor, or in conflict.

    unseen: what is not known, and how to see it; each once. nodes: those whose cards the stack would allocate.
    """

    files: tuple[File, ...]
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...]
    unseen: tuple[str, ...]
    nodes: tuple[Node, ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether nothing that could be seen is missing, differs or is to go."""
        return all(one.state in (PRESENT, HIDDEN) for one in self.differences)

    @property
    def ordered(self) -> list[Difference]:
        """The differences, first what there is to do."""
        return sorted(self.differences, key=lambda one: _ORDER.index(one.state))


def setups() -> dict[str, Setup]:
    """Word of --stack → how it is set up."""
    return {stack.setup.name: stack.setup for stack in registry.stacks if stack.setup is not None}


def setup_of(name: str) -> Setup:
    """Raises UnknownStack."""
    known = setups()
    if name not in known:
        raise UnknownStack(f"no stack {name!r} to prepare for; there are: {', '.join(sorted(known))}")
    return known[name]


def prepare(stack_name: str, found: Found) -> Prepared:
    """Raises UnknownStack. found.objects None: only labels of nodes are compared, and that the rest is not known is
    said."""
    plan = setup_of(stack_name).render(found)
    return Prepared(
        plan.files,
        (*_objects(plan, found), *map(_label, plan.labels), *plan.seen, *_hosts(plan)),
        (*_of_version(found), *plan.warnings),
        tuple(_unseen(stack_name, found)),
        plan.nodes,
    )


def _of_version(found: Found) -> Iterator[str]:
    if version_of(found.version) is None:
        yield sentence(
            "The server version is unknown. The files are for Kubernetes {version}.", version=found.kubernetes.short
        )


def _objects(plan: Plan, found: Found) -> Iterator[Difference]:
    if found.objects is None:
        return
    for thing in plan.objects:
        key = key_of(thing)
        there = found.objects.get(key)
        if there is not None:
            said = differences(thing, there)
            yield Difference(_name(key), DIFFERS if said else PRESENT, series(said, "; ") if said else "")
        elif not found.hides(key) and key not in plan.optional:
            yield Difference(_name(key), MISSING)


def _name(key: Key) -> str:
    return f"{key.kind} {key.namespace}/{key.name}" if key.namespace else f"{key.kind} {key.name}"


def _label(label: Label) -> Difference:
    what, lacking = sentence("label {label}", label=f"{label.key}={label.value}"), label.lacking
    if lacking:
        return Difference(what, MISSING, on_nodes(len(lacking), len(label.nodes), names(lacking)))
    if not label.nodes:
        return Difference(what, MISSING, sentence("no node needs it"))
    return Difference(what, PRESENT, on_nodes(len(label.nodes), len(label.nodes)))


def _hosts(plan: Plan) -> Iterator[Difference]:
    for file in plan.files:
        if file.kind == HOST:
            says = sentence("run on the host: {command}", command=file.shows) if file.shows else ""
            yield Difference(sentence("host file {name}", name=file.name), HIDDEN, says)


def _unseen(stack_name: str, found: Found) -> Iterator[str]:
    if found.objects is None:
        yield sentence(
            "Differences are unknown: the objects of the cluster were not read. Run `gpudash cluster prepare NAME --stack "
            "{stack} --diff`.",
            stack=stack_name,
        )
    if found.hidden:
        texts = [_name(one.key) if one.name else sentence("every {kind}", kind=one.kind) for one in found.hidden]
        commands = " && ".join(_get(one) for one in found.hidden)
        yield sentence(
            "not visible: {objects}: the credentials may not read them. Run `{commands}`.",
            objects=series(texts, ", "),
            commands=commands,
        )


def _get(wanted: Wanted) -> str:
    where = ["-n", wanted.namespace] if wanted.namespace else [] if wanted.name else ["--all-namespaces"]
    return command("kubectl", "get", plural_of(wanted), *([wanted.name] if wanted.name else []), *where, "-o", "yaml")
