"""What a suite must declare, and that all do."""

from __future__ import annotations

from importlib import import_module

import msgspec
import pytest

from tests.processes import ROOT
from tests.validations.suites.declared import check_suites
from validations.suites import SUITES, find, reasons, registry
from validations.suites.engine.base import Needs, ReasonWords, Suite
from validations.suites.engine.reasons import REASONS

FOLDER = ROOT / "validations" / "suites"
SOUND = registry()["cuda-vectoradd"]


def mine(**changes: object) -> Suite:
    return msgspec.structs.replace(SOUND, **({"id": "mine"} | changes))


def test_all_suites_are_sound_and_have_their_line() -> None:
    found = {path.stem for path in FOLDER.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    modules = sorted(found - {"__init__", "engine", "families", "shared"})
    suites = {name: import_module(f"validations.suites.{name}").SUITE for name in modules}
    assert list(suites.values()) == list(SUITES)
    check_suites(REASONS, suites)


@pytest.mark.parametrize("attribute", ["level", "demo", "read", "workload", "needs", "parser_version", "proves"])
def test_an_attribute_that_was_not_given_is_named(attribute: str) -> None:
    given = {name: getattr(SOUND, name) for name in Suite.__struct_fields__ if name != attribute}
    with pytest.raises(TypeError, match=attribute):
        Suite(**given)


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
def test_an_attribute_that_makes_no_sense_is_named(changes: dict[str, object], words: str) -> None:
    with pytest.raises(AssertionError) as raised:
        check_suites(REASONS, {"mine": mine(**changes)})
    assert str(raised.value).startswith(f"mine: {words}")


def test_a_reason_is_declared_once() -> None:
    again = mine(reasons=(ReasonWords("killed", "a", "b"),))
    with pytest.raises(AssertionError, match=r"mine: SUITE\.reasons declares killed"):
        check_suites(REASONS, {"mine": again})
    one, other = (mine(id=name, reasons=(ReasonWords("own", "a", "b"),)) for name in ("one", "other"))
    with pytest.raises(AssertionError, match=r"other: SUITE\.reasons declares own"):
        check_suites(REASONS, {"one": one, "other": other})


def test_suites_are_found_by_id_in_order() -> None:
    assert list(registry()) == sorted(registry()) == [suite.id for suite in SUITES]
    assert find("no-such") is None
    assert set(REASONS) < set(reasons())
