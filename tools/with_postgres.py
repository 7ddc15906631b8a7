"""Run a command against a throw-away PostgreSQL: `python -m tools.with_postgres pytest tests/inventory/mirror`.

`--pooler` first: through a pgbouncer in transaction mode, whose connections each client has for one transaction only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.services import Missing, pgbouncer, postgres

POOLER = "--pooler"
#: Fewer connections than clients, so that they do change hands.
POOL_SIZE = 4


@contextmanager
def _database(pooler: bool) -> Iterator[dict[str, str]]:
    """Settings of an empty database."""
    with postgres() as server:
        url = server.create("gpudash")
        if not pooler:
            yield {"GPUDASH_DATABASE_URL": url}
            return
        with pgbouncer(server, "transaction", POOL_SIZE) as pooled:
            yield {"GPUDASH_DATABASE_URL": pooled("gpudash"), "GPUDASH_DATABASE_POOLER": "transaction"}


def main() -> int:
    """The exit code of the command; 1 with the reason when PostgreSQL is not installed (0, skipped, outside CI)."""
    pooler = sys.argv[1:2] == [POOLER]
    try:
        with _database(pooler) as settings:
            command = [sys.executable, "-m", *sys.argv[1 + pooler :]]
            return subprocess.run(command, env={**os.environ, **settings}, check=False).returncode
    except Missing as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return int(os.environ.get("CI") == "true")


if __name__ == "__main__":
    sys.exit(main())
