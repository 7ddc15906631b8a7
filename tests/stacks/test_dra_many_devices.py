"""A node may have any number of ResourceSlices, each with up to 128 devices: all are read, or a finding says that they are not."""

from __future__ import annotations

from time import process_time

from kube.claims import Attribute, Capacity, Counters, Device, Pool, ResourceSlice, SliceSpec
from kube.objects import Metadata, Node
from stacks.dra.cards import cards_of
from stacks.dra.findings import MOST_DEVICES
from stacks.dra.pools import pools
from stacks.engine.base import Context, NodeReport
from stacks.engine.node_report import node_report

GIB = 1 << 30


def report(number: int, parts: bool = False) -> NodeReport:
    """A node with so many devices of 1 GiB, as a driver publishes them. parts: each ten are parts of one card."""
    devices = [device(place, parts) for place in range(number)]
    chunks = [devices[start : start + 128] for start in range(0, number, 128)]
    slices = tuple(
        ResourceSlice(
            Metadata(name=f"s{place}"),
            SliceSpec("gpu.nvidia.com", Pool("n1", 1, len(chunks)), nodeName="n1", devices=chunk),
        )
        for place, chunk in enumerate(chunks)
    )
    return node_report(Node(Metadata(name="n1")), [], Context(now=0.0, slices=slices, claims_read=True))


def device(place: int, parts: bool) -> Device:
    attributes = {"type": Attribute(string="gpu"), "uuid": Attribute(string=f"GPU-{place}")}
    if parts:
        attributes = {"type": Attribute(string="mig"), "parentUUID": Attribute(string=f"GPU-{place // 10}")}
    return Device(attributes=attributes, capacity={"memory": Capacity(GIB)}, name=f"gpu-{place}")


def test_all_devices_of_many_slices_are_cards() -> None:
    found = report(3000)
    assert (found.cards_total, len(found.cards), found.memory_total_bytes) == (3000, 3000, 3000 * GIB)
    assert not found.findings


def test_many_parts_lie_on_their_cards() -> None:
    found = report(3000, parts=True)
    assert (found.cards_total, found.memory_total_bytes) == (300, 3000 * GIB)


def test_cards_and_parts_that_all_take_of_one_counter_set_are_sorted_in_one_walk() -> None:
    """Each part looks at two cards at most: with all of them these are 64 million comparisons."""
    kinds = ("gpu", "mig")
    devices = [
        Device(
            name=f"gpu-{place}",
            attributes={"type": Attribute(string=kinds[place % 2])},
            consumesCounters=[Counters(counterSet="all")],
        )
        for place in range(MOST_DEVICES)
    ]
    slices = (
        ResourceSlice(
            Metadata(name="s"), SliceSpec("gpu.nvidia.com", Pool("n1", 1, 1), nodeName="n1", devices=devices)
        ),
    )
    offered = pools(slices)
    began = process_time()
    found = cards_of(list(offered.devices.values()), offered)
    assert process_time() - began < 2.0
    assert len(found.parts) == MOST_DEVICES // 2


def test_a_node_at_the_bound_is_read() -> None:
    assert report(MOST_DEVICES).cards_total == MOST_DEVICES


def test_beyond_the_bound_the_number_is_unknown_and_said() -> None:
    found = report(MOST_DEVICES + 1)
    assert (found.cards_total, found.cards, found.memory_total_bytes) == (None, (), None)
    [finding] = found.findings
    assert finding.code == "dra-too-many-devices"
    assert str(MOST_DEVICES + 1) in finding.text
