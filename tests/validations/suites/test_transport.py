"""Which transport a NCCL log names, and when it is a warning."""

from __future__ import annotations

import pytest

from validations.suites.engine.verdict import Reading
from validations.suites.shared.nccl_transport import Transport

INFO = "gpu-1:195:201 [0] NCCL INFO "
NVLINK_THERE = "+ NVL[200.0] - NVS/0"
GRAPH = "Pattern 4, crossNic 0, nChannels 12, bw 20.0/20.0, type {}, sameChannels 1"
CHANNEL = "Channel 00/0 : 0[0] -> 8[0] [send] via {}"
IB_THERE = "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.1.2.3<0>"


def told(*lines: str, asked: str = "", one_host: bool = False) -> tuple[list[str], list[str]]:
    """The fact, and the texts of the warnings."""
    reading, transport = Reading(), Transport(asked)
    for number, line in enumerate(lines, 1):
        transport.add(f"[1,0]<stdout>:{INFO}{line}", number)
    transport.conclude(reading, one_host=one_host)
    assert {one.code for one in reading.observations} <= {"transport"}
    return reading.facts.get("transport", []), [str(one.text) for one in reading.observations]


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read", GRAPH.format("NVL/PIX")], ["NVLink P2P"]),
        (["Channel 00/0 : 0[0] -> 1[1] via P2P/IPC", GRAPH.format("PHB/SYS")], ["PCIe P2P"]),
        (["Channel 00 : 0[1a000] -> 1[1b000] via P2P/IPC"], ["P2P"]),
        (["Channel 00/0 : 0[0] -> 4[0] via P2P/MNNVL"], ["NVLink P2P"]),
        (["Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct"], ["SHM"]),
        ([CHANNEL.format("NET/IB/0/GDRDMA"), IB_THERE], ["NET/IB"]),
        ([CHANNEL.format("NET/IBext_v8/0/GDRDMA")], ["NET/IB"]),
        ([CHANNEL.format("NET/AWS Libfabric/0/GDRDMA")], ["NET/OFI"]),
        ([CHANNEL.format("NET/Libfabric/0/GDRDMA")], ["NET/OFI"]),
        (["Channel 00/0 : 0[0] -> 1[1] via P2P/IPC", CHANNEL.format("NET/IB/1")], ["P2P", "NET/IB"]),
        (["NET/IB : No device found."], []),
    ],
)
def test_the_transport_is_what_the_channels_take(lines: list[str], names: list[str]) -> None:
    assert told(*lines) == (names, [])


@pytest.mark.parametrize(
    ("lines", "asked", "one_host", "warning"),
    [
        ([CHANNEL.format("NET/Socket/0")], "NET/IB", False, "over NET/Socket, not over NET/IB"),
        ([IB_THERE, CHANNEL.format("NET/Socket/0")], "", False, "over NET/Socket, not over NET/IB"),
        (["NCCL_IB_HCA set to mlx5", CHANNEL.format("NET/Socket/0")], "", False, "not over NET/IB"),
        (["FI_PROVIDER set by environment to efa", CHANNEL.format("NET/Socket/0")], "", False, "not over NET/OFI"),
        (
            [NVLINK_THERE, "Channel 00/0 : 0[0] -> 1[1] via SHM/direct/direct"],
            "",
            True,
            "over SHM, not over NVLink P2P",
        ),
        ([NVLINK_THERE, GRAPH.format("PHB/SYS"), "Channel 00/0 : 0[0] -> 1[1] via P2P/IPC"], "", True, "over PCIe P2P"),
        ([CHANNEL.format("NET/Socket/0")], "", True, "over NET/Socket, not over P2P"),
    ],
)
def test_an_unexpected_transport_is_a_warning(lines: list[str], asked: str, one_host: bool, warning: str) -> None:
    _names, warnings = told(*lines, asked=asked, one_host=one_host)
    assert len(warnings) == 1
    assert warning in warnings[0]


def test_sockets_between_hosts_are_a_warning_whatever_else_is_there() -> None:
    """A fabric whose library is missing looks like none at all."""
    names, warnings = told("NET/IB : No device found.", CHANNEL.format("NET/Socket/0"))
    assert names == ["NET/Socket"]
    assert "not over RDMA" in warnings[0]


def test_of_hosts_whose_channels_are_not_listed_the_chosen_net_is_told() -> None:
    names, warnings = told("NET/Socket : Using [0]eth0:10.0.0.1<0>")
    assert (names, len(warnings)) == (["NET/Socket"], 1)
    assert told("NET/IB : Using [0]mlx5_0:1/IB [RO]") == (["NET/IB"], [])


def test_a_hostile_log_keeps_few_names() -> None:
    names, _warnings = told(*(CHANNEL.format(f"NET/fabric{number}/0") for number in range(100)))
    assert len(names) == 8
