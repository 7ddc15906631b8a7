"""What a format must declare, and by what it is recognised."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import exporters
from exporters import ALLOCATIONS, FORMATS, MEASURES, Format, recognise, selector
from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.format import Gauge, Identity
from exporters.engine.holders import NoHolders, PodLabels
from tests.exporters.declared import check

BY_NAME = {format.name: format for format in FORMATS}
Changes = dict[str, Any]
GOOD: Changes = {
    "name": "acme",
    "label": "Acme",
    "metrics": {"acme_used": Gauge(m.MEMORY_USED)},
    "identity": Identity(uuid=("UUID",)),
    "marks": frozenset(("acme_used",)),
    "verified": "1.0",
}


def test_all_formats_are_whole() -> None:
    check({format.name: format for format in FORMATS})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "Acme Exporter"}, "FORMAT.name must be words"),
        ({"label": " "}, "FORMAT.label must be a text"),
        ({"verified": ""}, "FORMAT.verified must be a text"),
        ({"metrics": {}}, "FORMAT.metrics must be metrics by name"),
        ({"metrics": {"acme_used": m.MEMORY_USED}}, r"FORMAT.metrics\['acme_used'\] must be a Gauge"),
        ({"metrics": {"acme_used": Gauge("memory")}}, r"\.measure must be a Measure"),
        ({"metrics": GOOD["metrics"] | {"acme used": Gauge(m.POWER)}}, "which is no name of a metric"),
        ({"metrics": {"acme_info": takes.describes()}}, "must give a measure at least"),
        ({"identity": Identity(model=("m",))}, "FORMAT.identity must have a label"),
        ({"marks": frozenset()}, "FORMAT.marks must name a metric at least"),
        ({"marks": ("acme_used",)}, "FORMAT.marks must be a frozenset"),
        ({"shared": GOOD["marks"]}, "which is in FORMAT.shared and marks nothing"),
        ({"pods": PodLabels(pod=("a", "b"))}, "FORMAT.pods must have as many"),
        ({"no_holders": NoHolders(others="(")}, "FORMAT.no_holders must be NoHolders"),
        ({"finish": "no"}, "FORMAT.finish must be a function or None"),
        ({"bare": 1}, "FORMAT.bare must be True or False"),
    ],
)
def test_what_is_missing_or_wrong_is_named(changes: Changes, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check({"acme": Format(**GOOD | changes)})


def test_two_formats_have_names_and_marks_of_their_own() -> None:
    first = Format(**GOOD)
    with pytest.raises(AssertionError, match="other: name 'acme' is that of acme"):
        check({"acme": first, "other": Format(**GOOD)})
    with pytest.raises(AssertionError, match="third: marks 'acme_used' is that of acme"):
        check({"acme": first, "third": Format(**GOOD | {"name": "third"})})


def test_every_module_of_the_package_is_registered_or_machinery() -> None:
    folder = Path(exporters.__file__).parent
    found = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    modules = sorted(found - {"__init__", "engine", "shared", "xid", "conditions"})
    declared = [import_module(f"exporters.{name}").FORMAT for name in modules]
    assert {id(one) for one in declared} == {id(one) for one in FORMATS}
    assert len(declared) == len(FORMATS)


def test_every_measure_is_given_by_some_format() -> None:
    assert {name for format in FORMATS for name in format.measures} == set(MEASURES)
    assert set(MEASURES) >= ALLOCATIONS


#: Ends of names that say the unit → the unit of the measure. "ratio" is left out: some of those are percentages.
UNITS = {
    "bytes": "bytes",
    "celsius": "celsius",
    "watts": "watts",
    "hertz": "hertz",
    "hz": "hertz",
    "joules_total": "joules",
}


def test_a_name_that_says_a_base_unit_is_read_as_it_is() -> None:
    checked = 0
    for format in FORMATS:
        for name, metric in format.metrics.items():
            unit = next((unit for end, unit in UNITS.items() if name.lower().endswith(f"_{end}")), None)
            if isinstance(metric, Gauge) and unit is not None:
                assert (metric.scale, metric.measure.unit) == (1, unit), name
                checked += 1
    assert checked > 40


@pytest.mark.parametrize("format", FORMATS, ids=list(BY_NAME))
def test_a_mark_alone_makes_it_known_and_is_one_that_the_exporter_has(format: Format) -> None:
    for mark in format.marks:
        assert [found.format.name for found in recognise([mark, "up"], page=format.bare)] == (
            [format.name] if not format.bare or format.marks == {mark} else []
        )
    if format.bare and len(format.marks) > 1:
        assert format.name in [found.format.name for found in recognise(format.marks, page=True)]


def test_nothing_is_recognised_in_other_names() -> None:
    assert recognise(["up", "node_cpu_seconds_total", "memory_used", "DCGM", "gpu"]) == ()


def test_names_that_are_plain_words_are_not_asked_of_prometheus() -> None:
    here = ["memory_used_gpu_node", "duty_cycle_gpu_node", "memory_used"]
    assert recognise(here) == ()
    (found,) = recognise(here, page=True)
    assert found.format.name == "gke-device-plugin"
    (told,) = recognise(["memory_used", "duty_cycle"], "gke-device-plugin", page=True)
    assert told.names(["memory_used", "request", "up"]) == ("memory_used",)


def test_an_exporter_that_is_known_is_recognised_without_a_mark() -> None:
    assert [found.format.name for found in recognise(["up"], "dcgm-exporter")] == ["dcgm-exporter"]


def test_prefixes_are_found_by_looking_each_for_itself() -> None:
    found = recognise(["amd_gpu_used_vram", "amd_gpu_total_vram", "gpu_used_vram", "x" * 99 + "gpu_used_vram"])
    assert [(item.format.name, item.prefix, item.sure) for item in found] == [
        ("amd-exporter", "", True),
        ("amd-exporter", "amd_", True),
    ]
    assert found[1].names(["gpu_used_vram", "amd_gpu_used_vram", "amd_gpu_other"]) == ("amd_gpu_used_vram",)


def test_names_that_two_have_are_the_firsts_and_said_to_be_unsure() -> None:
    shared = sorted(BY_NAME["hami-monitor"].shared & BY_NAME["volcano-vgpu"].shared)
    assert shared
    (found,) = recognise(shared)
    assert (found.format.name, found.sure) == ("hami-monitor", False)
    assert [(item.format.name, item.sure) for item in recognise(shared, "volcano-vgpu")] == [("volcano-vgpu", True)]
    mark = min(BY_NAME["hami-monitor"].marks)
    assert [(item.format.name, item.sure) for item in recognise([*shared, mark])] == [("hami-monitor", True)]


def test_a_selector_asks_for_the_metrics_by_name() -> None:
    assert selector(("a", "b_c")) == '{__name__=~"a|b_c"}'
