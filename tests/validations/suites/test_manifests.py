"""The whole Job of every suite on every sharing system, and why the others do not fit."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from kube.objects import Taint
from tests.validations.suites.golden import ROOT, check
from tests.validations.suites.targets import RUN, TARGETS, UUID
from validations.suites import registry
from validations.suites.engine.base import OptionError, Resource, Run, Suite, Target, job_name

SUITES = registry()
FITTING = [(suite, name) for suite in SUITES.values() for name, target in TARGETS.items() if not suite.fit(target)]
OWN_IMAGE = {"image": "registry.example.com/winml/runner:1.3"}


def _id(value: object) -> str:
    return value.id if isinstance(value, Suite) else str(value)


@pytest.mark.parametrize(("suite", "name"), FITTING, ids=_id)
def test_the_job_is_the_recorded_one(suite: Suite, name: str) -> None:
    check(ROOT / "manifests" / suite.id / f"{name}.json", suite.manifest(TARGETS[name], {}, RUN))


def test_what_a_suite_cannot_run_on_is_said_with_the_recorded_reasons() -> None:
    said = {
        suite.id: {name: [reason.text for reason in suite.fit(target)] for name, target in TARGETS.items()}
        for suite in SUITES.values()
    }
    check(ROOT / "manifests" / "fit.json", said)


def test_every_suite_runs_somewhere_and_every_system_runs_something() -> None:
    assert {suite.id for suite, _ in FITTING} == set(SUITES)
    assert {name for _, name in FITTING} == set(TARGETS)


def test_a_card_gets_the_suites_of_its_vendor_alone() -> None:
    amd = {"hip-vectoradd", "rccl-allreduce", "rocm-smi", "rocm-validation-suite"}
    assert {suite.id for suite, name in FITTING if name == "amd-whole"} == amd
    # The others are for whole cards: the targets of the stress test, and the exchange between cards.
    assert {suite.id for suite, name in FITTING if name == "amd-partition"} == {"hip-vectoradd", "rocm-smi"}
    assert {name for suite, name in FITTING if suite.id in amd} == {"amd-whole", "amd-partition"}
    assert {suite.id for suite, name in FITTING if name == "nvidia-whole"} > {"nvbandwidth", "gpu-burn"}


@pytest.mark.parametrize("name", ["amd-whole", "amd-partition"])
def test_a_pod_for_an_amd_card_has_nothing_of_nvidia(name: str) -> None:
    for suite in (suite for suite, target in FITTING if target == name):
        job = suite.manifest(TARGETS[name], {}, RUN)
        assert "nvidia" not in json.dumps(job)
        amount = dict.fromkeys([TARGETS[name].resources[0].name], "2" if suite.cards == 2 else "1")
        limits = _container(job)["resources"]["limits"]
        assert {key: value for key, value in limits.items() if "/" in key} == amount


def test_an_image_of_ones_own_runs_winml_on_every_directx_resource() -> None:
    suite = SUITES["winml-tinyyolov2"]
    for name in ("directx-alibaba", "directx-compute", "directx-display", "directx-microsoft"):
        assert not suite.fit(TARGETS[name], OWN_IMAGE)
        container = _container(suite.manifest(TARGETS[name], OWN_IMAGE, RUN))
        assert container["image"] == OWN_IMAGE["image"]
        assert container["command"][0] == "WinMLRunner.exe"
        given = {key: value for key, value in container["resources"]["limits"].items() if "/" in key}
        assert given == {TARGETS[name].resources[0].name: "1"}


@pytest.mark.parametrize(("suite", "name"), FITTING, ids=_id)
def test_no_job_has_more_privilege_than_it_needs(suite: Suite, name: str) -> None:
    job = suite.manifest(TARGETS[name], {}, RUN)
    pod = job["spec"]["template"]["spec"]
    text = json.dumps(job)
    assert pod["automountServiceAccountToken"] is False
    assert pod["restartPolicy"] == "Never"
    assert job["spec"]["backoffLimit"] == 0
    assert job["spec"]["activeDeadlineSeconds"] > 0
    # What was there before device plugins has no other way to the driver: two folders, for reading.
    mounted = [one for one in pod.get("volumes", []) if "emptyDir" not in one]
    folders = ["/usr/lib/nvidia-375", "/usr/lib/nvidia-375/bin"] if name == "nvidia-alpha" else []
    assert [one["hostPath"]["path"] for one in mounted] == folders
    assert all(one["readOnly"] for one in _container(job).get("volumeMounts", []) if one["name"] not in ("shm", "tmp"))
    text = text.replace('"hostPath"', "", len(mounted))
    for forbidden in ("nodeName", "hostPath", "hostNetwork", "hostPID", "privileged", "ttlSecondsAfterFinished"):
        assert f'"{forbidden}"' not in text
    security = _container(job).get("securityContext")
    if pod["os"]["name"] == "linux":
        read_only = {} if suite.writes else {"readOnlyRootFilesystem": True}
        assert security == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}} | read_only
    else:
        # The API server refuses a Windows pod that carries these.
        assert security is None
        assert "securityContext" not in pod


@pytest.mark.parametrize(("suite", "name"), FITTING, ids=_id)
def test_every_container_has_limits_of_all_that_it_may_take(suite: Suite, name: str) -> None:
    resources = _container(suite.manifest(TARGETS[name], {"host_memory": "3Gi"}, RUN))["resources"]
    # Kubernetes before 1.8 does not know the resource.
    disk = set() if name == "nvidia-alpha" else {"ephemeral-storage"}
    assert {"cpu", "memory"} | disk <= set(resources["limits"])
    assert ("ephemeral-storage" in resources["limits"]) is bool(disk)
    assert resources["requests"]["memory"] == "3Gi"
    # On Windows there is no out-of-memory killer: its limit is for what has run wild.
    assert resources["limits"]["memory"] == ("3Gi" if TARGETS[name].os == "linux" else "12Gi")


def test_the_level_of_pod_security_is_the_least_of_suite_system_and_options() -> None:
    suite = SUITES["cuda-vectoradd"]
    assert suite.pod_security_on(TARGETS["nvidia-whole"]) == "restricted"
    assert suite.pod_security_on(TARGETS["nvidia-whole"], {"run_as_user": 0}) == "baseline"
    assert suite.pod_security_on(TARGETS["nvidia-alpha"]) == "privileged"
    assert SUITES["nvidia-smi"].pod_security_on(TARGETS["directx-compute"]) == "baseline"
    assert SUITES["dcgm-diag"].pod_security_on(TARGETS["nvidia-whole"], {"run_as_user": 5}) == "baseline"


@pytest.mark.parametrize(("suite_id", "options"), [("nccl-allreduce", {}), ("dcgm-diag", {"cards": 2})])
@pytest.mark.parametrize("whole", [0, 1])
def test_two_cards_are_never_asked_for_where_two_units_may_be_shares_of_one(
    suite_id: str, options: dict[str, Any], whole: int
) -> None:
    shared = msgspec.structs.replace(TARGETS["nvidia-time-sliced"], whole_cards=whole)
    assert [reason.code for reason in SUITES[suite_id].fit(shared, options)] == ["shared-cards"]
    assert SUITES[suite_id].fit(msgspec.structs.replace(shared, whole_cards=2), options) == []


def test_one_card_of_a_node_that_shares_them_can_be_had() -> None:
    assert SUITES["cuda-vectoradd"].fit(TARGETS["nvidia-time-sliced"]) == []


@pytest.mark.parametrize("path", ["", "usr/lib/nvidia-375", "/usr/lib/../../etc", "/"])
def test_a_node_before_device_plugins_is_refused_where_nobody_says_where_its_driver_is(path: str) -> None:
    target = msgspec.structs.replace(TARGETS["nvidia-alpha"], settings=(("ALPHA_DRIVER_PATH", path),))
    [reason] = SUITES["cuda-vectoradd"].fit(target)
    assert reason.code == "no-driver-path"
    assert "GPUDASH_ALPHA_DRIVER_PATH" in reason.text


def test_the_region_of_the_registry_is_an_option_and_the_private_host_is_for_alibaba_only() -> None:
    suite = SUITES["winml-tinyyolov2"]
    job = suite.manifest(TARGETS["directx-alibaba"], {"region": "eu-central-1"}, RUN)
    assert _container(job)["image"] == "registry-vpc.eu-central-1.aliyuncs.com/acs/sample-gpu-windows:v1.0.0"
    job = suite.manifest(TARGETS["directx-microsoft"], {"region": "eu-central-1"}, RUN)
    assert _container(job)["image"].startswith("registry.eu-central-1.")


def test_only_taints_that_the_node_has_and_that_can_be_borne_are_tolerated() -> None:
    taints = (
        Taint(key="a", value="b", effect="NoSchedule"),
        Taint(key="c", effect="NoExecute"),
        Taint(key="d", effect="PreferNoSchedule"),
        Taint(key="node.kubernetes.io/not-ready", effect="NoExecute"),
    )
    allowed = ("a=B", "c", "node.kubernetes.io/not-ready")
    target = msgspec.structs.replace(TARGETS["nvidia-whole"], taints=taints, tolerated=allowed)
    suite = SUITES["cuda-vectoradd"]
    pod = suite.manifest(target, {}, RUN)["spec"]["template"]["spec"]
    assert pod["tolerations"] == [
        {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
        {"key": "c", "operator": "Exists", "effect": "NoExecute"},
    ]
    assert [reason.code for reason in suite.fit(target)] == ["not-ready"]


@pytest.mark.parametrize(
    ("taint", "tolerated"),
    [
        (Taint(key="dedicated", value="ml", effect="NoSchedule"), ()),
        (Taint(key="dedicated", value="ml", effect="NoExecute"), ("dedicated=web", "dedicate")),
        (Taint(key="node-role.kubernetes.io/control-plane", effect="NoSchedule"), ("nvidia.com/gpu",)),
    ],
)
def test_a_taint_that_is_not_allowed_is_a_reason_and_is_not_tolerated(taint: Taint, tolerated: tuple[str, ...]) -> None:
    target = msgspec.structs.replace(TARGETS["nvidia-whole"], taints=(taint,), tolerated=tolerated)
    [reason] = SUITES["cuda-vectoradd"].fit(target)
    assert reason.code == "taint"
    assert f"{taint.key}" in reason.text
    assert "GPUDASH_TOLERATED_TAINTS" in reason.text
    assert "tolerations" not in SUITES["cuda-vectoradd"].manifest(target, {}, RUN)["spec"]["template"]["spec"]


def test_a_taint_of_the_name_of_the_nodes_resource_is_what_gpu_nodes_have() -> None:
    taint = Taint(key="nvidia.com/gpu", value="true", effect="NoSchedule")
    target = msgspec.structs.replace(TARGETS["nvidia-whole"], taints=(taint,), tolerated=())
    assert SUITES["cuda-vectoradd"].fit(target) == []
    assert len(SUITES["cuda-vectoradd"].manifest(target, {}, RUN)["spec"]["template"]["spec"]["tolerations"]) == 1


def test_a_card_is_named_where_the_sharing_system_allows_it_and_nowhere_else() -> None:
    suite = SUITES["cuda-vectoradd"]
    exact = {name for name, target in TARGETS.items() if suite.card_exact(target)}
    assert exact == {"hami"}
    job = suite.manifest(TARGETS["hami"], {}, RUN)
    assert job["spec"]["template"]["metadata"]["annotations"] == {"nvidia.com/use-gpuuuid": UUID}
    assert suite.card_exact(msgspec.structs.replace(TARGETS["nvidia-whole"], cards_total=1))


@pytest.mark.parametrize(
    ("mib", "unit", "units"), [(1024, 2**30, "1"), (1025, 2**30, "2"), (1, 2**30, "1"), (300, 2**20, "300")]
)
def test_memory_is_rounded_up_to_whole_units(mib: int, unit: int, units: str) -> None:
    resource = Resource(name="aliyun.com/gpu-mem", allocatable=40_000, unit_bytes=unit)
    target = Target(node="n", resources=(resource,))
    job = SUITES["cuda-vectoradd"].manifest(target, {"gpu_memory_mib": mib}, RUN)
    assert _container(job)["resources"]["limits"]["aliyun.com/gpu-mem"] == units


def test_a_memory_unit_that_is_not_known_is_a_reason_not_a_guess() -> None:
    target = Target(node="n", resources=(Resource(name="aliyun.com/gpu-mem", allocatable=30),))
    suite = SUITES["cuda-vectoradd"]
    assert [reason.code for reason in suite.fit(target)] == ["unit-unknown"]
    with pytest.raises(ValueError, match="is not known"):
        suite.manifest(target, {}, RUN)


@pytest.mark.parametrize(
    ("change", "codes"),
    [
        ({"os": "windows"}, ["wrong-os"]),
        ({"os": ""}, ["wrong-os"]),
        ({"ready": False}, ["not-ready"]),
        ({"resources": ()}, ["no-resource"]),
        ({"resources": (Resource(name="nvidia.com/gpu", allocatable=0),)}, ["no-resource"]),
        ({"resources": (Resource(name="nvidia.com/gpu", allocatable=8, free=0),)}, ["no-free"]),
        ({"resources": (Resource(name="nvidia.com/gpu"),)}, []),
        ({"resources": (Resource(name="amd.com/gpu", allocatable=8),)}, ["no-resource"]),
    ],
)
def test_why_a_target_does_not_fit(change: dict[str, Any], codes: list[str]) -> None:
    target = msgspec.structs.replace(TARGETS["nvidia-whole"], **change)
    assert [reason.code for reason in SUITES["cuda-vectoradd"].fit(target)] == codes


def test_as_many_cards_as_asked_for_must_be_free() -> None:
    suite, target = SUITES["nccl-allreduce"], TARGETS["nvidia-whole"]
    assert not suite.fit(target, {"cards": 2})
    assert [reason.code for reason in suite.fit(target, {"cards": 4})] == ["no-free"]
    job = suite.manifest(target, {"cards": "2"}, RUN)
    assert _container(job)["resources"]["limits"]["nvidia.com/gpu"] == "2"


def test_a_resource_can_be_chosen_and_one_that_the_node_lacks_is_said() -> None:
    suite, target = SUITES["directx-device-discovery"], TARGETS["directx-display"]
    assert not suite.fit(target, {"resource": "directx.microsoft.com/display"})
    reasons = suite.fit(target, {"resource": "directx.microsoft.com/compute"})
    assert [reason.code for reason in reasons] == ["no-resource"]
    assert "directx.microsoft.com/display" in reasons[0].text


def test_the_runtime_class_is_set_only_where_the_cluster_has_it() -> None:
    suite, target = SUITES["cuda-vectoradd"], TARGETS["nvidia-whole"]
    assert suite.manifest(target, {}, RUN)["spec"]["template"]["spec"]["runtimeClassName"] == "nvidia"
    bare = msgspec.structs.replace(target, runtime_classes=())
    assert "runtimeClassName" not in suite.manifest(bare, {}, RUN)["spec"]["template"]["spec"]
    assert [reason.code for reason in suite.fit(bare, {"runtime_class": "kata"})] == ["no-runtime-class"]


@pytest.mark.parametrize(("options", "user"), [({}, 65532), ({"run_as_user": 1000}, 1000)])
def test_a_program_is_not_root_unless_it_is_asked_for(options: dict[str, Any], user: int) -> None:
    job = SUITES["cuda-vectoradd"].manifest(TARGETS["nvidia-whole"], options, RUN)
    security = job["spec"]["template"]["spec"]["securityContext"]
    assert security["runAsNonRoot"] is True
    assert security["runAsUser"] == security["runAsGroup"] == user
    job = SUITES["cuda-vectoradd"].manifest(TARGETS["nvidia-whole"], {"run_as_user": 0}, RUN)
    assert set(job["spec"]["template"]["spec"]["securityContext"]) == {"seccompProfile"}


@pytest.mark.parametrize("run_id", ["17", "A_b", "x" * 300, "../../etc", "", "ü", RUN.id])
def test_any_run_id_gives_a_name_that_kubernetes_takes_and_no_other_run_has(run_id: str) -> None:
    name = job_name(run_id)
    assert len(name) <= 63
    assert all(letter.isascii() and (letter.isalnum() or letter == "-") and not letter.isupper() for letter in name)
    assert name == job_name(run_id)
    assert name != job_name(run_id + "0")
    job = SUITES["cuda-vectoradd"].manifest(TARGETS["nvidia-whole"], {}, Run(id=run_id, namespace="n"))
    assert job["metadata"]["name"] == name
    assert job["metadata"]["labels"]["gpudash.io/run"] == name.removeprefix("gpudash-")


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({"no-such": 1}, {"no-such"}),
        ({"deadline_s": 5}, {"deadline_s"}),
        ({"deadline_s": True}, {"deadline_s"}),
        ({"deadline_s": None, "image": 3}, {"deadline_s", "image"}),
        ({"image": "nginx; rm -rf /"}, {"image"}),
        ({"image": ""}, {"image"}),
        ({"host_memory": "1e400"}, {"host_memory"}),
        ({"resource": "no slash"}, {"resource"}),
        ({"gpu_memory_mib": "10 "}, {"gpu_memory_mib"}),
    ],
)
def test_options_that_make_no_sense_are_named_all_at_once(options: dict[str, object], wrong: set[str]) -> None:
    with pytest.raises(OptionError) as raised:
        SUITES["cuda-vectoradd"].settle(options)
    assert set(raised.value.problems) == wrong


def test_a_region_that_is_no_region_never_gets_into_a_host_name() -> None:
    for region in ("cn-hangzhou.evil.com/x", "cn", "CN-hangzhou", "cn-hangzhou\n"):
        with pytest.raises(OptionError):
            SUITES["winml-tinyyolov2"].settle({"region": region})
    assert SUITES["winml-tinyyolov2"].settle({"region": "cn-wuhan-lr"})["region"] == "cn-wuhan-lr"


def test_every_option_says_what_it_is_and_has_a_default_that_holds() -> None:
    for suite in SUITES.values():
        assert suite.settle({}), suite.id
        assert all(option.help for option in suite.options)
        assert suite.proves.endswith(".")
        assert "validat" not in suite.proves, "what a pass is worth says its level"


def _container(job: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = job["spec"]["template"]["spec"]["containers"][0]
    return found
