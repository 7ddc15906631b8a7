"""How rows of one card are joined: which one counts, what is added, what is refused, and that all of it is told."""

from __future__ import annotations

import itertools
import math

import pytest

from exporters import CardReading, Context, Sample
from exporters.engine import cards, reader
from exporters.engine.measures import MEASURES
from exporters.engine.readings import MOST_ENTRIES
from tests.exporters.build import FORMAT, NOW, read, sample, told

MIB = 2.0**20
POD = {"namespace": "ml", "pod": "t-0", "container": "main"}
OTHER = {"namespace": "ml", "pod": "t-1", "container": "main"}


def only(*samples: Sample, **known: object) -> CardReading:
    (reading,) = read(*samples, **known).readings  # type: ignore[arg-type]
    return reading


def test_of_rows_of_pods_the_highest_counts_and_never_their_sum() -> None:
    rows = [
        sample("util", 40, **POD),
        sample("util", 60, **OTHER),
        sample("used", 10, **POD),
        sample("used", 10, **OTHER),
    ]
    for order in itertools.permutations(rows):
        reading = only(*order)
        assert (reading.value("utilization"), reading.value("memory_used")) == (0.6, 10 * MIB)
        assert [holder.pod for holder in reading.holders] == ["t-0", "t-1"]


def test_a_row_without_a_pod_is_the_cards_own_whatever_the_others_say() -> None:
    rows = [sample("used", 4, **POD), sample("used", 3), sample("used", 9, **OTHER)]
    for order in itertools.permutations(rows):
        reading = only(*order)
        assert reading.value("memory_used") == 3 * MIB
        assert reading.values["memory_used"].standing == 0


def test_of_rows_of_different_scrapes_the_newest_counts() -> None:
    rows = [sample("util", 90, NOW - 200), sample("util", 10, NOW - 5, **POD), sample("util", 50, NOW - 400, **OTHER)]
    for order in itertools.permutations(rows):
        report = read(*order)
        (reading,) = report.readings
        assert (reading.value("utilization"), reading.values["utilization"].at) == (0.1, NOW - 5)
        assert [holder.pod for holder in reading.holders] == ["t-0"]
        assert told(report) == {"holder-gone": 1}


def test_rows_of_one_moment_that_differ_by_more_than_a_card_changes_disagree() -> None:
    report = read(sample("temp", 40, **POD), sample("temp", 75, **OTHER))
    assert report.readings[0].value("temperature") == 75
    assert told(report) == {"rows-disagree": 1}
    assert told(read(sample("temp", 40, **POD), sample("temp", 60, **OTHER))) == {}
    assert told(read(sample("temp", 40, NOW - 90), sample("temp", 75, NOW))) == {}


def test_of_two_metrics_of_one_measure_the_first_one_counts_while_it_is_fresh() -> None:
    for used, at in ((5.0, NOW - 30), (7.0, NOW - 100)):
        rows = [sample("used", 5, at), sample("used_bytes", 7 * MIB, NOW)]
        for order in (rows, rows[::-1]):
            assert only(*order).value("memory_used") == used * MIB


def test_parts_are_added_or_the_highest_of_them_counts() -> None:
    tiles = [sample("ecc", number, tile=str(number)) for number in (1, 2, 4)]
    engines = [sample("engine", share, tile=str(share)) for share in (0.2, 0.7)]
    for order in itertools.permutations([*tiles, *engines]):
        reading = only(*order)
        assert (reading.value("ecc_corrected_volatile"), reading.value("tensor_active")) == (7, 0.7)


def test_the_same_part_told_for_each_pod_is_added_once() -> None:
    rows = [sample("ecc", 3, tile=tile, **pod) for tile in ("0", "1") for pod in (POD, OTHER)]
    assert only(*rows).value("ecc_corrected_volatile") == 6


def test_a_part_of_an_older_scrape_is_not_added() -> None:
    reading = only(sample("ecc", 3, NOW - 200, tile="0"), sample("ecc", 4, NOW, tile="1"))
    assert reading.values["ecc_corrected_volatile"].value == 4


