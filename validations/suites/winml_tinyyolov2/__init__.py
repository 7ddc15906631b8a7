"""WinMLRunner with the Tiny YOLOv2 model: DirectX inference on Windows, by any of the DirectX device plugins.

Passed needs a hardware adapter by name, an evaluation on it that succeeded, no failure anywhere (the exit code is that of
the last configuration only) and exit code 0. The log format is in `log`, the failure texts in `failures`.
"""

from __future__ import annotations

from validations.suites.engine.adapters import is_software, software_name, vgpu
from validations.suites.engine.base import (
    Campaign,
    Demo,
    Image,
    Lines,
    Needs,
    Option,
    Past,
    Policy,
    Reading,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.figures import duration, rounded
from validations.suites.engine.options import REGION, common, image
from validations.suites.engine.phrases import Phrase
from validations.suites.engine.placement import pick, with_api
from validations.suites.winml_tinyyolov2.failures import PHRASES, report
from validations.suites.winml_tinyyolov2.log import Block, Record, collect
from wording.said import sentence

VERSION = 4
_MODEL = r"c:\data\tinyyolov2-7\model.onnx"

#: Integrated GPUs may be slower than a large processor; this much slower is none.
_MUCH_SLOWER = 2.0
#: Kinds of devices that are told.
_MOST_STRANGE = 8
#: Measurements that depend on disk, start-up or the processor more than on the card.
_NOT_OF_THE_CARD = frozenset(
    (
        "load",
        "gpu_session",
        "cpu_session",
        "gpu_first_evaluate",
        "cpu_first_evaluate",
        "gpu_bind",
        "cpu_bind",
        "cpu_evaluate",
    )
)


def read(lines: Lines) -> Reading:
    """Facts, measurements and observations of a WinMLRunner log."""
    record = collect(lines)
    reading = Reading()
    report(record, reading)
    _devices(record, reading)
    _evaluation(record, reading, lines)
    _measurements(record, reading)
    _speed(record, reading)
    _fallback(record, reading)
    return reading


def _devices(record: Record, reading: Reading) -> None:
    """Name the adapter; a software adapter or none at all is a "no", whatever else succeeded."""
    hardware = [device for device in record.devices if device.adapter]
    for device in hardware:
        software = is_software(device.adapter or "") or is_software(device.wrapped)
        if software:
            reading.failed(
                "software-adapter",
                sentence("Ran on a software adapter: {adapter}.", adapter=device.adapter),
                device.line,
            )
            break
    if hardware:
        reading.facts["gpu_name"] = software_name(hardware[0].wrapped) or hardware[0].adapter
        if profile := vgpu(hardware[0].adapter or ""):
            reading.facts |= {"vgpu_profile": profile.profile, "slice_gib": profile.gib}
    elif not reading.has("failed", "errored"):
        _no_gpu(record, reading)
    for kind, line in list(record.strange.items())[:_MOST_STRANGE]:
        reading.remark("unknown-value", sentence("Unknown device type in the log: “{kind}”.", kind=kind), line)
    for name, value in (("model_name", record.model), ("model_path", record.path)):
        if value:
            reading.facts[name] = value


def _no_gpu(record: Record, reading: Reading) -> None:
    unnamed = [device for device in record.devices if device.adapter == ""]
    elsewhere = any(not step.cpu for step in record.steps) or any(not block.cpu for block in record.blocks)
    cpu = [device.line for device in record.devices if device.adapter is None] + [
        step.line for step in record.steps if step.cpu
    ]
    if cpu and not unnamed and not elsewhere and not record.strange:
        reading.failed("cpu-only", sentence("Ran on the CPU only. No GPU device was created."), cpu[0])
    else:
        reading.missing = sentence("No adapter in the log.")


def _evaluation(record: Record, reading: Reading, lines: Lines) -> None:
    """The proof: a GPU results block with its average, else the first GPU evaluation that succeeded."""
    evaluated = next((step.line for step in record.steps if step.gpu and step.ok and step.phase == "Evaluating"), None)
    block = next((block for block in record.blocks if block.gpu), None)
    whole = block is not None and _evaluate_label(block) in block.values
    if block is not None and block.iterations:
        reading.facts["iterations"] = block.iterations
    elif evaluated is not None and not record.terse:
        reading.facts["iterations"] = max(step.iteration for step in record.steps if step.gpu and step.ok)
    if "gpu_name" not in reading.facts:
        return
    if block is not None and whole:
        reading.proof = block.line
    elif evaluated is None:
        reading.missing = sentence("The adapter was found, but the log ends before an evaluation on it.")
    elif lines.cut:
        reading.missing = sentence("The log is truncated and has no results block.")
    elif block is None:
        reading.proof, reading.stands_alone = evaluated, False
        reading.missing = sentence("The log has no results block, and no exit code shows that the run finished.")
        if not reading.has("failed", "errored"):
            reading.remark("no-performance", sentence("Evaluated on the adapter. No results block."), evaluated)
    else:
        reading.missing = sentence("The results block of the GPU is incomplete.")


def _evaluate_label(block: Block) -> str:
    """With one iteration there is no average; with more, the first one alone would be a wrong number."""
    return "Evaluate" if block.iterations == 1 else "Average Evaluate"


def _measurements(record: Record, reading: Reading) -> None:
    gpu = next((block for block in record.blocks if block.gpu), None)
    cpu = next((block for block in record.blocks if block.cpu), None)
    if gpu is not None:
        _take(reading, gpu, {"load": "Load", "gpu_session": "Session Creation", "gpu_first_evaluate": "Evaluate"})
        average = "" if gpu.iterations == 1 else "Average "
        _take(reading, gpu, {"gpu_bind": f"{average}Bind", "gpu_evaluate": f"{average}Evaluate"})
    if cpu is not None:
        _take(reading, cpu, {"cpu_evaluate": _evaluate_label(cpu)} | ({} if gpu else {"load": "Load"}))
    _quotients(reading)


def _take(reading: Reading, block: Block, labels: dict[str, str]) -> None:
    for name, label in labels.items():
        text, line = block.values.get(label, ("", 0))
        value = duration(text)
        if value is None and text:
            reading.remark("not-a-number", sentence("{label} is {text}: ignored.", label=label, text=text), line)
            reading.facts.setdefault("unreadable", []).append(name)
        reading.measure(name, value, "ms")


def _quotients(reading: Reading) -> None:
    got = {name: measured.value for name, measured in reading.measurements.items()}
    if "gpu_bind" in got and "gpu_evaluate" in got:
        per_second = 1000 / (got["gpu_bind"] + got["gpu_evaluate"])
        reading.measure("gpu_inferences_per_second", duration(str(rounded(per_second))), "1/s")
    if "cpu_evaluate" in got and "gpu_evaluate" in got:
        reading.measure("speedup", duration(str(rounded(got["cpu_evaluate"] / got["gpu_evaluate"]))), "x")


def _speed(record: Record, reading: Reading) -> None:
    """An adapter that is far slower than the processor beside it does not do the work that its name promises."""
    got = {name: measured.value for name, measured in reading.measurements.items()}
    block = next((block for block in record.blocks if block.gpu), None)
    if block is None or "cpu_evaluate" not in got or "gpu_evaluate" not in got:
        return
    times = got["gpu_evaluate"] / got["cpu_evaluate"]
    if times > _MUCH_SLOWER:
        text = sentence("The adapter takes {times} times as long as the CPU.", times=f"{rounded(times):g}")
        reading.warning("slower-than-cpu", text, block.values[_evaluate_label(block)][1])


def _fallback(record: Record, reading: Reading) -> None:
    """The trace that warns of CPU operators also fires when a CPU configuration runs beside: then it says nothing."""
    line = next((number for number, text in record.messages if "CPU fallback detected" in text), None)
    if line is None:
        return
    if any(device.adapter is None for device in record.devices):
        reading.remark(
            "cpu-fallback",
            sentence("CPU operators in the log. A CPU configuration also ran, so this proves nothing."),
            line,
        )
    else:
        reading.warning("cpu-fallback", sentence("Some operators of the model ran on the CPU."), line)


def _workload(target: Target, values: Values) -> Workload:
    """Alibaba's sample image with its own entry point; any other image is told what to run."""
    given = str(values["image"])
    alibaba = pick(SUITE.families, target, values).family.name == "directx-alibaba"
    # The -vpc host answers inside Alibaba's network only.
    host = "registry-vpc" if alibaba else "registry"
    registry = f"{host}.{values['region']}.aliyuncs.com/acs/sample-gpu-windows:v1.0.0"
    args = (
        (
            "WinMLRunner.exe",
            "-model",
            str(values["model"]),
            "-GPU",
            "-Perf",
            "-Terse",
            "-Iterations",
            str(values["iterations"]),
        )
        if given
        else ()
    )
    return Workload(
        image=given or registry,
        command=args,
        host_memory=str(values["host_memory"]),
        # The processor is measured too: it gets as much as a node of that kind has.
        cpus=16,
        disk="20Gi",
    )


SUITE = Suite(
    id="winml-tinyyolov2",
    title="WinML, Tiny YOLOv2",
    proves=gettext_noop("DirectX inference runs on a hardware adapter of the node. The speed is measured."),
    level="ran",
    os=("windows",),
    families=with_api("directx"),
    parser_version=VERSION,
    options=(
        Option(
            name="image",
            help=gettext_noop(
                "Container image with WinMLRunner.exe. Empty: the Alibaba Cloud sample image (15 GB) from the "
                "registry of the region."
            ),
            default="",
            pattern=image("x").pattern,
        ),
        Option(
            name="region",
            help=gettext_noop("Alibaba Cloud region of the registry."),
            default="cn-hangzhou",
            pattern=REGION,
        ),
        Option(
            name="model",
            help=gettext_noop("Model path, for a custom image."),
            default=_MODEL,
            pattern=r"[^\x00-\x1f\"]{1,255}",
        ),
        Option(
            name="iterations",
            help=gettext_noop("Number of evaluations, for a custom image (the sample image runs 100)."),
            default=100,
            kind="number",
            minimum=1,
            maximum=1024,
        ),
        *common(deadline_s=14_400, host_memory="2Gi"),
    ),
    read=read,
    pod_security="baseline",
    workload=_workload,
    needs={"windows": Needs(builds=("10.0.17763", "10.0.18363", "10.0.19041"))},
    measures=True,
    demo=Demo(
        images=(
            Image(mark="sample-gpu-windows", seconds=14, size=15_300_000_000),
            Image(mark="winmlrunner", seconds=14, size=6_000_000_000),
        ),
        nodes={"ackwin0002": "software-adapter", "ackwin0003": "device-removed", "ackwin0004": "cut"},
        exits={"device-removed": -2005270523},
        past=Past(
            runs=2,
            campaigns=(Campaign(name="Windows nodes before the release", nodes=("ackwin",), ago=3),),
            policies=(Policy(name="Windows", stack="directx-alibaba", days=14, level="ran"),),
        ),
    ),
    not_compared=_NOT_OF_THE_CARD,
    proof="Evaluating (device = GPU, iteration = 1, …)...[SUCCESS], after the name of a hardware adapter",
    source="microsoft/Windows-Machine-Learning `WinMLRunner`",
    phrases=(
        Phrase(
            "Created LearningModelDevice with GPU: Microsoft Basic Render Driver",
            "software-adapter",
            "Ran on a software adapter",
        ),
        Phrase(
            "Created LearningModelDevice with CPU device, and no GPU",
            "cpu-only",
            "Ran on the CPU only",
            example="Created LearningModelDevice with CPU device",
        ),
        Phrase(
            "Evaluating (device = GPU, …)...[FAILED]",
            "evaluating",
            "The adapter did not evaluate the model",
            example="Evaluating (device = GPU, iteration = 1, inputBinding = CPU, inputDataType = Tensor, "
            "deviceCreationLocation = WinML)...[FAILED]",
        ),
        *PHRASES,
    ),
    reasons=(
        ReasonWords(
            "binding",
            gettext_noop("input not bound"),
            "Check the other reasons for the cause.",
        ),
        ReasonWords(
            "cpu-fallback",
            gettext_noop("ran partly on the CPU"),
            "Check that the adapter supports all operators of the model.",
        ),
        ReasonWords(
            "evaluating",
            gettext_noop("an evaluation failed"),
            "Check the other reasons for the cause.",
        ),
        ReasonWords(
            "evaluation",
            gettext_noop("a step failed"),
            "Read this line of the log and the following lines.",
        ),
        ReasonWords(
            "exception",
            gettext_noop("the runner ended with an exception"),
            "Read the preceding lines in the log, then rerun it.",
        ),
        ReasonWords(
            "no-performance",
            gettext_noop("no results in the log"),
            "No action. To measure, run it with `-Perf`.",
        ),
        ReasonWords(
            "not-a-number",
            gettext_noop("invalid measurement"),
            "No action. The measurement is ignored.",
        ),
        ReasonWords(
            "slower-than-cpu",
            gettext_noop("adapter much slower than the CPU"),
            "Check the driver of the adapter, other workloads on it and the clocks of the card.",
        ),
        ReasonWords(
            "session",
            gettext_noop("no session on the device"),
            "Check the driver of the adapter and its free memory.",
        ),
    ),
)
