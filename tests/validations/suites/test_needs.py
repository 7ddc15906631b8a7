"""What suites need of a node: refused is only what the node is known not to have, with both values in one sentence."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from django.utils import translation

from pages.frame.worded import worded
from tests.pages.english import words_of
from tests.validations.suites.targets import RUN, TARGETS
from validations.suites import registry
from validations.suites.engine.base import Facts, Needs, Suite, Target
from validations.suites.engine.needs import below, cuda_of, driver_for, unchecked, unmet
from validations.suites.engine.placement import with_api
from wording.said import stored

SUITES = registry()


@pytest.mark.parametrize(
    ("found", "floor", "older"),
    [
        ("470.57.02", "525.60", True),
        ("525.53", "525.60", True),
        ("525.60.13", "525.60", False),
        ("525.60", "525.60", False),
        ("580", "525.60", False),
        ("470", "525.60", True),
        ("450.51.06", "450.80.02", True),
        ("450.80.02", "450.80.02", False),
        ("450.80.2", "450.80.02", False),
        ("450.80.02.01", "450.80.02", False),
        ("9.9", "10.0", True),
        ("10.0.20348.1787", "10.0.20348", False),
        ("1.6.36", "1.7.0", True),
        ("1.7.0-rc.1", "1.7.0", False),
        ("2.1.4+azure", "1.7.0", False),
        ("v1.19.3-gke.100", "1.20.4", True),
        ("v1.20.4-aliyun.1", "1.20.4", False),
        (" 535.104.05-grid ", "525.60", False),
        # Too few parts to tell, and what is no version.
        ("525", "525.60", None),
        ("450.80", "450.80.02", None),
        ("", "525.60", None),
        ("unknown", "525.60", None),
        ("R470", "525.60", None),
        ("४७०.५७", "525.60", None),
        ("4700000000000", "525.60", None),
    ],
)
def test_versions_of_any_number_of_parts(found: str, floor: str, older: bool | None) -> None:
    assert below(found, floor) is older


@pytest.mark.parametrize(
    ("image", "cuda"),
    [
        ("nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0", "12.5"),
        ("nvcr.io/nvidia/k8s/cuda-sample:nbody-CUDA11.7.1", "11.7"),
        ("pytorch/pytorch:2.4.0-cuda12.4-cudnn9-runtime", "12.4"),
        ("registry.example.com:5000/team/mine:cuda-11.8-ubi8", "11.8"),
        ("registry.example.com/team/mine:1.0-cuda12", "12"),
        ("nvidia/cuda:12.4.1-base-ubuntu22.04", "12.4"),
        ("docker.io/nvidia/cuda:9.0-base", "9.0"),
        ("nvcr.io/nvidia/cuda:13.0.0-base-ubi9", "13.0"),
        ("mirror.example.com/nvidia/cuda:11.0.3-devel", "11.0"),
        # What says none, or may be read in two ways.
        ("nvidia/cuda", ""),
        ("nvidia/cuda:latest", ""),
        ("nvidia/cudagl:11.4.2-base", ""),
        ("registry.example.com/team/mine:py310-cuda118", ""),
        ("registry.example.com/team/mine:nocuda12.5", ""),
        ("registry.example.com/team/mine:cuda11.8-or-cuda12.5", ""),
        ("registry.example.com/cuda12.5/mine:1.0", ""),
        ("nvcr.io/nvidia/pytorch:25.06-py3", ""),
        (f"nvidia/cuda:12.4.1-base@sha256:{'a' * 64}", ""),
        ("no image at all", ""),
        ("", ""),
    ],
)
def test_the_cuda_that_a_tag_says(image: str, cuda: str) -> None:
    assert cuda_of(image) == cuda


@pytest.mark.parametrize(
    ("cuda", "driver"),
    [
        ("13.1", "580"), ("12.5", "525.60"), ("12", "525.60"), ("11.7", "450.80.02"), ("11.0", "450.36.06"), ("10.2", "440.33"),
        ("9.1", "390.46"), ("8.0", "367.48"), ("10.3", ""), ("7.5", ""), ("99.0", ""), ("", ""),
    ],
)  # fmt: skip
def test_the_driver_that_a_cuda_needs(cuda: str, driver: str) -> None:
    assert driver_for(cuda) == driver


CUDA = Needs(cuda="12.5")
#: Needs and facts → code and sentence of each that is not met. Those that are not known are in the next table.
REFUSED: list[tuple[Needs, dict[str, str], str, str]] = [
    (
        CUDA,
        {"driver": "470.57.02"},
        "driver-below",
        "Driver 470.57.02 is too old: CUDA 12.5 of the image needs 525.60.",
    ),
    (CUDA, {"driver": "470"}, "driver-below", "Driver 470 is too old: CUDA 12.5 of the image needs 525.60."),
    # The label of CUDA says no more where the driver is known.
    (
        CUDA,
        {"driver": "470.57.02", "cuda": "12.8"},
        "driver-below",
        "Driver 470.57.02 is too old: CUDA 12.5 of the image needs 525.60.",
    ),
    (CUDA, {"cuda": "11.4"}, "cuda-below", "The driver supports CUDA 11.4, the image needs 12.0."),
    (
        Needs(cuda="10.2"),
        {"cuda": "10.1"},
        "cuda-below",
        "The driver supports CUDA 10.1, the image needs 10.2.",
    ),
    (
        Needs(driver="450.80.02"),
        {"driver": "418.87.01"},
        "driver-below",
        "Driver 418.87.01 is too old: the image needs 450.80.02.",
    ),
    (
        Needs(capability="7.5"),
        {"capability": "7.0"},
        "compute-capability",
        "Compute capability 7.0 is too low: the image needs 7.5.",
    ),
    (
        Needs(capability="10.0"),
        {"capability": "9.0"},
        "compute-capability",
        "Compute capability 9.0 is too low: the image needs 10.0.",
    ),
    (
        Needs(builds=("10.0.17763", "10.0.18363")),
        {"windows_build": "10.0.20348.1787"},
        "windows-build",
        "The image needs Windows build 10.0.17763, 10.0.18363, the node has 10.0.20348.",
    ),
    (
        Needs(containerd="1.7.0"),
        {"runtime": "containerd://1.6.8+azure"},
        "containerd-below",
        "containerd 1.6.8 is too old: the devices of the node need 1.7.0.",
    ),
    (
        Needs(kubernetes="1.22"),
        {"kubelet": "v1.21.14-eks-1"},
        "kubelet-below",
        "Kubelet 1.21.14 is too old: the devices of the node need 1.22.",
    ),
]


@pytest.mark.parametrize(("needs", "facts", "code", "text"), REFUSED)
def test_what_a_node_is_known_not_to_have(needs: Needs, facts: dict[str, str], code: str, text: str) -> None:
    [one] = unmet(needs, Facts(**facts))
    assert (one.code, one.text) == (code, text)
    assert one.needed in one.text
    assert one.found in one.text


@pytest.mark.parametrize(
    ("needs", "facts"),
    [
        (CUDA, {"driver": "525.60.13", "cuda": "11.4"}),
        (CUDA, {"driver": "610.10"}),
        (CUDA, {"cuda": "12.0"}),
        (Needs(cuda="11.7"), {"cuda": "11.0"}),
        (Needs(cuda="10.2"), {"cuda": "10.2"}),
        (Needs(cuda="99.0"), {"driver": "1.0"}),
        (Needs(driver="450.80.02"), {"driver": "450.80.02"}),
        (Needs(capability="7.5"), {"capability": "7.5"}),
        (Needs(capability="7.5"), {"capability": "12.0"}),
        (Needs(builds=("10.0.20348",)), {"windows_build": "10.0.20348"}),
        (Needs(containerd="1.7.0"), {"runtime": "containerd://1.7.0"}),
        (Needs(kubernetes="1.22"), {"kubelet": "v1.22.0"}),
        (Needs(), {"driver": "1.0", "capability": "1.0", "runtime": "docker://1.0"}),
    ],
)
def test_what_a_node_has_at_the_floor_and_above(needs: Needs, facts: dict[str, str]) -> None:
    assert unmet(needs, Facts(**facts)) == unchecked(needs, Facts(**facts)) == []


UNKNOWN: list[tuple[Needs, dict[str, str], str]] = [
    (CUDA, {}, "Driver version unknown: CUDA 12.5 of the image needs 525.60."),
    (CUDA, {"driver": "525"}, "Driver version unknown: CUDA 12.5 of the image needs 525.60."),
    (CUDA, {"cuda": "12"}, "Driver version unknown: CUDA 12.5 of the image needs 525.60."),
    (Needs(driver="450.80.02"), {"driver": "-"}, "Driver version unknown: the image needs 450.80.02."),
    (Needs(capability="7.5"), {"capability": "7"}, "Compute capability unknown: the image needs 7.5."),
    (
        Needs(builds=("10.0.20348",)),
        {"windows_build": "10.0"},
        "Windows build unknown: the image needs 10.0.20348.",
    ),
    (
        Needs(containerd="1.7.0"),
        {"runtime": "docker://20.10.9"},
        "containerd version unknown: the devices of the node need 1.7.0.",
    ),
    (
        Needs(containerd="1.7.0"),
        {"runtime": "containerd://Unknown"},
        "containerd version unknown: the devices of the node need 1.7.0.",
    ),
    (Needs(kubernetes="1.22"), {}, "Kubelet version unknown: the devices of the node need 1.22."),
]


@pytest.mark.parametrize(("needs", "facts", "text"), UNKNOWN)
def test_what_is_not_known_is_never_unmet_and_is_told_as_not_checked(
    needs: Needs, facts: dict[str, str], text: str
) -> None:
    assert unmet(needs, Facts(**facts)) == []
    assert [(one.text, one.found) for one in unchecked(needs, Facts(**facts))] == [(text, "")]


def test_every_sentence_is_said_in_chinese() -> None:
    told = [one for needs, facts, *_ in REFUSED for one in unmet(needs, Facts(**facts))]
    told += [one for needs, facts, _ in UNKNOWN for one in unchecked(needs, Facts(**facts))]
    assert len(told) == len(REFUSED) + len(UNKNOWN)
    with translation.override("zh-hans"):
        shown = [worded(one.text, stored(one.text)) for one in told]
    assert {text for text in shown if words_of(text) or not text.endswith("。")} == set()


#: Every suite on a target where it fits, for each system that it runs on.
PLACES = [
    (suite, os, next(one for one in TARGETS.values() if one.os == os and not suite.fit(one)))
    for suite in SUITES.values()
    for os in suite.os
]
#: A fact at the floor of a need, and one below it.
EDGES: dict[str, Any] = {
    "cuda": lambda needs: ("driver", driver_for(needs.cuda), "367.10"),
    "driver": lambda needs: ("driver", needs.driver, "418.87"),
    "capability": lambda needs: ("capability", needs.capability, "3.0"),
    "builds": lambda needs: ("windows_build", needs.builds[-1], "10.0.26100"),
}


def _edges() -> list[Any]:
    found = []
    for suite, os, target in PLACES:
        for need, edge in EDGES.items():
            if getattr(suite.needs[os], need):
                found.append(pytest.param(suite, target, *edge(suite.needs[os]), id=f"{suite.id}-{os}-{need}"))
    return found


@pytest.mark.parametrize(("suite", "target", "fact", "floor", "less"), _edges())
def test_each_suite_refuses_a_node_below_and_takes_one_at_the_floor(
    suite: Suite, target: Target, fact: str, floor: str, less: str
) -> None:
    def fit(value: str) -> list[str]:
        facts = msgspec.structs.replace(target.facts, **{fact: value})
        return [one.text for one in suite.fit(msgspec.structs.replace(target, facts=facts))]

    [text] = fit(less)
    assert less in text
    assert floor in text
    assert fit(floor) == fit("") == []


def test_every_suite_declares_something_on_every_system() -> None:
    """But for AMD's: of the versions that a node states, none is one of its cards' driver."""
    amd = set(with_api("hip"))
    places = [(suite, os) for suite, os, _ in PLACES if not set(suite.families) <= amd]
    assert [(suite.id, os) for suite, os in places if suite.needs[os] == Needs()] == []
    tested = {one.id for one in _edges()}
    assert {f"{suite.id}-{os}" for suite, os in places} == {name.rpartition("-")[0] for name in tested}


@pytest.mark.parametrize(
    ("name", "facts", "codes"),
    [
        ("directx-compute", {"runtime": "containerd://1.6.36", "kubelet": "v1.21.9"}, ["containerd-below", "kubelet-below"]),
        ("directx-display", {"runtime": "containerd://1.7.0", "kubelet": "v1.22.0"}, []),
        ("directx-microsoft", {"runtime": "containerd://1.6.36", "kubelet": "v1.19.9"}, ["containerd-below", "kubelet-below"]),
        ("directx-alibaba", {"runtime": "containerd://1.5.13", "kubelet": "v1.20.3"}, ["kubelet-below"]),
        ("directx-alibaba", {"runtime": "docker://19.3.5", "kubelet": "v1.20.4-aliyun.1"}, []),
    ],
)  # fmt: skip
def test_the_devices_have_needs_of_their_own_whatever_image_runs(
    name: str, facts: dict[str, str], codes: list[str]
) -> None:
    target = msgspec.structs.replace(TARGETS[name], facts=Facts(**facts))
    reasons = SUITES["winml-tinyyolov2"].fit(target, {"image": "registry.example.com/winml/runner:1.3"})
    assert [one.code for one in reasons] == codes


@pytest.mark.parametrize(
    ("image", "text"),
    [
        (
            "registry.example.com/mine:cuda13.0",
            "Driver 535.10.01 is too old: CUDA 13.0 of the image needs 580.",
        ),
        ("nvidia/cuda:13.0.1-base-ubi9", "Driver 535.10.01 is too old: CUDA 13.0 of the image needs 580."),
        ("registry.example.com/mine:cuda11.8", ""),
        ("registry.example.com/mine:1.0", ""),
    ],
)
def test_of_an_image_of_ones_own_only_the_cuda_of_its_tag_is_known(image: str, text: str) -> None:
    facts = Facts(driver="535.10.01", capability="3.0")
    target = msgspec.structs.replace(TARGETS["nvidia-whole"], facts=facts)
    suite = SUITES["cuda-vectoradd"]
    assert [one.text for one in suite.fit(target, {"image": image})] == ([text] if text else [])
    assert suite.not_checked(target, {"image": image}) == []
    # Of its own image the suite says the compute capability too.
    assert [one.code for one in suite.fit(target)] == ["compute-capability"]


def test_what_is_not_known_of_a_node_is_listed_and_where_nothing_suits_nothing_is() -> None:
    suite, target = SUITES["cuda-vectoradd"], TARGETS["nvidia-whole"]
    assert [one.code for one in suite.not_checked(target)] == ["driver-below", "compute-capability"]
    assert suite.not_checked(TARGETS["directx-compute"]) == []
    assert suite.not_checked(msgspec.structs.replace(target, resources=())) == []


def test_the_name_of_the_suites_own_image_is_no_other_image() -> None:
    suite = SUITES["cuda-devicequery"]
    target = msgspec.structs.replace(TARGETS["directx-compute"], facts=Facts(windows_build="10.0.26100"))
    image = suite.manifest(target, {}, RUN)["spec"]["template"]["spec"]["containers"][0]["image"]
    assert [one.code for one in suite.fit(target, {"image": image})] == ["windows-build"]
    assert suite.fit(target, {"image": "registry.example.com/mine:cuda99.0"}) == []
