"""What a module of a sharing system must declare, and how its lack is said when it is imported."""

from __future__ import annotations

from typing import Any

import pytest

from stacks import DECLARED
from stacks.engine.setup import Setup
from stacks.engine.stack import Components, Recognised, Stack
from tests.stacks.declared import check

Changes = dict[str, Any]
GOOD: Changes = {"name": "acme", "label": "Acme", "resources": ("acme.example/gpu",), "read": lambda *given: None}
OTHER: Changes = {"name": "b", "resources": ("b.example/gpu",)}
SETUP = Setup(name="a", renders="A file.", render=lambda *given: ())


def test_all_declarations_are_whole() -> None:
    check({one.name: one for one in DECLARED})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": " "}, "acme: STACK.name must be a text"),
        ({"resources": ()}, "acme: STACK.resources must be a tuple"),
        ({"resources": "acme.example/gpu"}, "STACK.resources must be a tuple"),
        ({"read": None}, "acme: STACK.read must be a function"),
        ({"marks": True}, "acme: STACK.marks must be a function or None"),
        ({"takes": ("a.example/gpu",)}, "acme: STACK.marks must be a function, since"),
        (
            {"takes": ("a.example/gpu",), "marks": lambda node: True},
            "acme: STACK.counts_here must be a function, since",
        ),
        ({"terminating": None}, "acme: STACK.terminating must be a text"),
        ({"kept": {}}, "acme: STACK.kept must be Kept"),
        ({"settings": {"ACME": 1}}, "acme: STACK.settings must be names of settings"),
        ({"findings": {"acme": "x"}}, "acme: STACK.findings must be codes"),
        ({"components": Components(by_label={"tier": {"a": "b"}})}, "acme: components have the key 'tier'"),
        (
            {"components": Components(device_plugins=("acme-plugin",))},
            "acme: STACK.components.device_plugins names 'acme-plugin'",
        ),
        ({"setup": {}}, "acme: STACK.setup must be a Setup or None"),
    ],
)
def test_what_is_lacking_is_said_with_module_and_attribute(changes: Changes, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        check({"acme": Stack(**GOOD | changes)})


def test_what_is_only_recognised_has_a_name() -> None:
    with pytest.raises(AssertionError, match=r"acme: RECOGNISED\.name must be a text"):
        check({"acme": Recognised(name="")})


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({}, "second: name 'acme' is that of acme"),
        ({"name": "b"}, "second: resources 'acme.example/gpu' is that of acme"),
        (OTHER | {"settings": {"ACME_RESOURCE": "b"}}, "second: settings 'ACME_RESOURCE' is that of acme"),
        (
            OTHER | {"components": Components(by_label={"app": {"acme": "b"}})},
            "second: components 'app=acme' is that of acme",
        ),
        (OTHER | {"setup": SETUP}, "second: setup 'a' is that of acme"),
    ],
)
def test_what_only_one_may_have_is_refused_in_a_second(other: Changes, said: str) -> None:
    components = Components(by_label={"app": {"acme": "acme"}})
    first = Stack(**GOOD | {"settings": {"ACME_RESOURCE": "a"}, "components": components, "setup": SETUP})
    with pytest.raises(AssertionError, match=said):
        check({"acme": first, "second": Stack(**GOOD | other)})
