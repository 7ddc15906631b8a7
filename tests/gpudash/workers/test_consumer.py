"""A worker outlives a connection to the broker that cannot even be closed."""

from __future__ import annotations

import logging

import pytest
from celery.worker import WorkController
from celery.worker import consumer as celerys

from gpudash.celery import app
from gpudash.workers.consumer import Consumer


def test_workers_have_it() -> None:
    worker = WorkController(app=app, pool_cls="threads", concurrency=1, queues=["default"], quiet=True)
    assert worker.consumer_cls == "gpudash.workers.consumer:Consumer"


def test_a_half_closed_channel_does_not_end_the_worker(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def half_closed(self: object, exc: Exception) -> None:
        raise AttributeError("'NoneType' object has no attribute 'hostname'")

    monkeypatch.setattr(celerys.Consumer, "on_connection_error_after_connected", half_closed)
    with caplog.at_level(logging.WARNING):
        made = Consumer.__new__(Consumer)
        made.on_connection_error_after_connected(ConnectionResetError())
    made._looking.found.set()
    assert "cannot close the lost connection" in caplog.text
