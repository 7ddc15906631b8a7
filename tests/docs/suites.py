"""`python -m tests.docs.suites`: writes docs/reference/suites.md from the declarations of suites and families.

Knows the declarations and nothing of runs. A test compares the file with what this would write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.processes import ROOT
from validations.suites import registry
from validations.suites.engine import placement
from validations.suites.engine.base import Needs, Suite
from validations.suites.engine.needs import driver_for

PAGE = ROOT / "docs" / "reference" / "suites.md"

HEAD = """\
# Suites and their requirements

<!-- Written by `python -m tests.docs.suites` from validations/suites; do not edit. -->

*Requirements* are those of the suite's own image on a node. *Pod Security* is the level that its pod needs on Linux; on Windows all
need `baseline`. Levels of a pass: [validations.md](../validations.md#test-levels).
"""


LOGS = """
## Logs

The form of a log is read in the program's own source; the golden logs of the tests have this form. Runs were tested with a simulated
kubelet, never on hardware.

| Suite | Log form of | Version read | Untested without the hardware |
| --- | --- | --- | --- |
"""
GOLDEN = ROOT / "tests" / "validations" / "suites" / "golden"
_VERSION = re.compile(r"[\w.-]+/[\w.-]+ (v?\d+(?:\.\d+)+|[0-9a-f]{7})(?![\w.])")
#: What only a card shows, besides its figures.
UNTESTED = {
    "dcgm-diag": "real faults; the time of level 3",
    "gpu-burn": "heat and power over the whole time; real faults",
    "hip-vectoradd": "compiling for each architecture; messages of clang",
    "nccl-multinode": "InfiniBand, RoCE and EFA; mpirun of the default image; the loss of a real link",
    "nvbandwidth": "real bandwidths; images after v0.7",
    "rccl-allreduce": "RCCL between several cards; real bandwidths",
    "rocm-smi": "answers of the AMD driver",
    "rocm-validation-suite": "speeds that AMD's configurations demand of each card",
}


def page() -> str:
    """The whole page, as Markdown: a table of the suites, then the requirements of devices, the logs, and the options."""
    suites = registry().values()
    rows = [
        f"| `{one.id}` | {', '.join(one.os).title()} | {needs_of(one)} | `{one.pod_security}` | `{one.level}` | {one.proves} |"
        for one in suites
    ]
    return (
        "\n".join(
            [
                HEAD,
                "| Suite | OS | Requirements | Pod Security | Level | A pass proves |",
                "| --- | --- | --- | --- | --- | --- |",
                *rows,
                "\n## Devices\n",
                "| Resource | The node needs |",
                "| --- | --- |",
                *_devices(),
                LOGS + "\n".join(map(_log, suites)),
                *(_options(one) for one in suites),
            ]
        )
        + "\n"
    )


def needs_of(suite: Suite) -> str:
    """What its own image needs of a node."""
    return "; ".join(", ".join(_needs(one)) for one in suite.needs.values())


def _needs(one: Needs) -> Iterator[str]:
    if one.cuda:
        yield f"driver {driver_for(one.cuda)} (CUDA {one.cuda})"
    if one.driver:
        yield f"driver {one.driver}"
    if one.capability:
        yield f"compute capability {one.capability}"
    if one.builds:
        yield f"Windows build {', '.join(one.builds)}"


def _log(suite: Suite) -> str:
    """Where the form of its log comes from, and what was never seen."""
    path = GOLDEN / suite.id / "sources.txt"
    versions = sorted(set(_VERSION.findall(path.read_text(encoding="utf-8"))))
    told = UNTESTED.get(suite.id, "the run itself")
    return f"| `{suite.id}` | {suite.source} | {', '.join(versions) or 'not numbered'} | {told} |"


def _devices() -> Iterator[str]:
    for family in placement.registry.families.values():
        needs = family.needs
        said = [f"containerd {needs.containerd}"] if needs.containerd else []
        said += [f"kubelet {needs.kubernetes}"] if needs.kubernetes else []
        if said:
            yield f"| {', '.join(f'`{name}`' for name in family.resources)} | {', '.join(said)} |"


def _options(suite: Suite) -> str:
    rows = [
        f"| `{one.name}` | {f'`{one.default}`' if one.default not in ('', None) else ''} | {one.help} |"
        for one in suite.options
    ]
    return "\n".join([f"\n## {suite.id}\n", "| Option | Default | |", "| --- | --- | --- |", *rows])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(registry())} suites")
