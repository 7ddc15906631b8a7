"""A module that is no suite stops the import, with its name and the attribute that it lacks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from validations.suites import MODULES, find, reasons, registry
from validations.suites.engine.base import Needs, ReasonWords, Suite
from validations.suites.engine.reasons import REASONS
from validations.suites.engine.registration import SuiteError, load, reasons_of

PACKAGE = "suites_of_a_test"
SOUND = registry()["cuda-vectoradd"]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty package whose modules a test writes."""
    folder = tmp_path / PACKAGE
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def loaded(monkeypatch: pytest.MonkeyPatch, suite: object) -> object:
    """What becomes of a module `mine` with this SUITE."""
    module = ModuleType(f"{PACKAGE}.mine")
    module.SUITE = suite  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, PACKAGE, ModuleType(PACKAGE))
    monkeypatch.setitem(sys.modules, f"{PACKAGE}.mine", module)
    return load(PACKAGE, ("mine",))


def mine(**changes: object) -> Suite:
    return msgspec.structs.replace(SOUND, **({"id": "mine"} | changes))


def test_a_sound_module_is_registered_by_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = mine()
    assert loaded(monkeypatch, suite) == {"mine": suite}


def test_a_module_without_a_suite_is_named(package: Path) -> None:
    (package / "empty.py").write_text("VERSION = 1\n")
    with pytest.raises(SuiteError, match=rf"^{PACKAGE}\.empty: .*attribute SUITE"):
        load(PACKAGE, ("empty",))


@pytest.mark.parametrize("attribute", ["level", "demo", "read", "workload", "needs", "parser_version", "proves"])
def test_an_attribute_that_was_not_given_is_named(package: Path, attribute: str) -> None:
    given = [name for name in Suite.__struct_fields__ if name != attribute]
    source = (
        "from validations.suites import registry\n"
        "from validations.suites.engine.base import Suite\n"
        f"sound = registry()[{SOUND.id!r}]\n"
        f"SUITE = Suite(**{{name: getattr(sound, name) for name in {given!r}}})\n"
    )
    (package / "lacking.py").write_text(source)
    with pytest.raises(SuiteError, match=rf"^{PACKAGE}\.lacking: .*'{attribute}'"):
        load(PACKAGE, ("lacking",))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"id": "other"}, "SUITE.id is 'other'; by the name of the module it is 'mine'"),
        ({"title": ""}, "SUITE.title is empty"),
        ({"families": ()}, "SUITE.families is empty"),
        ({"options": SOUND.options[1:]}, "SUITE.options lacks image"),
        ({"options": SOUND.options[:1]}, "SUITE.options lacks resource, deadline_s, host_memory, pull_secret"),
        ({"pod_security": "privileged"}, "SUITE.pod_security is 'privileged'; it is baseline or restricted"),
        ({"needs": {}}, "SUITE.needs has nothing; it has what is needed on linux"),
        ({"needs": {"windows": Needs()}}, "SUITE.needs has windows; it has what is needed on linux"),
        ({"demo": msgspec.structs.replace(SOUND.demo, images=())}, "SUITE.demo.images is empty"),
    ],
)
def test_an_attribute_that_makes_no_sense_is_named(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], words: str
) -> None:
    with pytest.raises(SuiteError) as raised:
        loaded(monkeypatch, mine(**changes))
    assert str(raised.value).startswith(f"{PACKAGE}.mine: {words}")


def test_a_reason_is_declared_once() -> None:
    again = mine(reasons=(ReasonWords("killed", "a", "b"),))
    with pytest.raises(SuiteError, match=r"suite mine: SUITE\.reasons declares killed"):
        reasons_of(REASONS, {"mine": again})
    one, other = (mine(id=name, reasons=(ReasonWords("own", "a", "b"),)) for name in ("one", "other"))
    with pytest.raises(SuiteError, match=r"suite other: SUITE\.reasons declares own"):
        reasons_of(REASONS, {"one": one, "other": other})


def test_the_tuple_names_every_suite_in_order() -> None:
    assert list(MODULES) == sorted(MODULES)
    assert [name.replace("_", "-") for name in MODULES] == list(registry())
    assert find("no-such") is None
    assert set(REASONS) < set(reasons())
