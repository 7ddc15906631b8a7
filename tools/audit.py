"""Whether a package of gpudash has a hole that is known: `python -m tools.audit [--unreachable fail|warn]` (make audit).

pip-audit asks the advisory service of the package index about each line of requirements.lock. Where the service does not answer for a
package, pip-audit skips it and still says "No known vulnerabilities found"; here that counts as not audited and is said so.

Exit codes: 0 all were asked and none has a known hole; 1 some have; 2 pip-audit itself failed; 3 some could not be asked
(`--unreachable warn` makes this 0, and says it all the same). A hole that does not concern us is put into `BORNE` with the reason.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PIP_AUDIT = ROOT / ".tools/supply/bin/pip-audit"
LOCK = ROOT / "requirements.lock"
FINE, HOLES, BROKEN, NOT_ASKED = 0, 1, 2, 3
TIMEOUT_S = 900
#: How an exception of its HTTP client ends.
_NO_CONNECTION = re.compile(r"(ConnectionError|ConnectTimeout|ReadTimeout|ConnectionTimeout)\b")
#: Identifier of an advisory → why it does not concern us.
BORNE: dict[str, str] = {}


class Unreadable(Exception):
    """pip-audit's answer is none."""


class Unreachable(Exception):
    """The advisory service does not answer at all: pip-audit ends with its exception, before it has asked about anything."""


@dataclass
class Outcome:
    """How many packages were asked about; (package and version, advisory, versions that mend it); packages that were not asked."""

    asked: int = 0
    holes: list[tuple[str, str, str]] = field(default_factory=list)
    borne: list[tuple[str, str]] = field(default_factory=list)
    not_asked: list[tuple[str, str]] = field(default_factory=list)

    def exit_code(self, unreachable: str) -> int:
        if self.holes:
            return HOLES
        return NOT_ASKED if self.not_asked and unreachable == "fail" else FINE

    def words(self) -> list[str]:
        lines = [
            f"HOLE {package}: {name}, mended in {mended or 'no version yet'}" for package, name, mended in self.holes
        ]
        lines += [f"borne: {name} of {package}: {BORNE[name]}" for package, name in self.borne]
        if self.not_asked:
            package, why = self.not_asked[0]
            lines.append(f"NOT AUDITED: {len(self.not_asked)} packages; of {package} the advisory service said: {why}")
        lines.append(f"{self.asked} packages were asked about; {len(self.holes)} known holes.")
        return lines


def read(text: str) -> Outcome:
    """pip-audit's JSON. Raises Unreadable, also when it names no package: nothing was asked then."""
    try:
        entries: list[dict[str, Any]] = json.loads(text)["dependencies"]
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"pip-audit's answer cannot be read ({error!r}): {text[:200]!r}") from error
    if not entries or not isinstance(entries, list):
        raise Unreadable(f"pip-audit's answer names no package: {text[:200]!r}")
    found = Outcome()
    for entry in entries:
        if "skip_reason" in entry:
            found.not_asked.append((entry["name"], entry["skip_reason"]))
            continue
        found.asked += 1
        package = f"{entry['name']} {entry['version']}"
        for hole in entry["vulns"]:
            names = [name for name in (hole["id"], *hole.get("aliases", [])) if name in BORNE]
            if names:
                found.borne.append((package, names[0]))
            else:
                found.holes.append((package, hole["id"], ", ".join(hole["fix_versions"])))
    return found


def ask() -> str:
    """pip-audit's JSON about the lock file. Raises Unreadable or Unreachable with what it said."""
    command = [str(PIP_AUDIT), "-r", str(LOCK), "--disable-pip", "--require-hashes", "--format", "json"]
    command += ["--progress-spinner", "off"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    except FileNotFoundError:
        raise Unreadable(f"{PIP_AUDIT} is not there: make audit installs it") from None
    except subprocess.TimeoutExpired:
        raise Unreadable(f"pip-audit did not end within {TIMEOUT_S} s") from None
    # 1 is its word for holes as well as for a service that cannot be connected to: only the JSON tells.
    if done.stdout.strip():
        return done.stdout
    if _NO_CONNECTION.search(done.stderr):
        raise Unreachable(f"no connection to the advisory service: {done.stderr.strip().splitlines()[-1][:300]}")
    raise Unreadable(f"pip-audit said: {done.stderr.strip()[-600:]}")


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="audit", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--unreachable", choices=("fail", "warn"), default="fail", help="where the service does not answer"
    )
    given = parser.parse_args(words)
    try:
        found = read(ask())
    except Unreadable as unreadable:
        print(f"NOT AUDITED: {unreadable}")
        return BROKEN
    except Unreachable as unreachable:
        print(f"NOT AUDITED: {unreachable}")
        return FINE if given.unreachable == "warn" else NOT_ASKED
    print("\n".join(found.words()))
    return found.exit_code(given.unreachable)


if __name__ == "__main__":
    sys.exit(main())
