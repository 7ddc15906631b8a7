"""Floors of measurements, and the baselines that pools have learnt."""

from __future__ import annotations

from typing import Annotated

from resources.declared import Shape, fact


class FloorShape(Shape):
    """The least value of a measurement on a card model. It applies only if all of its conditions are met; unknown is not met."""

    suite: str
    measurement: str
    model: str
    cards: Annotated[int | None, fact("Number of cards of the run; null: any.")]
    message_bytes: Annotated[int | None, fact("Least size of the largest message of the run; null: any.", of="message")]
    machine: Annotated[str | None, fact("Instance type of the node; null: any.", by=lambda name: name or None)]
    least: float
    unit: str
    statistic: Annotated[str, fact("peak: of the messages of a run. average: over a run.")]
    measured_on: Annotated[str, fact("Machine type that the figure is published for.")]
    source: str
    date: Annotated[str, fact("Version of the source: YYYY-MM or YYYY-MM-DD.")]
    own: Annotated[bool, fact("true: from GPUDASH_FLOORS_FILE. false: built in.")]


class FloorList(Shape):
    """All floors on one page."""

    results: list[FloorShape]
    next: None = None
    previous: None = None


class BaselineShape(Shape):
    """Median and spread of the last passes of ten or more targets of a pool, as the newest run there was judged."""

    suite: str
    measurement: str
    unit: str
    model: str
    cluster: Annotated[str, fact(by=str)]
    pool: str
    median: float
    spread: Annotated[float, fact("Median absolute deviation.")]
    targets: int
    run: Annotated[str, fact("ID of the run that was judged against it last.", of="run_id")]


class BaselineList(Shape):
    """All baselines on one page."""

    results: list[BaselineShape]
    next: None = None
    previous: None = None
