"""Which cluster the work of this thread is about: each line that it logs says so (field `cluster`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

cluster_name: ContextVar[str] = ContextVar("cluster_name", default="")


@contextmanager
def about(cluster: str | int) -> Iterator[None]:
    """cluster: its name; its id while the name is not known."""
    token = cluster_name.set(str(cluster))
    try:
        yield
    finally:
        cluster_name.reset(token)


def name_it(name: str) -> None:
    """Inside `about`: the name is known now."""
    cluster_name.set(name)