def test_a_measure_with_more_parts_than_are_kept_has_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cards, "MOST_PARTS", 3)
    report = read(*(sample("ecc", 1, tile=str(number)) for number in range(4)))
    assert report.readings[0].values == {}
    assert report.readings[0].refused == {"ecc_corrected_volatile": "too-many-holders"}


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("used", math.nan, "not-a-number"),
        ("used", math.inf, "not-a-number"),
        ("used", -math.inf, "not-a-number"),
        ("used", -1, "sentinel"),
        ("used", -2, "implausible"),
        ("used", 9223372036854775794, "sentinel"),
        ("used", 2147483632, "sentinel"),
        ("used", 2147483647, "sentinel"),
        ("used", 4294967295, "sentinel"),
        ("used", 18446744073709551615, "sentinel"),
        ("used", 17e12 / MIB, "implausible"),
        ("used_bytes", 17e12, "implausible"),
        ("used_bytes", 1.8446744073705546e19, "implausible"),
        ("util", 106, "implausible"),
        ("util", 2147483632, "sentinel"),
        ("temp", 999, "implausible"),
        ("temp", 140737488355328, "sentinel"),
        ("ecc", 2147483632, "sentinel"),
        ("ecc", 9223372036854775792, "sentinel"),
    ],
)
def test_what_no_card_can_have_is_no_value_and_says_why(name: str, value: float, code: str) -> None:
    report = read(sample(name, value))
    (reading,) = report.readings
    assert reading.values == {}
    assert list(reading.refused.values()) == [code]
    assert told(report) == {code: 1}
    assert report.problems[0].cards == ("GPU-1",)


def test_a_row_that_is_believed_outweighs_one_that_is_not() -> None:
    for rows in itertools.permutations([sample("util", 40), sample("util", math.nan, **POD)]):
        report = read(*rows)
        assert report.readings[0].value("utilization") == 0.4
        assert report.readings[0].refused == {}
        assert told(report)["not-a-number"] == 1


def test_a_share_just_above_one_is_one() -> None:
    assert only(sample("util", 104)).value("utilization") == 1.0


def test_zero_where_nothing_is_measured_is_no_value_and_no_problem() -> None:
    report = read(sample("temp", 0, node="n1"))
    assert (report.readings[0].values, report.readings[0].refused, told(report)) == ({}, {}, {})


@pytest.mark.parametrize("at", [NOW + 301, -1.0, math.nan, math.inf])
def test_a_row_of_a_time_that_is_none_is_left_out(at: float) -> None:
    report = read(sample("util", 40, at), sample("util", 10))
    assert report.readings[0].value("utilization") == 0.1
    assert told(report)["bad-time"] == 1


def test_more_memory_used_than_the_card_has_is_no_value() -> None:
    report = read(sample("used", 9000), sample("total", 8192))
    assert report.readings[0].value("memory_used") is None
    assert report.readings[0].refused == {"memory_used": "more-than-total"}
    assert told(report)["more-than-total"] == 1
    assert only(sample("used", 8200), sample("total", 8192)).value("memory_used") == 8200 * MIB
    refused = only(sample("used", 9000), sizes={"1": 8 << 30})
    assert refused.refused == {"memory_used": "more-than-total"}


def test_a_card_whose_own_rows_do_not_tell_its_memory_has_that_of_its_slices() -> None:
    slices = [
        sample("used", 10, slice="1"),
        sample("used", 20, slice="2", **POD),
        sample("used", 20, slice="2", **OTHER),
    ]
    readings = {reading.key: reading for reading in read(*slices, sample("util", 5)).readings}
    assert sorted(readings) == ["GPU-1", "GPU-1/1", "GPU-1/2"]
    assert readings["GPU-1"].value("memory_used") == 30 * MIB
    assert readings["GPU-1"].derived == ("memory_used",)
    own = {reading.key: reading for reading in read(*slices, sample("used", 50)).readings}
    assert (own["GPU-1"].value("memory_used"), own["GPU-1"].derived) == (50 * MIB, ())


def test_slices_of_which_one_does_not_tell_its_memory_are_not_added() -> None:
    report = read(sample("used", 10, slice="1"), sample("used", math.nan, slice="2"))
    assert [reading.key for reading in report.readings if "memory_used" in reading.values] == ["GPU-1/1"]
    assert told(report)["partly-summed"] == 1


def test_the_node_is_that_which_a_label_names_and_not_a_label_of_that_name() -> None:
    assert (
        only(
            sample("util", 5, node="", Hostname="dcgm-exporter-x", instance="10.0.0.1:9400", kubernetes_node="n2")
        ).node
        == "n2"
    )
    assert only(sample("util", 5, node="elsewhere", hostname="n1")).node == "n1"
    lost = read(sample("util", 5, node="elsewhere"))
    assert lost.readings[0].node is None
    assert told(lost) == {"node-unknown": 1}


