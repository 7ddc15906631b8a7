"""gpudash's tables on a PostgreSQL of their own, for benchmarks that need no control plane; all is thrown away at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests import services
from tests.processes import Processes


@contextmanager
def tables(name: str, **settings: str) -> Iterator[Processes]:
    """To start gpudash's processes with. settings: of their environment. Raises Missing."""
    with services.scratch(name) as folder, services.postgres() as server:
        processes = Processes(folder, server.create(name), GPUDASH_ENV_FILE="", **settings)
        processes.call("migrate", "--verbosity", "0")
        yield processes
