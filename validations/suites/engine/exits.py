"""What an exit code and a termination reason say, Linux and Windows.

Sources: `winerror.h`, `ntstatus.h` and `dxgitype` constants for the HRESULTs; POSIX shells for 126 and above; the kubelet's
termination reasons. Knows nothing of log texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from validations.suites.engine.verdict import Observation, Outcome, Verdict
from wording.said import sentence


class Code(NamedTuple):
    """A named exit code: what kind of "no" it is, and the words for it."""

    name: str
    severity: Verdict
    code: str
    text: str


HRESULTS: dict[int, Code] = {
    0x887A0001: Code("DXGI_ERROR_INVALID_CALL", "errored", "exit-code", sentence("invalid call")),
    0x887A0002: Code("DXGI_ERROR_NOT_FOUND", "failed", "no-adapter", sentence("no such adapter")),
    0x887A0004: Code(
        "DXGI_ERROR_UNSUPPORTED", "failed", "no-adapter", sentence("interface or feature level not supported")
    ),
    0x887A0005: Code("DXGI_ERROR_DEVICE_REMOVED", "failed", "device-removed", sentence("the device was removed")),
    0x887A0006: Code("DXGI_ERROR_DEVICE_HUNG", "failed", "device-removed", sentence("the device hung")),
    0x887A0007: Code("DXGI_ERROR_DEVICE_RESET", "failed", "device-removed", sentence("the device was reset")),
    0x887A0020: Code("DXGI_ERROR_DRIVER_INTERNAL_ERROR", "failed", "driver", sentence("internal driver error")),
    0x887A002B: Code("DXGI_ERROR_ACCESS_DENIED", "errored", "exit-code", sentence("access denied")),
    0x80070490: Code("ERROR_NOT_FOUND", "failed", "no-adapter", sentence("element not found: no hardware adapter")),
    0x80070057: Code("E_INVALIDARG", "errored", "bad-arguments", sentence("invalid argument")),
    0x80070002: Code("ERROR_FILE_NOT_FOUND", "errored", "model-load", sentence("file not found")),
    0x8007000E: Code("E_OUTOFMEMORY", "errored", "out-of-memory", sentence("out of memory")),
    0x80004001: Code("E_NOTIMPL", "errored", "exit-code", sentence("not implemented")),
    0xC0000135: Code("STATUS_DLL_NOT_FOUND", "errored", "image", sentence("a DLL is missing: image or driver mounts")),
    0xC0000005: Code("STATUS_ACCESS_VIOLATION", "errored", "exit-code", sentence("access violation")),
    0xC0000409: Code("STATUS_STACK_BUFFER_OVERRUN", "errored", "exit-code", sentence("abort or uncaught exception")),
    0xC000013A: Code("STATUS_CONTROL_C_EXIT", "errored", "killed", sentence("stopped by Ctrl-C or shutdown")),
}

_POSIX: dict[int, Code] = {
    126: Code("", "errored", "image", sentence("the command could not be executed")),
    127: Code("", "errored", "image", sentence("the command was not found in the image")),
}
_SIGNALS = {
    1: "SIGHUP",
    2: "SIGINT",
    4: "SIGILL",
    6: "SIGABRT",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL",
    11: "SIGSEGV",
    15: "SIGTERM",
}
#: Signals by which others end a process; the rest are its own crashes.
_KILLS = frozenset({1, 2, 9, 15})

#: What the kubelet or the Job controller gives as reason. What is said of a whole pod has the code with which a run ends by it.
_REASONS: dict[str, tuple[str, str]] = {
    "OOMKilled": ("killed", sentence("OOMKilled: the container exceeded its host memory limit.")),
    "DeadlineExceeded": ("timeout", sentence("DeadlineExceeded: the run exceeded its deadline.")),
    "Evicted": ("evicted", sentence("Evicted: the node removed the pod.")),
    "Preempting": ("evicted", sentence("Preempted by a pod of higher priority.")),
    "Preempted": ("evicted", sentence("Preempted by a pod of higher priority.")),
    "Terminated": ("node-lost", sentence("Terminated by a node shutdown.")),
    "NodeShutdown": ("node-lost", sentence("Terminated by a node shutdown.")),
    "Shutdown": ("node-lost", sentence("Terminated by a node shutdown.")),
    "NodeLost": ("node-lost", sentence("The node was lost.")),
    "NodeAffinity": ("refused-by-node", sentence("The node no longer matches the pod's affinity.")),
    "UnexpectedAdmissionError": (
        "refused-by-node",
        sentence("The kubelet rejected the pod: UnexpectedAdmissionError."),
    ),
    "OutOfcpu": ("refused-by-node", sentence("The kubelet rejected the pod: OutOfcpu.")),
    "OutOfmemory": ("refused-by-node", sentence("The kubelet rejected the pod: OutOfmemory.")),
    "StartError": (
        "image",
        sentence("StartError: the container could not start. A program or a driver file is missing."),
    ),
    "ContainerCannotRun": ("image", sentence("ContainerCannotRun: a program or a driver file is missing.")),
    "ContainerStatusUnknown": ("killed", sentence("The state of the container was lost with its node.")),
}


def describe(code: int) -> str:
    """An exit code as text: plain when small, else as HRESULT with its name. Signed or unsigned input."""
    word = code & 0xFFFFFFFF
    if 0 <= code <= 255:
        return str(code)
    named = HRESULTS.get(word)
    return (
        sentence("{code} = 0x{word} {name} ({text})", code=code, word=f"{word:08X}", name=named.name, text=named.text)
        if named
        else sentence("{code} = 0x{word}", code=code, word=f"{word:08X}")
    )


def observe(outcome: Outcome, explained: bool, own: Mapping[int, Code] | None = None) -> list[Observation]:
    """What the end of the container says; empty for exit code 0. explained: the log itself says why it did not pass.

    own: what the exit codes of the program itself mean.
    """
    seen = _by_reason(outcome)
    if outcome.signal:
        seen.append(_signal(outcome.signal, sentence("Ended by signal {signal}", signal=outcome.signal)))
    if outcome.exit_code is not None:
        # A reason that Kubernetes gives says more than the code that came with it.
        if outcome.exit_code != 0 and not seen:
            seen.append(_by_code(outcome.exit_code, explained, own or {}))
    elif outcome.text_alone:
        seen.append(
            Observation(
                "passed",
                "exit-code-unknown",
                sentence("Exit code unknown. The verdict uses only the log text."),
            )
        )
    elif not seen:
        seen.append(
            Observation("errored", "exit-code", sentence("Exit code unknown. The log text alone proves nothing."))
        )
    return seen


def _by_reason(outcome: Outcome) -> list[Observation]:
    known = _REASONS.get(outcome.reason)
    if known:
        return [Observation("errored", *known)]
    if outcome.reason in ("", "Completed", "Error"):
        return []
    text = sentence("The container ended: {reason}.", reason=outcome.reason[:100])
    return [Observation("errored", "exit-code", text)]


def _by_code(code: int, explained: bool, own: Mapping[int, Code]) -> Observation:
    text = sentence("Exit code {code}", code=describe(code))
    if (said := own.get(code)) is not None:
        return Observation(
            said.severity,
            "exit-code" if explained else said.code,
            sentence("{text}: {meaning}.", text=text, meaning=said.text),
        )
    if 128 < code < 128 + 65:
        return _signal(code - 128, text)
    named = HRESULTS.get(code & 0xFFFFFFFF) if not 0 <= code <= 255 else _POSIX.get(code)
    if named is None:
        return Observation("errored", "exit-code", sentence("{text}.", text=text))
    words = (
        sentence("{text}: {meaning}.", text=text, meaning=named.text)
        if code in _POSIX
        else sentence("{text}.", text=text)
    )
    # Where the log says what happened, the code only repeats it; a kill stays a kill.
    return Observation(named.severity, "exit-code" if explained and named.code != "killed" else named.code, words)


def _signal(number: int, text: str) -> Observation:
    name = _SIGNALS.get(number) or sentence("signal {number}", number=number)
    code = "killed" if number in _KILLS else "exit-code"
    return Observation("errored", code, sentence("{text}: {name}.", text=text, name=name))
