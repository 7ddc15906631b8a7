"""Why a run went wrong. `suspects/<case>.json` is what is known, `<case>.expected.json` the suspect; the case begins with its word.

`GOLDEN=rewrite` writes what is expected anew; the diff is then read.
"""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec
import pytest

from tests.validations.suites.golden import check
from validations import evidence, suspect
from validations.suites import reasons
from validations.suites.engine.reason_words import PointsTo

CASES = sorted(path for path in Path(__file__).with_name("suspects").glob("*.json") if ".expected" not in path.name)


class Case(msgspec.Struct, forbid_unknown_fields=True):
    run: evidence.Failure
    others: list[evidence.Other]


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_suspect_by_what_is_known(path: Path) -> None:
    case = msgspec.json.decode(path.read_bytes(), type=Case)
    found = suspect.suspect(case.run, case.others)
    check(path.with_suffix(".expected.json"), msgspec.to_builtins(found, enc_hook=str))
    assert path.name.startswith((found.what if found is not None else "none").partition(" ")[0])


def test_a_reason_points_to_what_its_own_declaration_says() -> None:
    pointing = {code: words.points_to for code, words in reasons().items() if words.points_to}
    assert set(pointing.values()) == set(get_args(PointsTo)) - {""}
    for code, what in pointing.items():
        run = evidence.Failure(verdict="errored", code=code, node="a", card="0")
        found = suspect.suspect(run, [])
        assert found is not None, code
        assert found.what == what, code
