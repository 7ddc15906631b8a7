"""nccl-tests all_reduce_perf on the cards of one node: they talk to each other, give right sums, and how fast."""

from __future__ import annotations

from validations.suites.engine.base import (
    Demo,
    Image,
    Lines,
    Needs,
    Option,
    Reading,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.demo import Container
from validations.suites.engine.options import common, image, linux
from validations.suites.shared.nccl_tests import PHRASES, TRANSPORT, read_table
from validations.suites.shared.nccl_transport import ENV
from wording.said import sentence

VERSION = 4


def read(lines: Lines) -> Reading:
    """The proof is the footer of a test on one host."""
    reading, table = read_table(lines)
    table.transport.conclude(reading, one_host=True)
    if len({place[0] for place in table.places}) > 1:
        reading.proof, reading.missing = None, sentence("The log names several hosts.")
    if any(text.startswith("rccl-tests: ") for text in lines.texts):
        reading.proof, reading.missing = None, sentence("The log is one of rccl-tests, for AMD cards.")
    return reading


def _workload(target: Target, values: Values) -> Workload:
    sizes = ("-b", "8", "-e", str(values["largest"]), "-f", "2", "-g", str(values["cards"]), "-c", "1")
    return Workload(
        image=str(values["image"]),
        command=("all_reduce_perf",),
        args=sizes,
        env=ENV,
        host_memory=str(values["host_memory"]),
        shared_memory="1Gi",
        cpus=2 + 2 * int(values["cards"]),
    )


def _demo_values(container: Container) -> dict[str, str]:
    """The ranks that the program lists before its table."""
    ranks = [
        f"#  Rank {card.place:2d} Group  0 Pid  {13919 + card.place} on {container.node:>10} device {card.place:2d} "
        f"[0000:{0x1A + 4 * card.index:02x}:00] {container.gpu}"
        for card in container.cards
    ]
    return {"nccl_ranks": "\n".join(ranks)}


SUITE = Suite(
    id="nccl-allreduce",
    title="NCCL all-reduce",
    proves=gettext_noop("The cards of one node exchange data with the right sums. The bandwidth is measured."),
    level="checked",
    os=("linux",),
    families=("nvidia-gpu",),
    parser_version=VERSION,
    cards=2,
    options=(
        image(
            "nvcr.io/nvidia/pytorch:25.06-py3",
            gettext_noop("Container image with all_reduce_perf on its path. The default image has about 20 GB."),
        ),
        Option(
            name="cards",
            help=gettext_noop("Number of cards to use."),
            default=2,
            kind="number",
            minimum=2,
            maximum=16,
        ),
        Option(name="largest", help=gettext_noop("Largest transfer."), default="128M", pattern=r"[1-9][0-9]{0,5}[KMG]"),
        *linux(),
        *common(deadline_s=7200, host_memory="8Gi"),
    ),
    read=read,
    pod_security="restricted",
    workload=_workload,
    needs={"linux": Needs(cuda="12.9", capability="5.0")},
    measures=True,
    demo=Demo(images=(Image(mark="all_reduce_perf", seconds=9, size=20_000_000_000),), values=_demo_values),
    proof="# Avg bus bandwidth    : 29.5",
    source="NVIDIA/nccl-tests `common.cu`, `util.cu`",
    phrases=(*PHRASES, TRANSPORT),
)
