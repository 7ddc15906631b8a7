"""What the demo's cluster prints for a suite is read as what it is: a pass on a sound node, a failure on one that is not."""

from __future__ import annotations

from functools import cache

import pytest

from fleetsim import outcomes, recordings
from fleetsim.fleet import Fleet
from fleetsim.machines import Machine
from fleetsim.programs import container
from gpudash.demo_programs import demo_programs
from validations.suites import registry
from validations.suites.engine.base import Outcome, Resource, Result, Run, Target, read_log

PROGRAMS = demo_programs()


@cache
def machines() -> dict[str, Machine]:
    return {one.name: one for one in Fleet(seed=1, now=1_780_000_000.0, programs=PROGRAMS).world.machines}


def run(suite_id: str, node: str, resource: str) -> Result:
    """The Job of a suite on a machine of the demo, and the log that its program has there."""
    suite, machine = registry()[suite_id], machines()[node]
    target = Target(node=node, resources=(Resource(name=resource, allocatable=64, free=64),))
    job = suite.manifest(target, {}, Run(id="1", namespace="gpudash-validation"))
    script = outcomes.script(PROGRAMS, {"metadata": {}, "spec": job["spec"]["template"]["spec"]}, machine, True)
    here = container(machine, list(range(suite.cards)), (), machine.supplies[resource])
    log = recordings.text(*script.recording, machine, here)
    return suite.parse(read_log(log.encode()), Outcome(exit_code=script.exit_code))


@pytest.mark.parametrize(
    ("suite_id", "node", "resource", "verdict", "code"),
    [
        ("nvbandwidth", "dgx-h100-01", "nvidia.com/gpu", "passed", ""),
        ("gpu-burn", "dgx-h100-01", "nvidia.com/gpu", "passed", ""),
        ("gpu-burn", "dgx-a100-02", "nvidia.com/gpu", "failed", "verification"),
        ("nccl-allreduce", "dgx-h100-01", "nvidia.com/gpu", "passed", ""),
        ("rccl-allreduce", "gpu-mi210-01", "amd.com/gpu", "passed", ""),
        ("hip-vectoradd", "gpu-mi210-01", "amd.com/gpu", "passed", ""),
        ("hip-vectoradd", "gpu-mi300x-01", "amd.com/cpx_nps1", "failed", "verification"),
        ("rocm-smi", "gpu-mi300x-01", "amd.com/cpx_nps1", "passed", ""),
        ("rocm-validation-suite", "gpu-mi210-01", "amd.com/gpu", "failed", "below-target"),
    ],
)
def test_a_suite_runs_in_the_demo(suite_id: str, node: str, resource: str, verdict: str, code: str) -> None:
    result = run(suite_id, node, resource)
    assert (result.verdict, result.reasons[0].code if result.reasons else "") == (verdict, code)
