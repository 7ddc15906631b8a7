"""HIP vectorAdd: the shortest proof that a container can put work on an AMD card and gets the right answer.

No image has the sample, so the container compiles a program of ours that prints the lines of it: the name of the card, then PASSED or
how many sums are wrong. Unlike the sample it prints the PCI address too and checks each call. Source of the lines: ROCm/HIP-Examples
`vectorAdd/vectoradd_hip.cpp`. The sample's exit code is the number of errors, of which 256 are 0: the text decides.
"""

from __future__ import annotations

import re

import msgspec

from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Needs,
    Reading,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.demo import Container
from validations.suites.engine.figures import name
from validations.suites.engine.options import image
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.placement import with_api
from validations.suites.shared import rocm
from wording.said import sentence

VERSION = 1
_NAME = re.compile(r"agent prop name (.{1,200})")
_PCI = re.compile(r"PCI bus id ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])")
_ERROR = re.compile(r"HIP error: '(?P<message>.{1,200})' in ")
_WRONG = re.compile(r"FAILED: \d{1,10} errors")
_SOURCE = "ROCm/HIP-Examples `vectoradd_hip.cpp`"
#: A sum that the compiler cannot know, in blocks that do not divide the number of elements.
_PROGRAM = r"""#include <hip/hip_runtime.h>
#include <cstdio>
#include <vector>
#define TRY(call) \
  do { \
    hipError_t code = (call); \
    if (code != hipSuccess) { \
      fprintf(stderr, "HIP error: '%s' in %s\n", hipGetErrorString(code), #call); \
      return 1; \
    } \
  } while (0)
__global__ void sum(float *to, const float *one, const float *two, int number) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < number) to[at] = one[at] + two[at];
}
int main() {
  const int number = 1000003;
  hipDeviceProp_t card;
  char address[32] = "";
  TRY(hipGetDeviceProperties(&card, 0));
  TRY(hipDeviceGetPCIBusId(address, sizeof address, 0));
  printf(" agent prop name %s\n PCI bus id %s\nhip Device prop succeeded \n", card.name, address);
  fflush(stdout);
  std::vector<float> one(number), two(number), to(number, -1.0f);
  for (int at = 0; at < number; at++) one[at] = at, two[at] = at * 3.0f;
  const size_t size = number * sizeof(float);
  float *cards[3];
  for (auto &buffer : cards) TRY(hipMalloc(&buffer, size));
  TRY(hipMemcpy(cards[1], one.data(), size, hipMemcpyHostToDevice));
  TRY(hipMemcpy(cards[2], two.data(), size, hipMemcpyHostToDevice));
  hipLaunchKernelGGL(sum, dim3((number + 255) / 256), dim3(256), 0, 0, cards[0], cards[1], cards[2], number);
  TRY(hipGetLastError());
  TRY(hipDeviceSynchronize());
  TRY(hipMemcpy(to.data(), cards[0], size, hipMemcpyDeviceToHost));
  int errors = 0;
  for (int at = 0; at < number; at++) errors += to[at] != one[at] + two[at];
  if (errors) printf("FAILED: %d errors\n", errors); else printf("PASSED!\n");
  return errors ? 1 : 0;
}
"""
#: Compiled for the card that is there, where there is room to write.
_SCRIPT = f"""cat > /tmp/sum.hip <<'END'
{_PROGRAM}END
/opt/rocm/bin/hipcc --offload-arch=native -O1 -o /tmp/sum /tmp/sum.hip && exec /tmp/sum
"""


class _Marks(msgspec.Struct):
    """Where the lines of a run are, as places in the log."""

    named: list[int] = []
    found: list[int] = []
    passed: list[int] = []


