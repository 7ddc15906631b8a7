"""What pip-audit said is read as it was recorded: a hole is one, and a package that was not asked about is not well."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import audit
from tools.audit import Unreadable, read

RECORDED = Path(__file__).parent / "recorded"


def recorded(name: str) -> str:
    return (RECORDED / name).read_text()


def pip_audit(folder: Path, monkeypatch: pytest.MonkeyPatch, stdout: str = "", stderr: str = "") -> None:
    """A program in its place that says this, and ends as pip-audit does when something is wrong."""
    (folder / "out").write_text(stdout)
    (folder / "err").write_text(stderr)
    program = folder / "pip-audit"
    program.write_text(f"#!/bin/sh\ncat {folder}/out\ncat {folder}/err >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(audit, "PIP_AUDIT", program)


def test_a_hole_is_told_with_what_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pip_audit(tmp_path, monkeypatch, recorded("pip-audit-hole.json"), "Found 1 known vulnerability in 1 package")
    assert audit.main([]) == audit.main(["--unreachable", "warn"]) == audit.HOLES
    said = capsys.readouterr().out
    assert "HOLE django 5.2.19: PYSEC-2026-1, mended in 5.2.99" in said
    assert "3 packages were asked about; 1 known holes." in said


def test_a_hole_that_is_borne_needs_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "BORNE", {"CVE-2026-0001": "we do not call it"})
    found = read(recorded("pip-audit-hole.json"))
    assert found.exit_code("fail") == audit.FINE
    assert "borne: CVE-2026-0001 of django 5.2.19: we do not call it" in found.words()


@pytest.mark.parametrize(("unreachable", "code"), [("fail", audit.NOT_ASKED), ("warn", audit.FINE)])
def test_packages_that_were_skipped_are_not_audited_though_pip_audit_says_that_all_is_well(
    unreachable: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pip_audit(tmp_path, monkeypatch, recorded("pip-audit-not-asked.json"), "No known vulnerabilities found")
    assert audit.main(["--unreachable", unreachable]) == code
    said = capsys.readouterr().out
    assert said.startswith("NOT AUDITED: 3 packages; of asgiref")
    assert "0 packages were asked about" in said


@pytest.mark.parametrize(("unreachable", "code"), [("fail", audit.NOT_ASKED), ("warn", audit.FINE)])
def test_a_service_that_refuses_the_connection_is_said(
    unreachable: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pip_audit(tmp_path, monkeypatch, stderr=recorded("pip-audit-refused.txt"))
    assert audit.main(["--unreachable", unreachable]) == code
    assert "NOT AUDITED: no connection to the advisory service" in capsys.readouterr().out


def test_an_error_of_pip_audit_is_no_missing_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pip_audit(tmp_path, monkeypatch, stderr="error: argument -r: invalid choice")
    assert audit.main(["--unreachable", "warn"]) == audit.BROKEN
    assert "invalid choice" in capsys.readouterr().out


def test_where_pip_audit_is_not_installed_it_is_said_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "PIP_AUDIT", tmp_path / "none")
    assert audit.main(["--unreachable", "warn"]) == audit.BROKEN
    assert "make audit installs it" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"dependencies": []}', '{"dependencies": 3}'])
def test_an_answer_that_names_nothing_is_none(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)
