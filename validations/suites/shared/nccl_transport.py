"""How the cards of a NCCL run exchange data, by the lines of NCCL_DEBUG=INFO; one that is slower than it could be is a warning.

NCCL names what each channel takes: "Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM", "… via SHM/direct/direct", "… via NET/IB/0/GDRDMA".
Peer-to-peer is over NVLink or PCIe: which of them say the lines of the subsystem GRAPH. Source: NVIDIA/nccl `transport/*.cc`,
`graph/search.cc`, `graph/topo.cc`; names of nets of aws-ofi-nccl.
"""

from __future__ import annotations

import re

from validations.suites.engine.verdict import Reading
from wording.said import sentence

#: What makes NCCL say it. For the environment of a workload.
ENV = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,ENV,NET,GRAPH"}
NVLINK, PCIE, P2P, SHM = "NVLink P2P", "PCIe P2P", "P2P", "SHM"
IB, OFI, SOCKET = "NET/IB", "NET/OFI", "NET/Socket"
_VIA = re.compile(r"NCCL INFO Channel [0-9/]{1,12} ?: .{1,80} via ([A-Za-z0-9]{1,20})(?:/([A-Za-z0-9 _-]{1,40}))?")
_GRAPH = re.compile(r"NCCL INFO Pattern \d{1,3}, .{1,120}, type ([A-Z0-9]{3})/[A-Z0-9]{3}, ")
_ASKED = re.compile(r"NCCL INFO (NCCL_IB_HCA|NCCL_NET|FI_PROVIDER) set (?:by environment )?to (\S{1,60})")
_LINKED = re.compile(r"NCCL INFO .{0,40}\+ NVL\[")
#: Kinds of paths between cards of one host that are NVLink.
_NVLINK_PATHS = frozenset(("NVL", "NVB"))
#: Names of nets, in lower case → how the fabric is called.
_NETS = {"socket": SOCKET, "ofi": OFI, "aws libfabric": OFI, "libfabric": OFI}
#: Names that one log may have; others are no fabrics but noise.
_MOST = 8


class Transport:
    """State of one pass over a log. asked: the fabric that the workload asks for (`IB`, `OFI`), "" for none."""

    def __init__(self, asked: str = "") -> None:
        self.asked = asked
        self.used: dict[str, int] = {}
        self.offered: dict[str, int] = {}
        self.sockets: int | None = None
        self.paths: set[str] = set()
        self.linked = False

    def add(self, text: str, line: int) -> None:
        """Look at a line."""
        if "NCCL INFO" not in text:
            return
        if match := _VIA.search(text):
            name = _name(match[1], match[2] or "")
            if name and (name in self.used or len(self.used) < _MOST):
                self.used.setdefault(name, line)
        elif match := _GRAPH.search(text):
            self.paths.add(match[1])
        elif match := _ASKED.search(text):
            self.asked = self.asked or _asked(match[1], match[2])
        elif "NET/IB : Using" in text:
            self.offered.setdefault(IB, line)
        elif "NET/Socket : Using" in text:
            self.sockets = self.sockets or line
        elif "NET/OFI " in text and "Selected" in text:
            self.offered.setdefault(OFI, line)
        elif _LINKED.search(text):
            self.linked = True

    def found(self) -> dict[str, int]:
        """Transport → the first line that has it, in the order of the log."""
        return {self._between(name): line for name, line in self.used.items()}

    def _between(self, name: str) -> str:
        if name != P2P or not self.paths:
            return name
        return NVLINK if self.paths & _NVLINK_PATHS else PCIE

    def conclude(self, reading: Reading, *, one_host: bool) -> None:
        """The fact `transport`, and a warning for each that is not to be expected. Nothing where the log does not say."""
        found = self.found()
        if not one_host and not any(name.startswith("NET/") for name in found):
            # Between hosts it is the net that was chosen, whether or not the log goes on to list channels.
            found |= self.offered or ({SOCKET: self.sockets} if self.sockets else {})
        if not found:
            return
        reading.facts["transport"] = list(found)
        linked = self.linked or NVLINK in found or bool(self.paths & _NVLINK_PATHS)
        for name, line in found.items():
            better = NVLINK if linked and name in (SHM, PCIE) else ""
            if name.startswith("NET/") and one_host:
                better = NVLINK if linked else P2P
            elif name == SOCKET:
                better = self.asked or next(iter(self.offered), "" if one_host else "RDMA")
            if better:
                text = sentence("The cards exchange data over {name}, not over {better}.", name=name, better=better)
                reading.warning("transport", text, line)


def _name(kind: str, rest: str) -> str:
    if kind == "P2P":
        return NVLINK if rest == "MNNVL" else P2P
    if kind == "SHM":
        return SHM
    if kind != "NET" or not rest:
        return ""
    name = rest.strip()
    return _NETS.get(name.lower(), IB if "ib" in name.lower() else f"NET/{name[:20]}")


def _asked(name: str, value: str) -> str:
    if name == "FI_PROVIDER":
        return OFI
    if name == "NCCL_IB_HCA":
        return IB
    return {"ib": IB, "aws": OFI, "ofi": OFI}.get(value.rstrip(".").lower(), "")
