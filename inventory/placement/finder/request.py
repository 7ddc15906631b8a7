"""What is looked for, as it is typed into a form, an address or a command line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec
from django.utils.translation import gettext as _

from kube import quantity, typed
from kube.objects import Taint
from stacks import STACKS
from stacks.engine.fitting import Want, Way

MOST_CARDS = 1024
MOST_WORDS = 20
#: Thousandths of a CPU: more than any machine has.
MOST_MILLIS = 100_000_000
_LONGEST = 512
_EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_./]{0,315}[A-Za-z0-9])?"
_TOLERATION = re.compile(rf"({_NAME}|\*)(?:=([^:=]{{0,63}}))?(?::([A-Za-z]+))?")
_SELECTOR = re.compile(rf"({_NAME})=([^=]{{0,63}})")

#: Name of each way to ask → it, in the order of their names.
WAYS: dict[str, Way] = {way.name: way for way in sorted(way for stack in STACKS for way in stack.ways)}


class BadRequest(Exception):
    """errors: what is wrong, by the name of the parameter."""

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        super().__init__("; ".join(f"{name}: {' '.join(texts)}" for name, texts in errors.items()))
        self.errors = dict(errors)


class Toleration(msgspec.Struct, frozen=True):
    """key: "*" for all taints. value: None for any. effect: "" for any."""

    key: str
    value: str | None = None
    effect: str = ""

    def tolerates(self, taint: Taint) -> bool:
        if self.effect and self.effect != taint.effect:
            return False
        return self.key == "*" or (self.key == taint.key and self.value in (None, taint.value or ""))


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """cards: on one node, for one container. memory: bytes on each; None: whatever a card has.

    cpu_millis, host_memory: of the node, for the same container; None: whatever is left.
    stacks: names of ways to ask; none: any. models: parts of names, in lower case; any of them. selector: labels of the node.
    clusters: names; none: all.
    """

    cards: int = 1
    memory: int | None = None
    cpu_millis: int | None = None
    host_memory: int | None = None
    stacks: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    selector: tuple[tuple[str, str], ...] = ()
    clusters: tuple[str, ...] = ()

    @property
    def want(self) -> Want:
        return Want(self.cards, self.memory)

    def tolerates(self, taint: Taint) -> bool:
        return any(one.tolerates(taint) for one in self.tolerations)


Given = Mapping[str, Sequence[str]]
NAMES = frozenset({"cards", "memory", "cpu", "host_memory", "stack", "model", "tolerate", "selector", "cluster"})
#: Those that are given once.
_ONCE = ("cards", "memory", "cpu", "host_memory")


def read(given: Given) -> Request:
    """given: texts by the name of their parameter; an empty text is none. Raises BadRequest with all that is wrong."""
    errors: dict[str, list[str]] = {}
    texts = {name: [text.strip() for text in given.get(name, ()) if text.strip()] for name in NAMES}
    for name, found in texts.items():
        if len(found) > (1 if name in _ONCE else MOST_WORDS):
            errors[name] = [_("Must be given only once.")]
        elif any("\0" in text or len(text) > _LONGEST for text in found):
            errors[name] = [_("Must be shorter text without null characters.")]
    cards, memory = _cards(texts["cards"], errors), _memory("memory", texts["memory"], errors)
    cpu, host_memory = _cpu(texts["cpu"], errors), _memory("host_memory", texts["host_memory"], errors)
    tolerations, selector = _tolerations(texts["tolerate"], errors), _selector(texts["selector"], errors)
    stacks = _stacks(texts["stack"], errors)
    if errors:
        raise BadRequest(errors)
    return Request(
        cards=cards,
        memory=memory,
        cpu_millis=cpu,
        host_memory=host_memory,
        stacks=stacks,
        models=tuple(text.lower() for text in texts["model"]),
        tolerations=tolerations,
        selector=selector,
        clusters=tuple(texts["cluster"]),
    )


def _cards(found: list[str], errors: dict[str, list[str]]) -> int:
    text = found[0] if found else "1"
    if text.isascii() and text.isdigit() and len(text) < 6 and 1 <= int(text) <= MOST_CARDS:
        return int(text)
    errors.setdefault("cards", []).append(_("Must be an integer from 1 to %(most)d.") % {"most": MOST_CARDS})
    return 1


def _memory(name: str, found: list[str], errors: dict[str, list[str]]) -> int | None:
    size = typed.gib_by_default(found[0]) if found else None
    if found and size is None:
        text = _("Must be an amount of memory: 20, 20 GiB or 20000 MiB (plain numbers are GiB).")
        errors.setdefault(name, []).append(text)
    return size


def _cpu(found: list[str], errors: dict[str, list[str]]) -> int | None:
    number = quantity.millis(found[0]) if found else None
    if found and not (number and number <= MOST_MILLIS):
        errors.setdefault("cpu", []).append(_("Must be a number of CPU cores: 8, 0.5 or 500m."))
    return number


def _stacks(found: list[str], errors: dict[str, list[str]]) -> tuple[str, ...]:
    """Names of ways, or of systems: of these all their ways."""
    of_stack = {stack.name: tuple(way.name for way in stack.ways) for stack in STACKS if len(stack.ways) > 1}
    known = {name: (name,) for name in WAYS}
    # A way may have the name of its system: then it alone is meant.
    chosen = {**of_stack, **known}
    unknown = [text for text in found if text not in chosen]
    if unknown:
        told = {"names": ", ".join(sorted(chosen)), "name": unknown[0][:64]}
        errors.setdefault("stack", []).append(_("Unknown stack: %(name)s. Must be one of: %(names)s.") % told)
    return tuple(dict.fromkeys(name for text in found for name in chosen.get(text, ())))


def _tolerations(found: list[str], errors: dict[str, list[str]]) -> tuple[Toleration, ...]:
    made = []
    for text in (part for line in found for part in line.replace(",", " ").split()):
        match = _TOLERATION.fullmatch(text)
        if match is None or (match[3] and match[3] not in _EFFECTS):
            wanted = _("Must be key, key=value or key=value:NoSchedule. * tolerates all taints.")
            errors["tolerate"] = [wanted]
            break
        made.append(Toleration(match[1], match[2], match[3] or ""))
    return tuple(made)


def _selector(found: list[str], errors: dict[str, list[str]]) -> tuple[tuple[str, str], ...]:
    made = []
    for text in (part for line in found for part in line.replace(",", " ").split()):
        match = _SELECTOR.fullmatch(text)
        if match is None:
            errors["selector"] = [_("Must be node labels as key=value.")]
            break
        made.append((match[1], match[2]))
    return tuple(made)
