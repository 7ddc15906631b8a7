"""What claims ask for, in short: every shape of a request, and text that is nobody's friend."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kube.claims import ResourceClaim
from stacks.dra.asks import MOST, Ask, asks_of, in_short, said

MEMORY = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('40Gi')) >= 0"
PROFILE = "device.attributes['gpu.nvidia.com'].profile == '1g.10gb'"


def asks(*requests: Any) -> tuple[Ask, ...]:
    return asks_of(msgspec.convert({"spec": {"devices": {"requests": list(requests)}}}, ResourceClaim))


def test_a_request_of_the_api_has_class_number_conditions_and_capacity() -> None:
    exactly = {
        "deviceClassName": "hami-core-gpu.project-hami.io",
        "allocationMode": "ExactCount",
        "count": 2,
        "selectors": [{"cel": {"expression": PROFILE}}, {"cel": {"expression": MEMORY}}],
        "capacity": {"requests": {"cores": "30", "memory": "5500Mi"}},
    }
    [ask] = asks({"name": "gpu", "exactly": exactly})
    assert said(ask) == (
        "hami-core-gpu.project-hami.io: 2, profile == '1g.10gb', memory >= 40Gi, cores 30, memory 5500Mi"
    )


@pytest.mark.parametrize(
    ("request_", "line"),
    [
        ({"exactly": {"deviceClassName": "gpu.nvidia.com"}}, "gpu.nvidia.com: 1"),
        ({"exactly": {"deviceClassName": "gpu.nvidia.com", "allocationMode": "All"}}, "gpu.nvidia.com: all"),
        (
            {"exactly": {"deviceClassName": "c", "allocationMode": "All", "adminAccess": True}},
            "c: all, admin access",
        ),
        ({"deviceClassName": "gpu.nvidia.com", "count": 3}, "gpu.nvidia.com: 3"),
        ({"exactly": {}}, "?: 1"),
        ({"exactly": {"deviceClassName": "c", "count": -4}}, "c: 0"),
        ({"exactly": {"deviceClassName": "c", "count": 10**18}}, "c: 1000000"),
    ],
)
def test_each_shape_is_a_line(request_: dict[str, Any], line: str) -> None:
    [ask] = asks({"name": "gpu", **request_})
    assert said(ask) == line


def test_the_ways_to_fulfil_a_request_are_known_as_such() -> None:
    ways = [{"name": "mig", "deviceClassName": "mig.nvidia.com"}, {"name": "any", "deviceClassName": "gpu.nvidia.com"}]
    found = asks({"name": "gpu", "firstAvailable": ways}, {"name": "nic", "exactly": {"deviceClassName": "nic"}})
    assert [(one.request, one.alternative_to) for one in found] == [("mig", "gpu"), ("any", "gpu"), ("nic", "")]


@pytest.mark.parametrize(
    ("selector", "short"),
    [
        (PROFILE, "profile == '1g.10gb'"),
        (MEMORY, "memory >= 40Gi"),
        ('device.capacity["gpu.nvidia.com"].memory.compareTo( quantity("80Gi") ) < 0', "memory < 80Gi"),
        (f"{PROFILE} && {MEMORY}", "profile == '1g.10gb' && memory >= 40Gi"),
        (
            "device.capacity['a.b'].memory.compareTo(quantity('1Gi')) >= 0.5",
            "memory.compareTo(quantity('1Gi')) >= 0.5",
        ),
        ("device.driver == 'gpu.nvidia.com'", "device.driver == 'gpu.nvidia.com'"),
        ("cel.bind(d, device.attributes['x'], d.y)", "cel.bind(d, device.attributes['x'], d.y)"),
        ("", ""),
    ],
)
def test_conditions_are_shortened_only_where_their_form_is_known(selector: str, short: str) -> None:
    assert in_short(selector) == short


def test_what_is_too_long_or_too_much_is_cut() -> None:
    long = {"deviceClassName": "c" * 999, "selectors": [{"cel": {"expression": "x\0 " + "y" * 999}}] * 99}
    found = asks(*({"name": "n" * 999, "exactly": long} for _ in range(MOST + 9)))
    assert len(found) == MOST
    assert (len(found[0].device_class), len(found[0].selectors), len(found[0].selectors[0])) == (253, MOST, 300)
    assert "\0" not in found[0].selectors[0]


@given(st.text(max_size=400))
def test_no_condition_makes_it_fail(text: str) -> None:
    [ask] = asks({"exactly": {"deviceClassName": text, "selectors": [{"cel": {"expression": text}}, {}]}})
    assert isinstance(said(ask), str)
    assert msgspec.json.decode(msgspec.json.encode(ask), type=Ask) == ask
