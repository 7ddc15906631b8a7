"""`gpudash floors`: the table in force, and what is wrong with a file before it is used."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.validations.floors.test_table import GOOD, H100, HEAD
from validations.floors import built_in, parse, with_own


def run(*words: str) -> tuple[str, int]:
    """(what it prints, exit code)"""
    out = io.StringIO()
    try:
        call_command("floors", *words, stdout=out)
    except SystemExit as ended:
        return out.getvalue(), int(ended.code or 0)
    return out.getvalue(), 0


@pytest.fixture
def own(settings: Any) -> None:
    settings.FLOORS = with_own(parse(f"{HEAD}\n{GOOD}\n"))


@pytest.mark.usefixtures("own")
def test_the_table_says_value_conditions_source_date_and_whose_it_is() -> None:
    text, code = run()
    lines = text.splitlines()
    assert (len(lines), code) == (1 + len(built_in()), 0)
    assert lines[0].split() == ["SUITE", "MEASUREMENT", "MODEL", "FLOOR", "APPLIES", "TO", "FROM", "SOURCE"]
    [mine] = [line for line in lines if "GPUDASH_FLOORS_FILE" in line]
    for words in ("nccl-allreduce", H100, "450 GB/s peak", "8 cards, >= 16 GiB", "our racks: acceptance 7, 2026-06-01"):
        assert words in mine


@pytest.mark.usefixtures("own")
def test_it_is_filtered_and_printed_as_in_rest() -> None:
    told = json.loads(run("--model", "nvidia-h100", "--suite", "nccl-allreduce", "-o", "json")[0])
    [one] = told["results"]
    assert (one["model"], one["least"], one["unit"], one["own"], one["message_bytes"]) == (
        H100,
        450,
        "GB/s",
        True,
        16 << 30,
    )
    assert run("--model", "no such card")[0].strip() == "No floors. Bandwidth is measured and not judged."
    with pytest.raises(CommandError, match="--suite: must be one of cuda-devicequery, "):
        run("--suite", "nccl")


def test_a_file_is_checked_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "floors.csv"
    other = GOOD.replace("nccl-allreduce", "nccl-of-tomorrow")
    rows = (HEAD, GOOD, GOOD.replace("450", "fast"), "a,b", GOOD, "", other)
    file.write_text("\n".join(rows), encoding="utf-8")
    text, code = run("check", str(file))
    assert text.splitlines() == [
        "line 3, field least: must be a number above 0; found 'fast'",
        "line 4: 2 fields, must be 12",
        "line 5: the same floor as line 2",
        "line 7, field suite: this version has no suite nccl-of-tomorrow; the floor is never used",
        "floors: 2, of which replace built-in ones: 1; errors: 3",
    ]
    assert code == 1
    told = json.loads(run("check", str(file), "-o", "json")[0])
    assert (told["floors"], told["replaced"], [one["line"] for one in told["errors"]]) == (2, 1, [3, 4, 5])
    assert [one["line"] for one in told["unused"]] == [7]


def test_a_good_file_says_so_and_is_accepted_by_the_setting(tmp_path: Path) -> None:
    file = tmp_path / "floors.csv"
    file.write_text(f"{HEAD}\n{GOOD}\n", encoding="utf-8")
    assert run("check", str(file)) == ("floors: 1, of which replace built-in ones: 1; errors: 0\n", 0)
    assert parse(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("content", "said"), [(None, "cannot read"), (b"\xff\xfe", "must be UTF-8")])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    file = tmp_path / "floors.csv"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(CommandError, match=said) as told:
        run("check", str(file))
    assert str(file) in str(told.value)


@pytest.mark.parametrize("content", [b"", b"\x00", b"x" * 2_000_000, HEAD.encode() + b"\n" + b"a,b\n" * 6_000])
def test_a_hostile_file_is_refused_with_a_line(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "floors.csv"
    file.write_bytes(content)
    text, code = run("check", str(file))
    assert code == 1
    assert "must" in text
    assert text.isprintable() or "\n" in text