def test_a_card_on_two_nodes_is_on_none() -> None:
    for rows in itertools.permutations(
        [sample("util", 5, node="n1"), sample("temp", 50, node="n2"), sample("used", 5, node="n1")]
    ):
        report = read(*rows)
        assert report.readings[0].node is None
        assert told(report)["node-disagrees"] == 1


def test_a_later_row_tells_the_node_that_the_first_did_not() -> None:
    assert only(sample("util", 5, node=""), sample("temp", 50, node="n1")).node == "n1"


def test_a_card_with_no_name_of_its_own_is_named_within_its_node() -> None:
    rows = [Sample("acme_util", {"gpu": "0", "node": node}, 5.0, None) for node in ("n1", "n2")]
    assert [(reading.key, reading.uuid, reading.index) for reading in read(*rows).readings] == [
        ("n1/0", None, 0),
        ("n2/0", None, 0),
    ]
    lost = read(
        Sample("acme_util", {"gpu": "0"}, 5.0), Sample("acme_util", {"node": "n1"}, 5.0), Sample("acme_util", {}, 5.0)
    )
    assert (lost.readings, lost.unknown, told(lost)) == ((), 3, {"card-unknown": 3})


@pytest.mark.parametrize(
    "uuid", ["", "GPU-00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000000", "x" * 200]
)
def test_a_uuid_that_names_no_card_is_not_relied_on(uuid: str) -> None:
    (reading,) = read(Sample("acme_util", {"UUID": uuid, "bus": "00000000:1A:00.0", "node": "n1"}, 5.0)).readings
    assert (reading.key, reading.pci_bus_id) == ("n1/0000:1a:00.0", "0000:1a:00.0")


def test_samples_of_other_names_are_counted() -> None:
    report = read(sample("util", 5), Sample("other", {"UUID": "GPU-1"}, 5.0))
    assert (report.samples, report.unknown) == (2, 1)


def test_cards_and_holders_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_CARDS", 3)
    report = read(*(sample("util", 5, UUID=f"GPU-{number}") for number in range(1, 9)))
    assert len(report.readings) == 3
    assert told(report)["too-many-cards"] == 5
    crowd = read(*(sample("util", 5, namespace="ml", pod=f"t-{number}") for number in range(MOST_ENTRIES + 9)))
    assert len(crowd.readings[0].holders) == MOST_ENTRIES
    assert told(crowd)["too-many-holders"] == 9


def test_the_pod_of_the_exporter_is_no_holder_of_the_cards_that_are_idle() -> None:
    """Prometheus writes the target's pod into all rows, and moves the exporter's own label away where there is one."""
    target = {"namespace": "own", "pod": "my-gpu-metrics-0", "container": "exporter"}
    busy = sample("util", 50, exported_pod="t-0", exported_namespace="ml", exported_container="main", **target)
    idle = sample("util", 0, UUID="GPU-2", **target)
    for rows in ((busy, idle), (idle, busy)):
        report = read(*rows)
        holders = {reading.key: [holder.pod for holder in reading.holders] for reading in report.readings}
        assert holders == {"GPU-1": ["t-0"], "GPU-2": []}
        assert told(report) == {"holder-not-a-user": 1}


def test_rows_may_come_in_pieces_and_from_labels_that_are_shared() -> None:
    rows = [
        sample(name, 5 + number, NOW - number, **pod)
        for number, name in enumerate(("util", "temp", "used"))
        for pod in (POD, OTHER)
    ]
    one = FORMAT.reader(Context(now=NOW, nodes=frozenset(("n1",))))
    for row in rows:
        one.add([row])
    assert one.report() == read(*rows, nodes=("n1",))


def test_a_prefix_stands_before_all_names() -> None:
    prefixed = FORMAT.reader(Context(now=NOW), "site_")
    prefixed.add([Sample("site_acme_util", {"UUID": "GPU-1"}, 5.0), sample("util", 9)])
    report = prefixed.report()
    assert report.readings[0].value("utilization") == 0.05
    assert report.unknown == 1


def test_measures_are_declared_with_a_range_a_label_and_a_name_of_their_own() -> None:
    labels = [measure.label for measure in MEASURES.values()]
    assert len(set(labels)) == len(labels)
    for name, measure in MEASURES.items():
        assert name == measure.name
        assert measure.low < measure.high
        assert measure.apart >= 0
        assert math.isfinite(measure.high)
