"""Run a command against a throw-away PostgreSQL: `python -m tools.with_postgres pytest tests/inventory/mirror`."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.services import Missing, postgres


def main() -> int:
    """The exit code of the command; 1 with the reason when PostgreSQL is not installed (0, skipped, outside CI)."""
    try:
        with postgres() as server:
            environment = {**os.environ, "GPUDASH_DATABASE_URL": server.create("gpudash")}
            return subprocess.run([sys.executable, "-m", *sys.argv[1:]], env=environment, check=False).returncode
    except Missing as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return int(os.environ.get("CI") == "true")


if __name__ == "__main__":
    sys.exit(main())
