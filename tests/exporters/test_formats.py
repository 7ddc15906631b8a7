"""What a format must declare, and by what it is recognised."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from exporters import ALLOCATIONS, FORMATS, MEASURES, MODULES, Format, recognise, selector
from exporters.engine.format import Gauge
from exporters.engine.registration import BadFormat, load

BY_NAME = {format.name: format for format in FORMATS}
WHOLE = """
from exporters.engine import measures as m
from exporters.engine import takes
from exporters.engine.format import Format, Gauge, Identity, Special
from exporters.engine.holders import NoHolders, PodLabels

GOOD = dict(name="acme", label="Acme", metrics={"acme_used": Gauge(m.MEMORY_USED)}, identity=Identity(uuid=("UUID",)),
            marks=frozenset(("acme_used",)), verified="1.0")
"""
Make = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Writes a module of the package `others`; returns its name."""
    package = tmp_path / "others"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    def write(declaration: str, name: str = "acme") -> str:
        (package / f"{name}.py").write_text(f"{WHOLE}\n{declaration}\n")
        return name

    yield write
    for name in [name for name in sys.modules if name.split(".")[0] == "others"]:
        del sys.modules[name]


def test_what_a_module_declares_is_found(make: Make) -> None:
    (found,) = load("others", [make("FORMAT = Format(**GOOD)")])
    assert isinstance(found, Format)
    assert (found.name, found.measures) == ("acme", {"memory_used"})


@pytest.mark.parametrize(
    ("declaration", "said"),
    [
        ("", "others.acme: FORMAT must be a Format"),
        ("FORMAT = GOOD", "others.acme: FORMAT must be a Format"),
        *(
            (f'GOOD.pop("{field}")\nFORMAT = Format(**GOOD)', f"others.acme: .*{field}")
            for field in ("name", "label", "metrics", "identity", "marks", "verified")
        ),
        ('GOOD["colour"] = "red"\nFORMAT = Format(**GOOD)', "others.acme: .*colour"),
        ('GOOD["name"] = "Acme Exporter"\nFORMAT = Format(**GOOD)', "FORMAT.name must be words"),
        ('GOOD["label"] = " "\nFORMAT = Format(**GOOD)', "FORMAT.label must be a text"),
        ('GOOD["verified"] = ""\nFORMAT = Format(**GOOD)', "FORMAT.verified must be a text"),
        ('GOOD["metrics"] = {}\nFORMAT = Format(**GOOD)', "FORMAT.metrics must be metrics by name"),
        (
            'GOOD["metrics"] = {"acme_used": m.MEMORY_USED}\nFORMAT = Format(**GOOD)',
            r"FORMAT.metrics\['acme_used'\] must be a Gauge",
        ),
        ('GOOD["metrics"] = {"acme_used": Gauge("memory")}\nFORMAT = Format(**GOOD)', r"\.measure must be a Measure"),
        ('GOOD["metrics"] |= {"acme used": Gauge(m.POWER)}\nFORMAT = Format(**GOOD)', "which is no name of a metric"),
        ('GOOD["metrics"] = {"acme_info": takes.describes()}\nFORMAT = Format(**GOOD)', "must give a measure at least"),
        ('GOOD["identity"] = Identity(model=("m",))\nFORMAT = Format(**GOOD)', "FORMAT.identity must have a label"),
        ('GOOD["marks"] = frozenset()\nFORMAT = Format(**GOOD)', "FORMAT.marks must name a metric at least"),
        ('GOOD["marks"] = ("acme_used",)\nFORMAT = Format(**GOOD)', "FORMAT.marks must be a frozenset"),
        ('GOOD["shared"] = GOOD["marks"]\nFORMAT = Format(**GOOD)', "which is in FORMAT.shared and marks nothing"),
        ('GOOD["pods"] = PodLabels(pod=("a", "b"))\nFORMAT = Format(**GOOD)', "FORMAT.pods must have as many"),
        (
            'GOOD["no_holders"] = NoHolders(others="(")\nFORMAT = Format(**GOOD)',
            "FORMAT.no_holders must be NoHolders",
        ),
        ('GOOD["finish"] = "no"\nFORMAT = Format(**GOOD)', "FORMAT.finish must be a function or None"),
        ('GOOD["bare"] = 1\nFORMAT = Format(**GOOD)', "FORMAT.bare must be True or False"),
    ],
)
def test_what_is_missing_or_wrong_is_named_with_its_module(make: Make, declaration: str, said: str) -> None:
    with pytest.raises(BadFormat, match=said):
        load("others", [make(declaration)])


def test_a_module_that_is_not_there_is_named() -> None:
    with pytest.raises(BadFormat, match=r"exporters\.nowhere: No module named"):
        load("exporters", ["nowhere"])


def test_two_formats_have_names_and_marks_of_their_own(make: Make) -> None:
    make("FORMAT = Format(**GOOD)")
    with pytest.raises(BadFormat, match=r"others\.other: name 'acme' is that of others\.acme"):
        load("others", ["acme", make("FORMAT = Format(**GOOD)", "other")])
    with pytest.raises(BadFormat, match=r"others\.third: marks 'acme_used' is that of others\.acme"):
        load("others", ["acme", make('GOOD["name"] = "third"\nFORMAT = Format(**GOOD)', "third")])


def test_every_module_of_the_package_is_registered_or_machinery() -> None:
    import exporters

    folder = Path(exporters.__file__).parent
    found = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert found - {"__init__", "engine", "shared", "xid", "conditions"} == set(MODULES)
    assert len(MODULES) == len(set(MODULES)) == len(FORMATS)


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
