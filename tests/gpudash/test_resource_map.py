"""The setting that names accelerators: a bad entry is named, and what to write instead is said."""

from __future__ import annotations

import pytest

from gpudash.config import env

NAME = "GPUDASH_RESOURCES"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("acme.example/npu=acme", "the entry 'acme.example/npu=acme' must be name=vendor:kind"),
        ("npu=acme:whole", "must start with the name of an extended resource"),
        ("acme.example/npu=Acme Inc:whole", "must have a vendor of lower case letters"),
        ("acme.example/npu=acme:part", "has the kind 'part'; write whole, shares or memory"),
        ("acme.example/npu=acme:memory", "must have the memory of a device"),
        ("acme.example/npu=acme:whole:9", "has the memory '9'; write a quantity from 1Mi to 4Ti"),
        ("a.example/b=a:whole, a.example/b=a:shares", "names a.example/b again"),
        ("nvidia.com/gpu=acme:whole", "NVIDIA device plugin is read already; leave it out"),
    ],
)
def test_a_bad_entry_is_named_and_what_to_do(value: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, value)
    with pytest.raises(env.BadSetting) as caught:
        env.resources(NAME, "")
    assert str(caught.value).startswith(f"{NAME}: the entry")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "value",
    [
        "acme.example/npu=acme:whole:32Gi, acme.example/mem=acme:memory:1Gi,",
        # Cards that a system here reads by itself, and leaves to whoever names them.
        "metax-tech.com/gpu=metax:whole:64Gi,kunlunxin.com/xpu=kunlun:whole:96Gi,iluvatar.com/gpu=iluvatar:whole",
    ],
)
def test_good_entries_are_taken(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(NAME, f" {value}")
    assert env.resources(NAME, "") == value
