"""The program that a container compiles for an AMD card, compiled here with a stand-in for HIP that computes on the processor."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from validations.suites.engine.base import Outcome, read_log
from validations.suites.hip_vectoradd import _PROGRAM, SUITE

#: What the program uses of HIP. NO_CARD: no call finds a card. WRONG: the card loses one sum.
STAND_IN = r"""
#include <cstddef>
#include <cstdlib>
#include <cstring>
#define __global__
enum hipError_t { hipSuccess, hipErrorNoDevice };
enum hipMemcpyKind { hipMemcpyHostToDevice, hipMemcpyDeviceToHost };
struct hipDeviceProp_t { char name[256]; };
struct dim3 { unsigned x; dim3(unsigned x) : x(x) {} };
static dim3 blockIdx(0), blockDim(0), threadIdx(0);
#ifdef NO_CARD
const hipError_t FOUND = hipErrorNoDevice;
#else
const hipError_t FOUND = hipSuccess;
#endif
inline const char *hipGetErrorString(hipError_t) { return "no ROCm-capable device is detected"; }
inline hipError_t hipGetDeviceProperties(hipDeviceProp_t *card, int) { strcpy(card->name, "Stand-in"); return FOUND; }
inline hipError_t hipDeviceGetPCIBusId(char *to, int, int) { strcpy(to, "0000:c1:00.0"); return FOUND; }
template <class T> hipError_t hipMalloc(T **to, size_t size) { *to = (T *)malloc(size); return FOUND; }
inline hipError_t hipMemcpy(void *to, const void *from, size_t size, hipMemcpyKind) { memcpy(to, from, size); return FOUND; }
inline hipError_t hipGetLastError() { return FOUND; }
inline hipError_t hipDeviceSynchronize() { return FOUND; }
template <class K, class... T> void hipLaunchKernelGGL(K kernel, dim3 blocks, dim3 threads, int, int, T... given) {
  blockDim = threads;
#ifdef WRONG
  blocks.x -= 1;
#endif
  for (blockIdx.x = 0; blockIdx.x < blocks.x; blockIdx.x++)
    for (threadIdx.x = 0; threadIdx.x < threads.x; threadIdx.x++) kernel(given...);
}
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("given", "verdict", "reasons"),
    [
        ("", "passed", []),
        ("-DWRONG", "failed", ["verification", "exit-code"]),
        ("-DNO_CARD", "failed", ["no-device", "exit-code"]),
    ],
)
def test_the_program_says_what_the_suite_reads(given: str, verdict: str, reasons: list[str], tmp_path: Path) -> None:
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip" / "hip_runtime.h").write_text(STAND_IN)
    (tmp_path / "sum.cpp").write_text(_PROGRAM)
    program = tmp_path / "sum"
    subprocess.run(["g++", "-O1", *given.split(), f"-I{tmp_path}", "-o", program, tmp_path / "sum.cpp"], check=True)
    done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    result = SUITE.parse(read_log(done.stdout), Outcome(exit_code=done.returncode))
    assert (result.verdict, [reason.code for reason in result.reasons]) == (verdict, reasons)
    assert result.facts == ({"device": "Stand-in", "pci_bus_id": "0000:c1:00.0"} if given != "-DNO_CARD" else {})
