"""nccl-tests all_reduce_perf across the cards of several nodes: the result is of the group, never of one node or card."""

from __future__ import annotations

from typing import Any

from validations.suites.engine.base import (
    Demo,
    Group,
    Image,
    Needs,
    Option,
    Past,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.demo import Container
from validations.suites.engine.options import NAME, RESOURCE, common, image, linux
from validations.suites.nccl_multinode.bootstrap import SCRIPT
from validations.suites.nccl_multinode.reading import LOST, NOT_FORMED, read
from validations.suites.shared.nccl_tests import PHRASES, TRANSPORT
from validations.suites.shared.nccl_transport import ENV

VERSION = 1
_NETWORKS = r"([a-z0-9]([a-z0-9./@-]{0,250}[a-z0-9])?(,[a-z0-9]([a-z0-9./@-]{0,250}[a-z0-9])?){0,15})?"


def _workload(target: Target, values: Values) -> Workload:
    """Each rank has one card; mpirun starts them from the pod with index 0, through `bootstrap`."""
    least = int(values["min_bandwidth"])
    program = ("all_reduce_perf_mpi", "-b", str(values["smallest"]), "-e", str(values["largest"]), "-f", "2")
    env = dict(ENV)
    # Where a table of floors is to be asked: by suite, measurement and card model of the target.
    env |= {"NCCL_TESTS_MIN_BW": str(least)} if least else {}
    env |= {"NCCL_SOCKET_IFNAME": str(values["interface"])} if values["interface"] else {}
    rdma, networks = str(values["rdma_resource"]), str(values["networks"])
    return Workload(
        image=str(values["image"]),
        command=("python3", "-c", SCRIPT, str(values["cards"]), str(values["join_s"])),
        args=(*program, "-g", "1", "-c", "1"),
        env=env,
        host_memory=str(values["host_memory"]),
        shared_memory=str(values["shared_memory"]),
        cpus=2 + 2 * int(values["cards"]),
        devices={rdma: int(values["rdma_count"])} if rdma else {},
        # Memory that an adapter reads and writes by itself must not be swapped out.
        capabilities=("IPC_LOCK",) if rdma else (),
        annotations={"k8s.v1.cni.cncf.io/networks": networks} if networks else {},
    )


#: Microseconds of the transfers of the demo, out of place and in place, between cards of compute capability 9.0.
_DEMO_TIMES = {
    1 << 28: (1518.76, 1527.93),
    1 << 29: (2586.42, 2602.03),
    1 << 30: (4774.17, 4802.98),
    1 << 31: (9009.92, 9064.30),
    1 << 32: (17233.2, 17337.2),
    1 << 33: (33652.6, 33855.7),
}


def _demo_values(container: Container) -> dict[str, str]:
    """The ranks of two nodes that the program lists before its table, and the rows of the table. Hosts are the pods of the Job."""
    job = container.node.removesuffix("-0")
    ranks = [
        f"#  Rank {number * len(container.cards) + card.place:2d} Group  0 Pid  {41873 + 900 * number + card.place} "
        f"on {job + '-' + str(number):>10} device {card.place:2d} [0000:{0x1A + 4 * card.index:02x}:00] {container.gpu}"
        for number in range(2)
        for card in container.cards
    ]
    slower = 1.0 if container.compute >= "9.0" else 2.4
    share = 2 * (len(ranks) - 1) / len(ranks)
    rows, speeds = list[str](), list[float]()
    for size, times in _DEMO_TIMES.items():
        row = f"{size:12d} {size // 4:13d}     float     sum      -1 "
        for time in times:
            speed = size / (time * slower) / 1000
            row += f" {time * slower:7.6g} {speed:7.2f} {speed * share:7.2f}       0"
            speeds.append(speed * share)
        rows.append(row)
    average = f"{sum(speeds) / len(speeds):.3f}"
    return {
        "nccl_job": job,
        "nccl_ranks": "\n".join(ranks),
        "nccl_rows": "\n".join(rows),
        "nccl_first_rows": "\n".join(rows[:3]),
        "nccl_average": average,
    }


_CARDS: dict[str, Any] = {"default": 2, "kind": "number", "minimum": 1, "maximum": 16}

SUITE = Suite(
    id="nccl-multinode",
    title="NCCL between nodes",
    proves=gettext_noop("The cards of the nodes exchange data with the right sums. The bandwidth is measured."),
    level="checked",
    os=("linux",),
    families=("nvidia-gpu",),
    parser_version=VERSION,
    cards=2,
    nodes=2,
    options=(
        image(
            "nvcr.io/nvidia/pytorch:25.06-py3",
            gettext_noop("Container image with python3, mpirun of Open MPI and all_reduce_perf_mpi on its path."),
        ),
        Option(name="cards", help=gettext_noop("Number of cards to use on each node."), **_CARDS),
        Option(
            name="smallest", help=gettext_noop("Smallest transfer."), default="256M", pattern=r"[1-9][0-9]{0,5}[KMG]?"
        ),
        Option(name="largest", help=gettext_noop("Largest transfer."), default="8G", pattern=r"[1-9][0-9]{0,5}[KMG]"),
        Option(
            name="min_bandwidth",
            help=gettext_noop("Average bus bandwidth in GB/s below which the run fails, less 10 %. 0: measured only."),
            default=0,
            kind="number",
            maximum=100_000,
        ),
        Option(
            name="rdma_resource",
            help=gettext_noop(
                "Extended resource of InfiniBand, RoCE or EFA, such as rdma/ib. Adds IPC_LOCK: needs run_as_user 0 and "
                "a namespace with Pod Security privileged. Empty: none."
            ),
            default="",
            pattern=RESOURCE,
        ),
        Option(
            name="rdma_count",
            help=gettext_noop("Amount of it on each node."),
            default=1,
            kind="number",
            minimum=1,
            maximum=64,
        ),
        Option(
            name="networks",
            help=gettext_noop("Secondary networks of the pods (annotation k8s.v1.cni.cncf.io/networks). Empty: none."),
            default="",
            pattern=_NETWORKS,
        ),
        Option(
            name="interface",
            help=gettext_noop("Network interface for NCCL_SOCKET_IFNAME. Empty: NCCL chooses."),
            default="",
            pattern=NAME,
        ),
        Option(
            name="shared_memory", help=gettext_noop("Size of /dev/shm."), default="8Gi", pattern=r"[1-9][0-9]{0,3}Gi"
        ),
        Option(
            name="join_s",
            help=gettext_noop("Seconds to wait for the pods of the other nodes."),
            default=600,
            kind="number",
            minimum=10,
            maximum=3600,
        ),
        *linux(),
        *common(deadline_s=1800, host_memory="32Gi"),
    ),
    read=read,
    pod_security="restricted",
    workload=_workload,
    needs={"linux": Needs(cuda="12.9", capability="5.0")},
    measures=True,
    demo=Demo(
        images=(Image(mark="all_reduce_perf_mpi", seconds=9, size=20_000_000_000),),
        exits={"lost": 1},
        values=_demo_values,
        past=Past(
            groups=(
                Group(nodes=("dgx-a100-01", "dgx-a100-02"), ago=6),
                Group(nodes=("dgx-h100-01", "dgx-h100-02"), ago=3, outcome="lost"),
                Group(nodes=("dgx-h100-01", "dgx-a100-01"), ago=3),
                Group(nodes=("dgx-h100-02", "dgx-a100-02"), ago=3, outcome="lost"),
                Group(nodes=("dgx-h100-02", "dgx-a100-01"), ago=3, outcome="lost"),
            )
        ),
    ),
    proof="# Avg bus bandwidth    : 421.249",
    source="NVIDIA/nccl-tests `common.cu`, `util.cu`; Open MPI",
    phrases=(*NOT_FORMED, *LOST, *PHRASES, TRANSPORT),
    reasons=(
        ReasonWords(
            "group-broken",
            gettext_noop("a part of the group was lost during the test"),
            "Test each node alone, then pairs of one suspected and one good node. No node is blamed yet.",
        ),
    ),
)
