"""The parts of the bed that need nothing running: commands, configuration, audit log, books, and a process that is watched."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from random import Random

import pytest

from tests.processes import ROOT, state
from tests.services import wait_until
from tests.soak.bed import SERVICES, unit_command
from tests.soak.markers import lag_s
from tests.soak.parts import Part, Supervisor, members
from tests.soak.places import Place, Places
from tests.soak.servers import here, made_in

PLACES = [Place("gib", "gib-0", card) for card in range(4)]


@pytest.mark.parametrize("role", SERVICES)
def test_services_run_with_the_commands_of_their_units(role: str) -> None:
    command = unit_command(role, 2, 4711, Path("/data"))
    assert command[0].startswith(str(Path(sys.executable).parent))
    assert not any("/opt/gpudash" in word or "/var/lib" in word or "%%" in word for word in command)


def test_two_of_a_service_have_names_and_ports_of_their_own() -> None:
    assert "--listen=127.0.0.1:4711" in unit_command("web", 1, 4711, Path("/data"))
    assert "--hostname=watch-2@%h" in unit_command("watch", 2, 0, Path("/data"))


def test_the_shipped_configuration_of_nginx_is_used() -> None:
    text = here((ROOT / "deploy" / "nginx.conf").read_text(), 4711, Path("/here"), [1, 2])
    assert "upstream soak {\nserver 127.0.0.1:1;\nserver 127.0.0.1:2;\n}" in text
    assert text.count("listen ") == 1
    assert "listen 127.0.0.1:4711 ssl;" in text
    assert "ssl_certificate /here/gpudash.crt;" in text
    assert "X-Forwarded-For $remote_addr" in text


def test_a_configuration_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match=r"nginx\.conf is not as the soak knows it"):
        here("server { listen 8080; }", 1, Path("/here"), [1])


def test_an_audit_log_tells_the_jobs_that_were_made() -> None:
    job = {"responseObject": {"metadata": {"name": "j", "uid": "u"}}}
    lines = [
        {"responseStatus": {"code": 201}, "requestURI": "/apis/batch/v1/namespaces/n/jobs", **job},
        {"responseStatus": {"code": 409}, "requestURI": "/apis/batch/v1/namespaces/n/jobs", **job},
        {"responseStatus": {"code": 201}, "requestURI": "/apis/batch/v1/namespaces/n/jobs?dryRun=All", **job},
    ]
    assert list(made_in([json.dumps(line) for line in lines])) == [("j", "u")]


def test_the_lag_is_the_age_of_the_first_marker_that_is_missing() -> None:
    written = {1: 100.0, 2: 101.0, 3: 102.0}
    assert lag_s(written, 3, 110.0) == 0.0
    assert lag_s(written, 1, 110.0) == 9.0
    assert lag_s({}, 0, 110.0) == 0.0


def test_a_place_that_is_taken_is_nobody_elses() -> None:
    places = Places(PLACES[:1], Random(1))
    place = places.take_free(["gib"])
    assert place == PLACES[0]
    assert places.take_free(["gib"]) is None
    assert places.take_node("gib-0") is None
    places.give(place, {"pod": 1})
    assert places.take_free(["gib"]) is None
    assert places.take_held(["gib"]) == (place, {"pod": 1})
    places.give(place)
    assert places.take_held(["gib"]) is None
    assert places.take_node("gib-0") == PLACES[:1]


def test_a_process_that_dies_is_told_and_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.soak.parts.RESTART_S", 0.1)
    # It says hello when its child runs: who is stopped between fork and exec holds its parent, too, where no signal is taken.
    child = "import subprocess, time; subprocess.Popen(['sleep', '60']); print('hello', flush=True); time.sleep(60)"
    part = Part("web-1", "web", [sys.executable, "-c", child], {}, tmp_path / "log")
    supervisor = Supervisor([part])
    supervisor.start()
    try:
        wait_until(lambda: "hello" in part.log.read_text(), "it has started its child")
        assert len(members(part.pid)) == 2
        first = part.pid
        part.signal_all(signal.SIGSTOP)
        wait_until(lambda: all(state(pid) == "T" for pid in members(first)), "both are stopped")
        part.signal_all(signal.SIGCONT)
        part.kill(first)
        wait_until(lambda: part.log.read_text().count("hello") == 2, "it runs again")
        assert part.pid not in (0, first)
        assert len(members(part.pid)) == 2
        assert supervisor.deaths == []
        assert members(first) == []
        os.kill(part.pid, signal.SIGTERM)
        wait_until(lambda: bool(supervisor.deaths), "its death is seen")
    finally:
        supervisor.stop()
    (death,) = supervisor.deaths
    assert (death.part, death.code, "hello" in death.last_words) == ("web-1", -signal.SIGTERM, True)
    assert death.at <= time.monotonic()
    assert members(part.pid) == []
