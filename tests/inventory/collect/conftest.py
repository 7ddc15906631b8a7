"""Servers for collectors."""

from __future__ import annotations

from tests.kube.conftest import authority, serve, stranger

__all__ = ["authority", "serve", "stranger"]
