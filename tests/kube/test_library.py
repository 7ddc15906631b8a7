"""Threads that reach a cluster first, while another has the client library half imported: they wait for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.processes import ROOT

TOGETHER = """
import sys, threading, time
from kube.client import Client

failed, together = [], threading.Barrier(12)

def reach(number):
    together.wait()
    time.sleep(number * 0.005)
    try:
        Client(sys.argv[1])
    except Exception as error:
        failed.append(error)

threads = [threading.Thread(target=reach, args=(number,)) for number in range(12)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(str(failed[0]) if failed else 0)
"""
KUBECONFIG = """
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: a, user: {token: secret}}]
"""


def test_threads_that_begin_together_have_the_library(tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(KUBECONFIG)
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", TOGETHER, str(file)], cwd=ROOT, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr[-2000:]
