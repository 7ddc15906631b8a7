"""Suites: the kinds of tests, with their options and what they need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from resources.declared import Shape, fact, filled
from validations.suites.engine.base import Needs


class SuiteOption(Shape):
    """One option of a suite. Values outside of pattern, choices or bounds are rejected."""

    name: str
    help: str
    default: str | int
    kind: Annotated[str, fact("text or number")]
    pattern: str
    choices: list[str]
    minimum: int
    maximum: int
    required: bool


class SuiteNeeds(Shape):
    """Requirements of a suite with its own image, for one operating system. null and []: no requirement, or unknown."""

    os: str
    cuda: Annotated[str | None, fact("CUDA version of the image.")]
    driver: Annotated[str | None, fact("Minimum NVIDIA driver version.", of="oldest_driver")]
    compute_capability: Annotated[str | None, fact("Minimum compute capability of a card.", of="capability")]
    windows_builds: Annotated[list[str], fact("Windows builds that the image supports.", of="builds")]


def _by_system(needs: Mapping[str, Needs]) -> list[SuiteNeeds]:
    return [filled(SuiteNeeds, one, os=os) for os, one in needs.items()]


class SuiteShape(Shape):
    """One kind of test."""

    id: str
    title: str
    proves: Annotated[str, fact("What a pass proves.")]
    level: Annotated[
        str,
        fact("Highest test level of a pass: checked (result checked), ran (result not checked) or detected."),
    ]
    os: list[str]
    families: Annotated[list[str], fact("Supported resource families, best first.")]
    cards: int
    nodes: Annotated[int, fact("Minimum number of nodes. More than 1: `cards` is per node.")]
    parser_version: int
    options: list[SuiteOption]
    needs: Annotated[list[SuiteNeeds], fact(by=_by_system)]


class SuiteList(Shape):
    """All suites on one page."""

    results: list[SuiteShape]
    next: None = None
    previous: None = None
