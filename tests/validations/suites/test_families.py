"""A sharing system's way of giving a card is one module: what it lacks is said at the start, and no system is named elsewhere."""

from __future__ import annotations

import re
from importlib import import_module

import msgspec
import pytest

from stacks import owner
from stacks.engine.base import Context
from tests.processes import ROOT
from tests.validations.suites.declared import check_families
from tests.validations.suites.test_one_module import MODULES, imported
from validations.suites.engine.family import Family
from validations.suites.engine.placement import registry, with_api
from validations.suites.families import FAMILIES

FOLDER = ROOT / "validations" / "suites" / "families"
SOUND = Family(name="mine", os="linux", apis=("cuda",), resources=("example.com/gpu",))


def test_all_families_are_sound() -> None:
    check_families(FAMILIES)


def test_an_attribute_that_was_not_given_is_named() -> None:
    with pytest.raises(TypeError, match="apis"):
        Family(name="a", os="linux")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "FAMILIES: name is empty"),
        ({"apis": ()}, "FAMILIES: apis is empty"),
        ({"apis": "cuda"}, "family mine: apis is no tuple"),
        ({"resources": "example.com/gpu"}, "family mine: resources is no tuple"),
        ({"resources": ()}, "family mine: resources is empty, and serves is not given"),
        ({"os": "plan9"}, "family mine: os is 'plan9'"),
        ({"units": 1}, "family mine: units is no function"),
        ({"names_card": lambda resource, target, cards: True}, "family mine: names_card and annotations"),
        ({"binds": True}, "family mine: names_card is not given, though it binds"),
    ],
)
def test_an_attribute_that_makes_no_sense_is_named(changes: dict[str, object], words: str) -> None:
    with pytest.raises(AssertionError) as raised:
        check_families([msgspec.structs.replace(SOUND, **changes)])
    assert str(raised.value).startswith(words)


def test_name_and_resource_are_those_of_one_family() -> None:
    with pytest.raises(AssertionError, match="name is that of another family"):
        check_families([SOUND, SOUND])
    other = msgspec.structs.replace(SOUND, name="other")
    with pytest.raises(AssertionError, match=r"resources has example\.com/gpu, which is that of family mine"):
        check_families([SOUND, other])
    check_families([SOUND, msgspec.structs.replace(other, stack="other")])


def test_every_module_has_its_line_and_is_that_of_a_stack() -> None:
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    declared = [one for name in modules for one in import_module(f"validations.suites.families.{name}").FAMILIES]
    assert {one.name for one in declared} == {one.name for one in FAMILIES}
    assert len(declared) == len(FAMILIES)
    assert modules <= {path.stem for path in (ROOT / "stacks").iterdir()}


def test_every_resource_is_one_that_the_inventory_understands() -> None:
    context = Context(now=0.0)
    named = [resource for family in registry.families.values() for resource in family.resources]
    assert len(named) > 6
    assert [resource for resource in named if owner(resource, context) is None] == []


def test_the_families_of_an_api_are_in_the_order_of_their_rank() -> None:
    linux = ("nvidia-gpu", "hami", "nvidia-mig", "gpushare", "nvidia-shared", "nvidia-alpha")
    assert with_api("cuda", os="linux") == linux
    assert with_api("cuda") == (*linux, "directx-compute", "directx-display")
    assert with_api("directx") == ("directx-alibaba", "directx-compute", "directx-display", "directx-microsoft")
    assert with_api("hip") == ("amd-gpu", "amd-partition")
    assert with_api("vulkan", os="windows") == ("directx-display",)
    assert with_api("no-such") == ()


def test_a_stack_of_its_own_goes_before_the_others() -> None:
    found = {stack: registry.serving("nvidia.com/gpu", stack, ()) for stack in ("", "nvidia", "hami", "HAMi")}
    assert {stack: one.name if one else "" for stack, one in found.items()} == {
        "": "nvidia-gpu",
        "nvidia": "nvidia-gpu",
        "hami": "hami",
        "HAMi": "hami",
    }
    assert registry.serving("example.com/gpu", "", ()) is None


#: The help of an option, which pages show and translations have.
OF_AN_OPTION = "Card memory to request on stacks that share by memory (gpushare, HAMi), in MiB."
#: What names a system. NVIDIA's plugin is left out, since cards and the RuntimeClass have its name too; DirectX alone is an API.
WORDS = re.compile(
    r"gpushare|hami|directx[-./]|tensorworks|alibaba|aliyun|microsoft\.com|alpha\.kubernetes", re.IGNORECASE
)


def test_no_system_is_named_in_the_validations_outside_its_module() -> None:
    """Suites name the families and images that they are made for; the list of suites has their names."""
    package = ROOT / "validations" / "suites"
    own = {FOLDER, package / "shared", *(package / name for name in MODULES)}
    apart = {package / "__init__.py", *(package / f"{name}.py" for name in MODULES)}
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / "validations").rglob("*.py"))
        if path not in apart and not own & {*path.parents} and "migrations" not in path.parts
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if WORDS.search(line) and OF_AN_OPTION not in line
    ]
    assert found == []


def test_only_the_package_of_the_suites_imports_the_families() -> None:
    wrong = [
        str(path.relative_to(ROOT))
        for folder in ("validations", "pages", "api", "resources", "gpudash")
        for path in (ROOT / folder).rglob("*.py")
        if path not in (ROOT / "validations" / "suites" / "__init__.py", FOLDER / "__init__.py")
        and any(name.startswith("validations.suites.families") for name in imported(path))
    ]
    assert wrong == []
