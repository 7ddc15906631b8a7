"""What a module of a sharing system must declare, and how its lack is said when it is imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from stacks.engine.declarations import BadDeclaration, load
from stacks.engine.stack import Recognised, Stack

WHOLE = """
from stacks.engine.setup import Setup
from stacks.engine.stack import Components, Entry, Kept, NodeLabels, Recognised, Stack

def read(node, pods, context):
    return None

GOOD = dict(name="acme", label="Acme", resources=("acme.example/gpu",), read=read)
"""
Make = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Writes a module of the package `systems`; returns its name."""
    package = tmp_path / "systems"
    package.mkdir()
    (package / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)

    def write(declaration: str, name: str = "acme") -> str:
        (package / f"{name}.py").write_text(f"{WHOLE}\n{declaration}\n")
        return name

    yield write
    for name in [name for name in sys.modules if name.split(".")[0] == "systems"]:
        del sys.modules[name]


def test_what_a_module_declares_is_found(make: Make) -> None:
    names = [make("STACK = Stack(**GOOD)"), make('RECOGNISED = Recognised(name="others")', "others")]
    stack, others = load("systems", names)
    assert isinstance(stack, Stack)
    assert (stack.name, stack.label, stack.resources) == ("acme", "Acme", ("acme.example/gpu",))
    assert type(others) is Recognised


@pytest.mark.parametrize(
    ("declaration", "said"),
    [
        ("", "systems.acme: STACK must be a Stack"),
        ("STACK = GOOD", "systems.acme: STACK must be a Stack"),
        ('GOOD.pop("read")\nSTACK = Stack(**GOOD)', "systems.acme: .*missing .*'read'"),
        ('GOOD.pop("label")\nSTACK = Stack(**GOOD)', "systems.acme: .*missing .*'label'"),
        ('GOOD["colour"] = "red"\nSTACK = Stack(**GOOD)', "systems.acme: .*'colour'"),
        ('GOOD["name"] = " "\nSTACK = Stack(**GOOD)', "systems.acme: STACK.name must be a text"),
        ('GOOD["resources"] = ()\nSTACK = Stack(**GOOD)', "systems.acme: STACK.resources must be a tuple"),
        ('GOOD["resources"] = "acme.example/gpu"\nSTACK = Stack(**GOOD)', "STACK.resources must be a tuple"),
        ('GOOD["read"] = None\nSTACK = Stack(**GOOD)', "systems.acme: STACK.read must be a function"),
        ("STACK = Stack(**GOOD, marks=True)", "systems.acme: STACK.marks must be a function or None"),
        ('STACK = Stack(**GOOD, takes=("a.example/gpu",))', "systems.acme: STACK.marks must be a function, since"),
        (
            'STACK = Stack(**GOOD, takes=("a.example/gpu",), marks=lambda node: True)',
            "systems.acme: STACK.counts_here must be a function, since",
        ),
        ("STACK = Stack(**GOOD, terminating=None)", "systems.acme: STACK.terminating must be a text"),
        ("STACK = Stack(**GOOD, kept={})", "systems.acme: STACK.kept must be Kept"),
        ('STACK = Stack(**GOOD, settings={"ACME": 1})', "systems.acme: STACK.settings must be names of settings"),
        ('STACK = Stack(**GOOD, findings={"acme": "x"})', "systems.acme: STACK.findings must be codes"),
        (
            'STACK = Stack(**GOOD, components=Components(by_label={"tier": {"a": "b"}}))',
            "systems.acme: components have the key 'tier'",
        ),
        (
            'STACK = Stack(**GOOD, components=Components(device_plugins=("acme-plugin",)))',
            "systems.acme: STACK.components.device_plugins names 'acme-plugin'",
        ),
        ("STACK = Stack(**GOOD, setup={})", "systems.acme: STACK.setup must be a Setup or None"),
        ('RECOGNISED = Recognised(name="")', "systems.acme: RECOGNISED.name must be a text"),
    ],
)
def test_what_is_lacking_is_said_with_module_and_attribute(make: Make, declaration: str, said: str) -> None:
    with pytest.raises(BadDeclaration, match=said):
        load("systems", [make(declaration)])


def test_a_module_that_is_not_there_is_named() -> None:
    with pytest.raises(BadDeclaration, match=r"stacks\.acme: No module named"):
        load("stacks", ["acme"])


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("STACK = Stack(**GOOD)", "systems.second: name 'acme' is that of systems.acme"),
        (
            'STACK = Stack(**GOOD | {"name": "b"})',
            "systems.second: resources 'acme.example/gpu' is that of systems.acme",
        ),
        (
            'STACK = Stack(**GOOD | {"name": "b", "resources": ("b.example/gpu",)}, settings={"ACME_RESOURCE": "b"})',
            "systems.second: settings 'ACME_RESOURCE' is that of systems.acme",
        ),
        (
            'STACK = Stack(**GOOD | {"name": "b", "resources": ("b.example/gpu",)}, '
            'components=Components(by_label={"app": {"acme": "b"}}))',
            "systems.second: components 'app=acme' is that of systems.acme",
        ),
        (
            'STACK = Stack(**GOOD | {"name": "b", "resources": ("b.example/gpu",)}, '
            'setup=Setup(name="a", renders="A file.", render=read))',
            "systems.second: setup 'a' is that of systems.acme",
        ),
    ],
)
def test_what_only_one_may_have_is_refused_in_a_second(make: Make, other: str, said: str) -> None:
    first = make(
        'STACK = Stack(**GOOD, settings={"ACME_RESOURCE": "a"}, '
        'components=Components(by_label={"app": {"acme": "acme"}}), setup=Setup(name="a", renders="A file.", render=read))'
    )
    with pytest.raises(BadDeclaration, match=said):
        load("systems", [first, make(other, "second")])
