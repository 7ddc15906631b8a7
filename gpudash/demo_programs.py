"""The suites' workloads as programs of the simulated cluster, which knows no suite; the suites do not know it either."""

from __future__ import annotations

from fleetsim import Program
from validations.suites import registry
from validations.suites.engine.demo import Demo, recordings


def demo_programs() -> tuple[Program, ...]:
    """One program for each image of each suite."""
    return tuple(program for suite in registry().values() for program in _programs(suite.id, suite.demo))


def _programs(suite_id: str, demo: Demo) -> list[Program]:
    return [
        Program(
            mark=image.mark,
            logs=recordings(suite_id),
            seconds=image.seconds,
            size=image.size,
            nodes=demo.nodes,
            everywhere=demo.everywhere,
            exits=demo.exits,
            values=demo.values,
        )
        for image in demo.images
    ]
