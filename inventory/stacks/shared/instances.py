"""Which cards a cloud instance type has: model, number, memory of each, for nodes whose plugin does not say.

Sources: the instance type pages of Alibaba Cloud, AWS and Azure; MiB where the provider's data gives it, else its GB taken
as GiB. A share of a card (vGPU) counts as one card with the memory of the share, which is all that the node sees.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from inventory.stacks.engine.names import INSTANCE_TYPE, labels_of
from kube.objects import Node

MIB = 2**20


class Instance(msgspec.Struct, frozen=True):
    """cards: how many the node sees. memory: bytes of each, None when the provider does not say. share: 4 for a quarter."""

    model: str
    cards: int
    memory: int | None
    share: int = 1


def instance_of(node: Node) -> tuple[str, Instance] | None:
    """(instance type, what it has) of a node; None when the type is not stated or not in the table."""
    labels = labels_of(node)
    for name in INSTANCE_TYPE:
        found = _TABLE.get(labels.get(name, "").lower())
        if found is not None:
            return labels[name], found
    return None


def _gib(number: int) -> int:
    return number * 1024


#: prefix, model, then: types (one prefix before each) · cards · MiB of each · share of a card.
_Rows = tuple[tuple[str, int, int | None, int], ...]

_ALIBABA: dict[str, _Rows] = {
    "T4": (
        ("vgn6i-m4.xlarge vgn6i-m4-vws.xlarge", 1, 3805, 4),
        ("vgn6i-m8.2xlarge vgn6i-m8-vws.2xlarge", 1, 7611, 2),
        ("vgn6i-m16-vws.5xlarge", 1, _gib(16), 1),
        ("gn6i-c4g1.xlarge gn6i-c8g1.2xlarge gn6i-c16g1.4xlarge gn6i-c24g1.6xlarge gn6i-c40g1.10xlarge", 1, 15109, 1),
        ("gn6i-c24g1.12xlarge", 2, _gib(16), 1),
        ("gn6i-c24g1.24xlarge", 4, _gib(16), 1),
    ),
    "A10": (
        ("vgn7i-vws-m4.xlarge sgn7i-vws-m4.2xlarge sgn7i-vws-m4s.2xlarge", 1, _gib(4), 6),
        ("vgn7i-vws-m8.2xlarge sgn7i-vws-m8.4xlarge sgn7i-vws-m8s.4xlarge", 1, _gib(8), 3),
        ("vgn7i-vws-m12.3xlarge", 1, _gib(12), 2),
        ("vgn7i-vws-m24.7xlarge", 1, _gib(24), 1),
        ("sgn7i-vws-m2.xlarge sgn7i-vws-m2s.xlarge", 1, _gib(2), 12),
        (
            "gn7i-c8g1.2xlarge gn7i-c16g1.4xlarge gn7i-c32g1.8xlarge gn7i-c48g1.12xlarge gn7i-c56g1.14xlarge",
            1,
            22731,
            1,
        ),
        ("gn7i-c32g1.16xlarge", 2, _gib(24), 1),
        ("gn7i-c32g1.32xlarge", 4, _gib(24), 1),
    ),
    "vGPU of a 48 GB card": (
        ("sgn8ia-m2.xlarge", 1, _gib(2), 24),
        ("sgn8ia-m4.2xlarge", 1, _gib(4), 12),
        ("sgn8ia-m8.4xlarge", 1, _gib(8), 6),
        ("sgn8ia-m16.8xlarge", 1, _gib(16), 3),
        ("sgn8ia-m24.12xlarge", 1, _gib(24), 2),
        ("sgn8ia-m48.24xlarge", 1, _gib(48), 1),
    ),
    "P4": (
        ("vgn5i-m1.large", 1, 951, 8),
        ("vgn5i-m2.xlarge", 1, 1902, 4),
        ("vgn5i-m4.2xlarge", 1, 3804, 2),
        ("vgn5i-m8.4xlarge", 1, _gib(8), 1),
    ),
    "V100": (
        ("gn6v-c8g1.2xlarge", 1, _gib(16), 1),
        ("gn6v-c8g1.8xlarge", 4, _gib(16), 1),
        ("gn6v-c8g1.16xlarge", 8, _gib(16), 1),
    ),
}
_AWS: dict[str, _Rows] = {
    "M60": (("g3s.xlarge g3.4xlarge", 1, 8192, 1), ("g3.8xlarge", 2, 8192, 1), ("g3.16xlarge", 4, 8192, 1)),
    "Radeon Pro V520": (
        ("g4ad.xlarge g4ad.2xlarge g4ad.4xlarge", 1, 8192, 1),
        ("g4ad.8xlarge", 2, 8192, 1),
        ("g4ad.16xlarge", 4, 8192, 1),
    ),
    "T4": (
        ("g4dn.xlarge g4dn.2xlarge g4dn.4xlarge g4dn.8xlarge g4dn.16xlarge", 1, 16384, 1),
        ("g4dn.12xlarge", 4, 16384, 1),
        ("g4dn.metal", 8, 16384, 1),
    ),
    "A10G": (
        ("g5.xlarge g5.2xlarge g5.4xlarge g5.8xlarge g5.16xlarge", 1, 24576, 1),
        ("g5.12xlarge g5.24xlarge", 4, 24576, 1),
        ("g5.48xlarge", 8, 24576, 1),
    ),
    "L4": (
        ("g6.xlarge g6.2xlarge g6.4xlarge g6.8xlarge g6.16xlarge", 1, 22888, 1),
        ("g6.12xlarge g6.24xlarge", 4, 22888, 1),
        ("g6.48xlarge", 8, 22888, 1),
        ("g6f.large g6f.xlarge", 1, 2861, 8),
        ("g6f.2xlarge", 1, _gib(6), 4),
        ("g6f.4xlarge gr6f.4xlarge", 1, _gib(12), 2),
    ),
    "L40S": (
        ("g6e.xlarge g6e.2xlarge g6e.4xlarge g6e.8xlarge g6e.16xlarge", 1, _gib(48), 1),
        ("g6e.12xlarge g6e.24xlarge", 4, _gib(48), 1),
        ("g6e.48xlarge", 8, _gib(48), 1),
    ),
    "V100": (("p3.2xlarge", 1, _gib(16), 1),),
}
_AZURE: dict[str, _Rows] = {
    "T4": (("NC4as_T4_v3 NC8as_T4_v3 NC16as_T4_v3", 1, _gib(16), 1), ("NC64as_T4_v3", 4, _gib(16), 1)),
    "V100": (("NC6s_v3", 1, _gib(16), 1), ("NC12s_v3", 2, _gib(16), 1), ("NC24s_v3", 4, _gib(16), 1)),
    "A100": (
        ("NC24ads_A100_v4", 1, _gib(80), 1),
        ("NC48ads_A100_v4", 2, _gib(80), 1),
        ("NC96ads_A100_v4", 4, _gib(80), 1),
    ),
    # The lists of the provider differ about the memory (94 or 80 GB), so it is not stated.
    "H100": (("NC40ads_H100_v5", 1, None, 1), ("NC80adis_H100_v5", 2, None, 1)),
    "M60": (("NV12s_v3", 1, _gib(8), 1), ("NV24s_v3", 2, _gib(8), 1), ("NV48s_v3", 4, _gib(8), 1)),
    "A10": (
        ("NV6ads_A10_v5", 1, _gib(4), 6),
        ("NV12ads_A10_v5", 1, _gib(8), 3),
        ("NV18ads_A10_v5", 1, _gib(12), 2),
        ("NV36ads_A10_v5 NV36adms_A10_v5", 1, _gib(24), 1),
        ("NV72ads_A10_v5", 2, _gib(24), 1),
    ),
    "MI25": (
        ("NV4as_v4", 1, _gib(2), 8),
        ("NV8as_v4", 1, _gib(4), 4),
        ("NV16as_v4", 1, _gib(8), 2),
        ("NV32as_v4", 1, _gib(16), 1),
    ),
    "V710": (("NV4ads_V710_v5 NV8ads_V710_v5 NV12ads_V710_v5 NV24ads_V710_v5 NV28adms_V710_v5", 1, None, 1),),
}


def _entries(prefix: str, table: dict[str, _Rows]) -> Iterator[tuple[str, Instance]]:
    for model, rows in table.items():
        for types, cards, memory, share in rows:
            for name in types.split():
                size = memory * MIB if memory is not None else None
                yield (prefix + name).lower(), Instance(model, cards, size, share)


_TABLE: dict[str, Instance] = dict([*_entries("ecs.", _ALIBABA), *_entries("", _AWS), *_entries("Standard_", _AZURE)])
