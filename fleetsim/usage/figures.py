"""What the demo's cards draw and how warm they are, at rest and at work: figures of their data sheets."""

from __future__ import annotations

from dataclasses import dataclass

from fleetsim import models
from fleetsim.models import Model


@dataclass(frozen=True, slots=True)
class Figures:
    """watts, celsius: at rest and under full load. slowdown: °C from which the card slows itself down. Clocks in MHz.

    reserved_mib: what driver and firmware keep for themselves.
    """

    watts: tuple[float, float]
    celsius: tuple[float, float] = (31.0, 72.0)
    slowdown: float = 93.0
    sm_mhz: tuple[float, float] = (210.0, 1410.0)
    memory_mhz: float = 1215.0
    reserved_mib: int = 600


_FIGURES: dict[str, Figures] = {
    models.T4.name: Figures((10, 70), (34, 74), 96, (300, 1590), 5001, 450),
    models.V100.name: Figures((42, 300), (33, 66), 90, (135, 1530), 877, 340),
    models.A10.name: Figures((20, 150), (32, 70), 98, (210, 1695), 6251, 470),
    models.P100.name: Figures((30, 250), (33, 68), 85, (405, 1328), 715, 110),
    models.K80.name: Figures((27, 149), (36, 76), 93, (324, 875), 2505, 80),
    models.H100.name: Figures((72, 700), (31, 68), 93, (345, 1980), 2619, 569),
    models.A100.name: Figures((58, 400), (30, 66), 92, (210, 1410), 1593, 573),
    models.A100_40.name: Figures((48, 400), (30, 66), 92, (210, 1410), 1215, 573),
    models.L40S.name: Figures((36, 350), (31, 71), 95, (210, 2520), 9001, 620),
    models.RTX4090.name: Figures((22, 450), (33, 73), 95, (210, 2520), 10501, 430),
    models.A30.name: Figures((29, 165), (31, 67), 92, (210, 1440), 1215, 470),
    models.A40.name: Figures((31, 300), (32, 72), 95, (210, 1740), 7251, 620),
    models.L4.name: Figures((13, 72), (37, 74), 96, (210, 2040), 6251, 440),
    models.MI210.name: Figures((41, 300), (33, 72), 100, (800, 1700), 1600, 10),
    models.MI300X_CPX.name: Figures((139, 750), (40, 78), 100, (132, 2100), 1300, 283),
    models.FLEX_170.name: Figures((24, 150), (38, 74), 100, (300, 2050), 9000, 30),
    models.ASCEND_910B.name: Figures((92, 392), (38, 70), 95, (800, 1800), 1600, 2800),
}
_ANY = Figures((25, 200))


def figures_of(model: Model) -> Figures:
    return _FIGURES.get(model.name, _ANY)