def read(lines: Lines) -> Reading:
    """Facts `device`, `pci_bus_id`; the proof is the whole sequence of one run, once and in order."""
    reading = Reading(missing=sentence("The log has no complete run of the program."))
    marks = _Marks()
    for at, raw in enumerate(lines.texts):
        text = raw.strip()
        if text == "PASSED!":
            marks.passed.append(at)
        elif text == "hip Device prop succeeded":
            marks.found.append(at)
        elif text.startswith("agent prop name ") and (match := _NAME.fullmatch(text)):
            marks.named.append(at)
            reading.facts["device"] = name(match[1])
        elif text.startswith("PCI bus id ") and (match := _PCI.fullmatch(text)):
            reading.facts["pci_bus_id"] = match[1]
        else:
            _failure(reading, text, lines.numbers[at])
    _proof(reading, marks, lines)
    return reading


def _failure(reading: Reading, text: str, line: int) -> None:
    if text.startswith("HIP error: ") and (match := _ERROR.match(text)):
        rocm.report(reading, match["message"], text, line)
    elif text.startswith("FAILED: ") and _WRONG.match(text):
        reading.failed("verification", sentence("Wrong result: {text}", text=name(text)), line)
    elif "hipSuccess" in text and text.endswith("failed."):
        reading.failed("hip-error", sentence("A call of HIP failed: {text}", text=name(text)), line)
    elif "error: cannot determine " in text and "arch" in text:
        reading.failed("no-device", sentence("The compiler found no card: {text}", text=name(text)), line)
    elif ": error: " in text:
        reading.errored("not-compiled", sentence("The program was not compiled: {text}", text=name(text)), line)


def _proof(reading: Reading, marks: _Marks, lines: Lines) -> None:
    places = [marks.named, marks.found, marks.passed]
    if twice := next((found for found in places if len(found) > 1), None):
        reading.errored("mixed-log", sentence("The log contains lines of more than one run."), lines.numbers[twice[1]])
        return
    order = [found[0] for found in places if found]
    if len(order) == len(places) and order == sorted(order):
        reading.proof = lines.numbers[marks.passed[0]]


def _workload(target: Target, values: Values) -> Workload:
    return Workload(
        image=str(values["image"]),
        command=("/bin/sh", "-c", _SCRIPT),
        env={"HOME": "/tmp"},  # noqa: S108 (the only folder that can be written to)
        host_memory=str(values["host_memory"]),
    )


def _demo_values(container: Container) -> dict[str, str]:
    return {"hip_address": f"0000:{0x05 + 0x20 * (container.cards[0].index % 8 if container.cards else 0):02x}:00.0"}


SUITE = Suite(
    id="hip-vectoradd",
    title="HIP vectorAdd",
    proves=gettext_noop("A container gets an AMD card, runs a kernel on it and reads back the right result."),
    level="checked",
    os=("linux",),
    families=with_api("hip", os="linux"),
    parser_version=VERSION,
    options=(
        image(rocm.DEV, gettext_noop("Container image with the HIP compiler in /opt/rocm.")),
        *rocm.options(deadline_s=3600, host_memory="4Gi"),
    ),
    read=read,
    pod_security="baseline",
    workload=_workload,
    needs={"linux": Needs()},
    demo=Demo(
        images=(Image(mark="hipcc", seconds=9, size=3_300_000_000),),
        nodes={"gpu-mi300x-01": "verification"},
        exits={"verification": 1},
        values=_demo_values,
    ),
    proof="PASSED!",
    source=_SOURCE,
    phrases=(
        Phrase("FAILED: 3 errors", "verification", "Wrong result"),
        Phrase("==hipSuccess' failed.", "hip-error", "A call of HIP failed"),
        Phrase(
            "error: cannot determine",
            "no-device",
            "The compiler found no card",
            source="clang",
            example="clang++: error: cannot determine hip architecture: No HIP capable device found",
        ),
        Phrase(
            ": error: ",
            "not-compiled",
            "The program was not compiled",
            "errored",
            "clang",
            "sum.hip:9:3: error: unknown type",
        ),
        *rocm.phrases("HIP error: '{}' in hipMalloc(&buffer, size)"),
    ),
    reasons=(
        ReasonWords(
            "not-compiled",
            gettext_noop("program not compiled"),
            "Use an image with a complete HIP compiler, of a ROCm version that supports the card.",
            points_to="image",
        ),
    ),
)
