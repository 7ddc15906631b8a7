"""Several web processes behind one address: replaced when killed, ended gently, one voice to the outside."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from accounts.recent import KEPT_S
from tests.services import end, free_port, wait_until
from tests.web import Answer, Web, web

pytestmark = pytest.mark.timeout(400)
PROCESSES = 2


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, migrated_file: Path) -> Iterator[Web]:
    folder = tmp_path_factory.mktemp("processes")
    probes = free_port()
    with web(folder, migrated_file, f"--processes={PROCESSES}", f"--probes=127.0.0.1:{probes}") as made:
        made.probes = probes
        wait_until(lambda: len(_workers(made)) == PROCESSES, "all processes run")
        yield made


def _arbiter(served: Web) -> subprocess.Popen[bytes]:
    return served.processes._running[0]


def _workers(served: Web) -> list[int]:
    children = Path(f"/proc/{_arbiter(served).pid}/task/{_arbiter(served).pid}/children").read_text().split()
    return [int(pid) for pid in children]


@pytest.mark.sweep
def test_one_that_is_killed_is_replaced_and_nobody_notices(served: Web) -> None:
    before = _workers(served)
    os.kill(before[0], signal.SIGKILL)
    assert [served.ask("/sign-in").status for _ in range(5)] == [200] * 5
    wait_until(lambda: len(_workers(served)) == PROCESSES and before[0] not in _workers(served), "it is replaced")
    assert served.ask("/healthz").status == 200


@pytest.mark.sweep
def test_probes_have_an_address_of_their_own(served: Web) -> None:
    probes = Web(served.processes, served.probes)
    answer = probes.ask("/healthz", host="203.0.113.7")
    assert (answer.status, answer.body) == (200, "ok\n")
    assert "x-request-id" not in answer.headers, "not by Django"
    assert probes.ask("/readyz", host="203.0.113.7").status == 200
    assert probes.ask("/sign-in").status == 404
    assert served.ask("/healthz").status == 200


@pytest.mark.sweep
def test_strangers_who_send_half_a_request_stop_neither_pages_nor_probes(served: Web) -> None:
    with ExitStack() as stack:
        for _ in range(260):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", served.port), 30))
            one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        assert Web(served.processes, served.probes).ask("/healthz").status == 200
        assert served.ask("/sign-in").status == 200


@pytest.mark.sweep
def test_a_port_of_probes_that_is_taken_is_said(served: Web) -> None:
    command = served.processes.manage(
        "serve", f"--listen=127.0.0.1:{free_port()}", f"--probes=127.0.0.1:{served.port}", name="third"
    )
    assert command.wait(60) == 1
    told = served.processes.log("third").read_text()
    assert f"cannot use port {served.port} on 127.0.0.1" in told
    assert "choose another with --probes" in told


@pytest.mark.sweep
def test_a_token_that_is_revoked_opens_no_process_after_a_second(served: Web) -> None:
    """Each process keeps for a moment whom it has let in, and hears nothing of the others."""
    served.processes.call_with_input("correct horse battery staple", "user", "create", "vera", "--password-stdin")
    token = served.processes.call("token", "create", "vera").strip()

    def asked(times: int) -> set[int]:
        return {served.ask("/api/v1/cards", f"Authorization: Bearer {token}").status for _ in range(times)}

    assert asked(10) == {200}
    served.processes.call("token", "revoke", "1")
    time.sleep(KEPT_S)
    assert asked(10) == {401}


@pytest.mark.sweep
def test_a_port_that_is_taken_is_said(served: Web, tmp_path: Path) -> None:
    command = served.processes.manage("serve", f"--listen=127.0.0.1:{served.port}", "--processes=2", name="second")
    assert command.wait(60) == 1
    assert f"cannot use port {served.port} on 127.0.0.1" in served.processes.log("second").read_text()


@pytest.mark.sweep
def test_what_is_under_way_is_answered_before_it_ends(served: Web) -> None:
    """A broker that takes the connection and says nothing makes /readyz last two seconds."""
    port = free_port()
    with socket.create_server(("127.0.0.1", 0)) as mute:
        broker = f"redis://127.0.0.1:{mute.getsockname()[1]}/0"
        arguments = ("serve", f"--listen=127.0.0.1:{port}", "--processes=2")
        ending = served.processes.manage(*arguments, name="ending", GPUDASH_BROKER_URL=broker)
        other = Web(served.processes, port)
        wait_until(other._answers, "it answers")
        answers: list[Answer] = []
        thread = threading.Thread(target=lambda: answers.append(other.ask("/readyz")))
        thread.start()
        mute.accept()
        end(ending)
        thread.join(60)
    assert ending.returncode == 0
    assert [answer.status for answer in answers] == [503]
    assert "broker" in answers[0].body
    assert "Traceback" not in served.processes.log("ending").read_text()
