"""GPU instance types of clouds: model, number, memory of each card.

Sources: the instance type pages of Alibaba Cloud, AWS, Azure and Google; for AWS also the data of aws/karpenter-provider-aws
v1.14, and the memory of its own chips by the pages of their architecture (aws-neuron/aws-neuron-sdk).
MiB where the provider's data gives it, else its GB taken as GiB. A share of a card (vGPU) counts as one card with the memory of the
share, which is all that the node sees. Types to which cards are attached freely (Google's n1) are not here.
"""

from __future__ import annotations


def _gib(number: int) -> int:
    return number * 1024


#: prefix, model, then: types (one prefix before each) · cards · MiB of each · share of a card.
Rows = tuple[tuple[str, int, int | None, int], ...]

_ALIBABA: dict[str, Rows] = {
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
    "A100": (
        ("gn7-c12g1.3xlarge", 1, 40537, 1),
        ("gn7-c13g1.13xlarge", 4, 40537, 1),
        ("gn7-c13g1.26xlarge", 8, 40537, 1),
        ("gn7e-c16g1.4xlarge", 1, 81251, 1),
        ("gn7e-c16g1.8xlarge", 2, 81251, 1),
        ("gn7e-c16g1.16xlarge", 4, 81251, 1),
        ("gn7e-c16g1.32xlarge", 8, 81251, 1),
    ),
    "L20": (
        ("gn8is.2xlarge gn8is.4xlarge", 1, _gib(48), 1),
        ("gn8is-2x.8xlarge", 2, _gib(48), 1),
        ("gn8is-4x.16xlarge", 4, _gib(48), 1),
        ("gn8is-8x.32xlarge", 8, _gib(48), 1),
    ),
}
_AWS: dict[str, Rows] = {
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
        ("gr6.4xlarge gr6.8xlarge", 1, 22888, 1),
        ("g6f.large g6f.xlarge", 1, 2861, 8),
        ("g6f.2xlarge", 1, 5722, 4),
        ("g6f.4xlarge gr6f.4xlarge", 1, 11444, 2),
    ),
    "L40S": (
        ("g6e.xlarge g6e.2xlarge g6e.4xlarge g6e.8xlarge g6e.16xlarge", 1, 45776, 1),
        ("g6e.12xlarge g6e.24xlarge", 4, 45776, 1),
        ("g6e.48xlarge", 8, 45776, 1),
    ),
    "T4G": (
        ("g5g.xlarge g5g.2xlarge g5g.4xlarge g5g.8xlarge", 1, _gib(16), 1),
        ("g5g.16xlarge g5g.metal", 2, _gib(16), 1),
    ),
    "RTX PRO 4500": (
        ("g7.2xlarge g7.4xlarge g7.8xlarge", 1, _gib(32), 1),
        ("g7.12xlarge", 2, _gib(32), 1),
        ("g7.24xlarge", 4, _gib(32), 1),
        ("g7.48xlarge", 8, _gib(32), 1),
    ),
    "RTX PRO 6000": (
        ("g7e.2xlarge g7e.4xlarge g7e.8xlarge", 1, _gib(96), 1),
        ("g7e.12xlarge", 2, _gib(96), 1),
        ("g7e.24xlarge", 4, _gib(96), 1),
        ("g7e.48xlarge", 8, _gib(96), 1),
    ),
    "V100": (
        ("p3.2xlarge", 1, _gib(16), 1),
        ("p3.8xlarge", 4, _gib(16), 1),
        ("p3.16xlarge", 8, _gib(16), 1),
        ("p3dn.24xlarge", 8, _gib(32), 1),
    ),
    "A100": (("p4d.24xlarge", 8, _gib(40), 1), ("p4de.24xlarge", 8, _gib(80), 1)),
    "H100": (("p5.4xlarge", 1, _gib(80), 1), ("p5.48xlarge", 8, _gib(80), 1)),
    "H200": (("p5e.48xlarge p5en.48xlarge", 8, 144384, 1),),
    "B200": (("p6-b200.48xlarge", 8, 183359, 1),),
    "B300": (("p6-b300.48xlarge", 8, 275040, 1),),
    "Inferentia": (
        ("inf1.xlarge inf1.2xlarge", 1, _gib(8), 1),
        ("inf1.6xlarge", 4, _gib(8), 1),
        ("inf1.24xlarge", 16, _gib(8), 1),
    ),
    "Inferentia2": (
        ("inf2.xlarge inf2.8xlarge", 1, _gib(32), 1),
        ("inf2.24xlarge", 6, _gib(32), 1),
        ("inf2.48xlarge", 12, _gib(32), 1),
    ),
    "Trainium": (("trn1.2xlarge", 1, _gib(32), 1), ("trn1.32xlarge trn1n.32xlarge", 16, _gib(32), 1)),
    "Trainium2": (("trn2.48xlarge trn2u.48xlarge", 16, _gib(96), 1),),
}
_AZURE: dict[str, Rows] = {
    "T4": (("NC4as_T4_v3 NC8as_T4_v3 NC16as_T4_v3", 1, _gib(16), 1), ("NC64as_T4_v3", 4, _gib(16), 1)),
    "V100": (("NC6s_v3", 1, _gib(16), 1), ("NC12s_v3", 2, _gib(16), 1), ("NC24s_v3", 4, _gib(16), 1)),
    "A100": (
        ("NC24ads_A100_v4", 1, _gib(80), 1),
        ("NC48ads_A100_v4", 2, _gib(80), 1),
        ("NC96ads_A100_v4", 4, _gib(80), 1),
        ("ND96asr_v4", 8, _gib(40), 1),
        ("ND96amsr_A100_v4", 8, _gib(80), 1),
    ),
    # The lists of the provider differ about the memory (94 or 80 GB), so it is not stated.
    "H100": (("NC40ads_H100_v5", 1, None, 1), ("NC80adis_H100_v5", 2, None, 1), ("ND96isr_H100_v5", 8, _gib(80), 1)),
    "H200": (("ND96isr_H200_v5", 8, _gib(141), 1),),
    "MI300X": (("ND96isr_MI300X_v5", 8, _gib(192), 1),),
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
    "V710": (
        ("NV4ads_V710_v5", 1, _gib(4), 6),
        ("NV8ads_V710_v5", 1, _gib(8), 3),
        ("NV12ads_V710_v5", 1, _gib(12), 2),
        ("NV24ads_V710_v5", 1, _gib(24), 1),
        ("NV28adms_V710_v5", 1, _gib(28), 1),
    ),
}
_GOOGLE: dict[str, Rows] = {
    "A100": (
        ("a2-highgpu-1g", 1, _gib(40), 1),
        ("a2-highgpu-2g", 2, _gib(40), 1),
        ("a2-highgpu-4g", 4, _gib(40), 1),
        ("a2-highgpu-8g", 8, _gib(40), 1),
        ("a2-megagpu-16g", 16, _gib(40), 1),
        ("a2-ultragpu-1g", 1, _gib(80), 1),
        ("a2-ultragpu-2g", 2, _gib(80), 1),
        ("a2-ultragpu-4g", 4, _gib(80), 1),
        ("a2-ultragpu-8g", 8, _gib(80), 1),
    ),
    "H100": (
        ("a3-highgpu-1g", 1, _gib(80), 1),
        ("a3-highgpu-2g", 2, _gib(80), 1),
        ("a3-highgpu-4g", 4, _gib(80), 1),
        ("a3-highgpu-8g a3-megagpu-8g a3-edgegpu-8g", 8, _gib(80), 1),
    ),
    "H200": (("a3-ultragpu-8g", 8, _gib(141), 1),),
    # The smallest have a part of a card, which is a vGPU.
    "RTX PRO 6000": (
        ("g4-standard-6", 1, _gib(12), 8),
        ("g4-standard-12", 1, _gib(24), 4),
        ("g4-standard-24", 1, _gib(48), 2),
        ("g4-standard-48", 1, _gib(96), 1),
        ("g4-standard-96", 2, _gib(96), 1),
        ("g4-standard-192", 4, _gib(96), 1),
        ("g4-standard-384", 8, _gib(96), 1),
    ),
    # The memory of these is not in the page of machine types.
    "B200": (("a4-highgpu-8g", 8, None, 1),),
    "GB200": (("a4x-highgpu-4g", 4, None, 1),),
    "L4": (
        ("g2-standard-4 g2-standard-8 g2-standard-12 g2-standard-16 g2-standard-32", 1, _gib(24), 1),
        ("g2-standard-24", 2, _gib(24), 1),
        ("g2-standard-48", 4, _gib(24), 1),
        ("g2-standard-96", 8, _gib(24), 1),
    ),
}

#: How the instance types of a provider begin → its rows.
TABLES = (("ecs.", _ALIBABA), ("", _AWS), ("", _GOOGLE), ("Standard_", _AZURE))
