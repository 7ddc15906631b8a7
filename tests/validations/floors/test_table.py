"""The table of floors: which one holds for a measurement, and what is wrong with a file."""

from __future__ import annotations

import pytest

from validations.floors import COLUMNS, WrongFile, built_in, floor_for, parse, with_own

H100 = "NVIDIA H100 80GB HBM3"
GIB = 1 << 30
HEAD = ",".join(COLUMNS)
GOOD = f"nccl-allreduce,bus_bandwidth_max,{H100},8,16G,,450,GB/s,peak,our racks,acceptance 7,2026-06-01"


def test_every_floor_has_its_source_and_date() -> None:
    assert len(built_in()) >= 18
    for one in built_in():
        assert one.least > 0
        assert one.source
        assert one.date
        assert one.measured_on
        assert not one.own


@pytest.mark.parametrize(
    ("model", "given", "least"),
    [
        (H100, {"cards": 8, "message": 16 * GIB}, 460),
        ("NVIDIA-H100-80GB-HBM3", {"cards": 8, "message": 32 * GIB}, 460),
        ("NVIDIA H200", {"cards": 8, "message": 16 * GIB}, 431),
        (H100, {"cards": 8, "message": 128 << 20}, None),
        (H100, {"cards": 2, "message": 16 * GIB}, None),
        (H100, {}, None),
        ("NVIDIA H100 PCIe", {"cards": 8, "message": 16 * GIB}, None),
        ("", {"cards": 8, "message": 16 * GIB}, None),
    ],
)
def test_a_floor_holds_only_where_its_conditions_are_known_to_be_met(
    model: str, given: dict[str, int], least: float | None
) -> None:
    found = floor_for("nccl-allreduce", "bus_bandwidth_max", model, **given)
    assert (found.least if found else None) == least


def test_two_nodes_have_the_floor_of_their_machine_type() -> None:
    given = {"cards": 16, "message": 8 * GIB}
    for machine, least in (("a3-highgpu-8g", 60), ("a3-megagpu-8g", 150)):
        found = floor_for("nccl-multinode", "bus_bandwidth_max", H100, **given, machine=machine)
        assert found is not None
        assert found.least == least
    assert floor_for("nccl-multinode", "bus_bandwidth_max", H100, **given) is None


def test_a_file_replaces_a_built_in_floor_and_adds_others() -> None:
    more = GOOD.replace(H100, "NVIDIA H100 NVL").replace("450", "200")
    table = with_own(parse(f"{HEAD}\n{GOOD}\n\n{more}\n"))
    assert len(table) == len(built_in()) + 1
    for model, least in ((H100, 450), ("NVIDIA H100 NVL", 200)):
        found = floor_for("nccl-allreduce", "bus_bandwidth_max", model, cards=8, message=16 * GIB, table=table)
        assert found is not None
        assert (found.least, found.own, found.source) == (least, True, "acceptance 7")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: must be suite,"),
        ("suite,model\n", "line 1: must be suite,"),
        (f"{HEAD}\n{GOOD}\na,b\n", "line 3: 2 fields, must be 12"),
        (f"{HEAD}\n{GOOD.replace('450', 'nan')}", "line 2, field least: must be a number above 0; found 'nan'"),
        (f"{HEAD}\n{GOOD.replace('450', '-1')}", "line 2, field least"),
        (f"{HEAD}\n{GOOD.replace('450', '1e999')}", "line 2, field least"),
        (f"{HEAD}\n{GOOD.replace('GB/s', 'ms')}", "line 2, field unit: must be one of GB/s"),
        (f"{HEAD}\n{GOOD.replace('16G', '16')}", "line 2, field message: must be a size such as"),
        (f"{HEAD}\n{GOOD.replace(',8,', ',0,')}", "line 2, field cards"),
        (f"{HEAD}\n{GOOD.replace(',8,', ',²,')}", "line 2, field cards"),
        (f"{HEAD}\n{GOOD.replace('peak', 'best')}", "line 2, field statistic: must be one of peak, average"),
        (f"{HEAD}\n{GOOD.replace('2026-06-01', 'June')}", "line 2, field date"),
        (f"{HEAD}\n{GOOD.replace('acceptance 7', '')}", "line 2, field source"),
        (f"{HEAD}\n{GOOD.replace('nccl-allreduce', 'a b')}", "line 2, field suite: must be a name; found 'a b'"),
        (f"{HEAD}\n{GOOD}\n{GOOD}\n", "line 3: the same floor as line 2"),
        (f'{HEAD}\n"{GOOD}', "line 2"),
        (f"{HEAD}\n{'x' * 200_000}", "line 2"),
        ("x" * 1_000_001, "at most 1000000 characters"),
    ],
)
def test_a_wrong_file_is_told_by_line_and_field(text: str, said: str) -> None:
    with pytest.raises(WrongFile) as told:
        parse(text)
    assert said in str(told.value)
    assert len(str(told.value)) < 300
