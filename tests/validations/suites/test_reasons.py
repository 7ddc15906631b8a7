"""Every reason code that the code can give is declared, with its words; none is declared that nothing gives."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.processes import ROOT
from tests.validations.suites.golden import cases
from validations import software
from validations.lifecycle import observe
from validations.suites import reasons, registry
from validations.suites.engine import exits

FOLDER = ROOT / "validations"
#: Who takes a reason code → which of its arguments that is.
TAKERS = {
    "failed": 0,
    "errored": 0,
    "warning": 0,
    "skipped": 0,
    "remark": 0,
    "Reason": 0,
    "_compared": 0,
    "Ending": 0,
    "CannotBuild": 0,
    "Denied": 1,
    "Observation": 1,
    "Phrase": 1,
    "Code": 2,
    "_Failure": 2,
    "end_without_judgement": 1,
    "Caution": 0,
}


class Call(NamedTuple):
    """A call that takes a reason code. code: its source, a literal in quotes or an expression."""

    module: str
    code: str
    literal: str | None


#: Where a code is no literal: (module, expression) → the codes that it can be; None for a code that was given elsewhere and is only
#: handed on, as `….code` always is. A call that is not listed here fails the test. Suites need none: a table is made of `Phrase`s.
HANDED_ON = None
NOT_LITERAL: dict[tuple[str, str], Callable[[], set[str]] | None] = {
    ("suites/engine/verdict.py", "code"): HANDED_ON,
    ("suites/engine/exits.py", "*known"): lambda: {code for code, _ in exits._REASONS.values()},
    ("suites/engine/exits.py", "code"): lambda: {"killed", "exit-code"},
    ("permitted.py", "code"): HANDED_ON,
    ("lifecycle/endings.py", "CANCELLED"): lambda: {"cancelled"},
    ("lifecycle/gives_way.py", "IN_USE"): lambda: {"in-use"},
    ("lifecycle/gives_way.py", "POLICIES_OFF"): lambda: {"policies-off"},
    ("lifecycle/observe.py", "PREEMPTED"): lambda: {"preempted"},
    ("lifecycle/endings.py", "str(code)"): HANDED_ON,
    ("lifecycle/judge.py", "CODE"): lambda: {software.CODE},
    ("planning.py", "CODE"): lambda: {software.CODE},
    ("campaigns.py", "CODE"): lambda: {software.CODE},
    ("lifecycle/unstarted.py", "CODE"): lambda: {software.CODE},
    ("lifecycle/building.py", "code"): HANDED_ON,
    ("lifecycle/step.py", "seen.trouble"): lambda: set(observe.TROUBLE.values()),
    ("lifecycle/observe.py", "HOPELESS[reason]"): lambda: set(observe.HOPELESS.values()),
    ("lifecycle/observe.py", "_POD_REASONS.get(seen.pod_reason, 'killed')"): lambda: (
        {"killed"} | set(observe._POD_REASONS.values())
    ),
}


def calls() -> Iterator[Call]:
    for path in sorted(FOLDER.rglob("*.py")):
        if "migrations" in path.parts:
            continue
        module = path.relative_to(FOLDER).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and (argument := _code_of(node)) is not None:
                yield from (Call(module, ast.unparse(one), _literal(one)) for one in _branches(argument))


def _branches(code: ast.expr) -> list[ast.expr]:
    """All that the argument can be, without what was given elsewhere."""
    if isinstance(code, ast.IfExp):
        return [*_branches(code.body), *_branches(code.orelse)]
    return [] if isinstance(code, ast.Attribute) and code.attr == "code" else [code]


def _literal(code: ast.expr) -> str | None:
    return code.value if isinstance(code, ast.Constant) and isinstance(code.value, str) else None


def _code_of(call: ast.Call) -> ast.expr | None:
    """The argument that is a reason code; None for a call of something else. A logger's `warning` takes no code."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    place = TAKERS.get(name)
    if place is None or (isinstance(function, ast.Attribute) and ast.unparse(function.value) == "logger"):
        return None
    starred = next((one for one in call.args if isinstance(one, ast.Starred)), None)
    return starred if starred is not None and call.args.index(starred) <= place else call.args[place]


def given() -> dict[str, set[str]]:
    """Code → the modules that can give it."""
    found: dict[str, set[str]] = {}
    for call in calls():
        codes = {call.literal} if call.literal is not None else _codes_of(call)
        for code in codes:
            found.setdefault(code, set()).add(call.module)
    return found


def _codes_of(call: Call) -> set[str]:
    assert (call.module, call.code) in NOT_LITERAL, (
        f"say in NOT_LITERAL which codes {call.code} in {call.module} can be"
    )
    codes = NOT_LITERAL[call.module, call.code]
    return codes() if codes is not None else set()


def test_every_code_that_can_be_given_is_declared() -> None:
    found = given()
    assert len(found) > 70
    assert {code: modules for code, modules in found.items() if code not in reasons()} == {}


def test_no_code_is_declared_that_nothing_gives() -> None:
    assert set(reasons()) - set(given()) == set()


def test_no_entry_of_what_is_not_literal_is_left_over() -> None:
    assert {(call.module, call.code) for call in calls() if call.literal is None} == set(NOT_LITERAL)


def test_a_suite_declares_what_only_it_gives() -> None:
    """A code that is given elsewhere too, or by two suites, belongs to all."""
    found = given()
    for suite in registry().values():
        name = suite.id.replace("-", "_")
        for one in suite.reasons:
            assert all(module.startswith((f"suites/{name}.py", f"suites/{name}/")) for module in found[one.code]), (
                one.code
            )


def test_every_reason_of_a_recorded_result_is_declared() -> None:
    assert {one["code"] for case in cases() for one in case.expected["reasons"]} <= set(reasons())


def test_headlines_and_actions_are_said() -> None:
    for one in reasons().values():
        assert one.headline
        assert not one.headline.endswith("."), one.code
        assert one.action.endswith("."), one.code


def test_a_pods_reason_has_one_code_for_its_end_and_for_its_container() -> None:
    """The end of a run and the status of its container are read apart; of one cause they must say one thing."""
    table = {reason: code for reason, (code, _) in exits._REASONS.items()}
    assert {reason: table.get(reason) for reason in observe._POD_REASONS} == observe._POD_REASONS
