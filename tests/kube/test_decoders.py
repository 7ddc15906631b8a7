"""Threads that need a struct for the first time at once: they wait for each other, and the process lives."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.processes import ROOT

#: Threads are switched as often as can be, so that one of them meets what another has half done.
TOGETHER = """
import sys, threading
sys.setswitchinterval(1e-6)
from kube import objects
from kube.decoders import converted, decoder

ONES = {
    objects.Pod: b'{"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c"}]}, "status": {"phase": "Running"}}',
    objects.DaemonSet: b'{"metadata": {"name": "a"}, "spec": {"template": {"spec": {"containers": [{"name": "c"}]}}}}',
    objects.Node: b'{"metadata": {"name": "a"}, "spec": {"taints": [{"key": "k", "effect": "e"}]}, "status": {}}',
}
together = threading.Barrier(6)

def read(kind):
    together.wait()
    mine = decoder(kind)
    for _ in range(50):
        assert mine.decode(ONES[kind]).metadata.name == "a"
    assert converted({"metadata": {"name": "b"}}, kind).metadata.name == "b"

threads = [threading.Thread(target=read, args=(kind,)) for kind in (*ONES, *ONES)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
#: Types without a struct have no fields to be learnt.
_PLAIN = re.compile(r"type=(dict|list|tuple|str|int|bool|None)\b(?!\[Ask)")


def test_threads_that_begin_together_do_not_end_the_process() -> None:
    for _ in range(8):
        done = subprocess.run([sys.executable, "-c", TOGETHER], cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]


def test_structs_are_decoded_by_this_module_alone() -> None:
    others = {ROOT / name for name in ("tests", "tools", "bench", "fleetsim")}
    packages = {path.parent for path in ROOT.glob("*/__init__.py")} - others
    files = {file for package in packages for file in package.rglob("*.py")} - {ROOT / "kube" / "decoders.py"}
    assert len(files) > 500
    found = []
    for path in sorted(files):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            made = re.search(r"msgspec\.((json|msgpack)\.Decoder|msgpack\.decode|convert)\b(?!\[)", line)
            typed = "msgspec.json.decode(" in line and "type=" in line and not _PLAIN.search(line)
            if made or typed:
                found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not found, "\n".join(found)
