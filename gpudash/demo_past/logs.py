"""What a validation's program would have printed on a node: its recording for the card, with figures that vary."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

from exporters.engine.identity import normal_uuid
from fleetsim import Program, outcomes, recordings
from fleetsim.machines import Machine
from fleetsim.programs import container
from inventory.models import Card

#: A figure in the text, by its unit: times are longer by a factor, rates lower by the same, so that figures of one run agree.
_TIMES = re.compile(r"(?<![\w.])(\d+\.\d+)(?= ?\(?ms\b)")
_RATES = re.compile(r"(?<![\w.])(\d+\.\d+)(?= (?:billion interactions|single-precision|double-precision|sims/s))")
#: Parts by which runs differ: mostly by a little.
_SPREAD = 0.018


class Printed(NamedTuple):
    """A container that has ended. seconds: that it ran."""

    log: bytes
    exit_code: int
    reason: str
    seconds: float


def printed(
    programs: Sequence[Program],
    manifest: dict[str, Any],
    machine: Machine,
    card: Card | None,
    rng: Random,
    slower: float,
    driver: str,
) -> Printed | None:
    """None where the program cannot be had on this node, or is thrown out of it: then nothing was printed to its end.

    slower: a factor of all times. driver: of the node then; "" for the one of now.
    """
    template = manifest["spec"]["template"]
    script = outcomes.script(programs, template, machine, True)
    if script.outcome in (outcomes.NO_IMAGE, outcomes.EVICTED):
        return None
    if script.log is None:
        return Printed(b"", script.exit_code, "StartError", 0.0)
    args = tuple(str(word) for word in template["spec"]["containers"][0].get("args") or [])
    here = _container(machine, card, args)
    here = replace(here, driver=driver) if driver else here
    text = varied(recordings.text(*script.recording, machine, here), slower * max(0.9, rng.gauss(1.0, _SPREAD)))
    line_end = "\r\n" if machine.kind.windows else "\n"
    log = "".join(line + line_end for line in text.splitlines()).encode()
    return Printed(log, script.exit_code, "Completed" if script.exit_code == 0 else "Error", script.seconds)


def _container(machine: Machine, card: Card | None, args: tuple[str, ...]) -> Any:
    """With the card that it got; a slice is one of the resource that has it."""
    uuid = normal_uuid(card.uuid) if card is not None and card.uuid else None
    for supply in machine.supplies.values():
        for number, one in enumerate(supply.uuids):
            if uuid is not None and normal_uuid(one) == uuid:
                return container(machine, [number], args, supply)
    number = card.index if card is not None and card.index is not None and card.index < len(machine.uuids) else 0
    return container(machine, [number], args)


def varied(text: str, factor: float) -> str:
    """The same with times that are longer by a factor and rates that are lower by it, with as many decimals as before."""
    text = _TIMES.sub(_scaled(factor), text)
    return _RATES.sub(_scaled(1 / factor), text)


def _scaled(factor: float) -> Callable[[re.Match[str]], str]:
    def made(found: re.Match[str]) -> str:
        decimals = len(found[1].partition(".")[2])
        return f"{float(found[1]) * factor:.{decimals}f}"

    return made
