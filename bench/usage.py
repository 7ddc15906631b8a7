"""One round of the exporters of 40,000 cards, twenty metrics each: a real Prometheus asked, joined, written into PostgreSQL.

Prometheus gets its samples as a block on disk, of this minute, so that nothing has to be scraped first; rounds are made by a
process of its own (`usage_rounds`), the first of which writes every row and the second none.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.answers import Answers
from bench.report import MIB, emit, measure, progress
from tests import services
from tests.processes import ROOT, Processes

NODES, SMALL_NODES = 5000, 200
#: As dcgm-exporter has them by default: name → value.
METRICS = {
    "DCGM_FI_DEV_SM_CLOCK": 1410,
    "DCGM_FI_DEV_MEM_CLOCK": 1215,
    "DCGM_FI_DEV_MEMORY_TEMP": 52,
    "DCGM_FI_DEV_GPU_TEMP": 47,
    "DCGM_FI_DEV_POWER_USAGE": 215.5,
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": 1.5e11,
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": 0,
    "DCGM_FI_DEV_GPU_UTIL": 63,
    "DCGM_FI_DEV_MEM_COPY_UTIL": 21,
    "DCGM_FI_DEV_ENC_UTIL": 0,
    "DCGM_FI_DEV_DEC_UTIL": 0,
    "DCGM_FI_DEV_XID_ERRORS": 0,
    "DCGM_FI_DEV_FB_FREE": 21_000,
    "DCGM_FI_DEV_FB_USED": 19_000,
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS": 0,
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS": 0,
    "DCGM_FI_DEV_ROW_REMAP_FAILURE": 0,
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": 0.61,
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": 0.23,
    "DCGM_FI_PROF_DRAM_ACTIVE": 0.31,
}


def run(small: bool) -> None:
    """Raises Missing."""
    nodes = SMALL_NODES if small else NODES
    programs = [shutil.which(name) for name in ("prometheus", "promtool")]
    if None in programs:
        raise services.Missing("no Prometheus here (prometheus, promtool); Debian: apt-get install prometheus")
    with services.postgres() as server, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        processes = Processes(folder, server.create("usage"), GPUDASH_ENV_FILE="")
        processes.call("migrate", "--verbosity", "0")
        environment = {**os.environ, **processes.environment}
        progress(f"usage: a mirror of {nodes} nodes")
        command = [sys.executable, "-m", "bench.usage_rounds", "fill", str(nodes)]
        cards = json.loads(measure(command, environment, str(ROOT)).output)
        _write_block(folder, cards)
        port = services.free_port()
        options = [f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}"]
        (folder / "prometheus.yml").write_text("{}")
        log = (folder / "log").open("wb")
        process = subprocess.Popen(
            ["prometheus", f"--config.file={folder / 'prometheus.yml'}", *options], stdout=log, stderr=log
        )
        try:
            _measure(port, environment, len(cards))
        finally:
            services.end(process)


def _measure(port: int, environment: dict[str, str], cards: int) -> None:
    services.wait_until(lambda: _ready(port), "Prometheus is ready", 60)
    for what in ("first", "again"):
        progress(f"usage: round, {what}")
        command = [
            sys.executable,
            *("-m", "bench.usage_rounds", "round"),
            f"http://127.0.0.1:{port}",
        ]
        done = measure(command, environment, str(ROOT))
        said = json.loads(done.output.splitlines()[-1])
        answers = Answers()
        answers.expect("state", (said["state"], said["reason"]), ("reading", ""))
        answers.expect("cards measured", said["cards_measured"], cards)
        answers.expect("cards whose memory is known", said["used_known"], cards)
        answers.expect("rows written", said["rows_written"], cards if what == "first" else 0)
        peak = done.peak_bytes / MIB
        emit("usage", answers, round=what, cards=cards, metrics=len(METRICS), cpu_s=done.cpu_s, peak_mib=peak, **said)
    _measure_looks(environment, cards)


def _measure_looks(environment: dict[str, str], cards: int) -> None:
    """What the schedule does each minute with what was measured: what is idle, and what does not go together."""
    progress("usage: a look")
    done = measure([sys.executable, "-m", "bench.usage_rounds", "look"], environment, str(ROOT))
    said, answers = json.loads(done.output.splitlines()[-1]), Answers()
    answers.expect("allocations judged", said["judged"], said["held"] or cards)
    emit("usage-look", answers, peak_mib=done.peak_bytes / MIB, **said)


def _write_block(folder: Path, cards: list[tuple[str, int, str]]) -> None:
    """cards: (node, index, UUID)."""
    progress(f"usage: {len(cards) * len(METRICS)} samples as a block")
    now, page = time.time(), folder / "samples.om"
    with page.open("w") as file:
        for name, value in METRICS.items():
            file.write(f"# TYPE {name} gauge\n")
            for number, (node, index, uuid) in enumerate(cards):
                # Each card has a value of its own, of what is not a count of errors.
                own = value * (0.5 + number % 997 / 2000)
                file.write(
                    f'{name}{{DCGM_FI_DRIVER_VERSION="550.90.07",Hostname="{node}",UUID="{uuid}",container="exporter",'
                    f'device="nvidia{index}",endpoint="metrics",exported_container="main",exported_namespace="team-{index}",'
                    f'exported_pod="train-{node}-{index}",gpu="{index}",instance="{node}:9400",job="dcgm-exporter",'
                    f'modelName="NVIDIA A100-SXM4-40GB",namespace="gpu-operator",pod="dcgm-{node}"}} {own:.6g} {now:.3f}\n'
                )
        file.write("# EOF\n")
    command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", str(page), str(folder / "data")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    page.unlink()


def _ready(port: int) -> bool:
    import urllib.request

    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
