"""The worst that is said wins, and silence is never health."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from inventory.health.levels import level_of, ordered, worst
from stacks.engine.base import DEGRADED, HEALTH_UNKNOWN, HEALTHY, UNHEALTHY, HealthReport

LEVELS = (HEALTHY, DEGRADED, UNHEALTHY, HEALTH_UNKNOWN)


def told(level: str, lost_at: float | None = None, source: str = "s") -> HealthReport:
    return HealthReport(source=source, level=level, code="c", says="It says so", lost_at=lost_at)


statements = st.lists(
    st.builds(told, st.sampled_from(LEVELS), st.none() | st.floats(0, 2e9), st.sampled_from(("a", "b"))), max_size=8
)


@given(statements)
def test_healthy_is_said_by_somebody_who_speaks_now_and_by_nobody_contradicted(said: list[HealthReport]) -> None:
    level = level_of(said)
    if level == HEALTHY:
        assert any(one.level == HEALTHY and one.lost_at is None for one in said)
        assert not any(one.level in (DEGRADED, UNHEALTHY) for one in said)


@given(statements.map(lambda said: [one for one in said if one.level == HEALTH_UNKNOWN or one.lost_at is not None]))
def test_no_combination_of_silence_is_healthy(said: list[HealthReport]) -> None:
    assert level_of([one for one in said if one.level in (HEALTHY, HEALTH_UNKNOWN)]) == HEALTH_UNKNOWN


@given(statements, st.floats(0, 2e9))
def test_a_source_that_falls_silent_makes_nothing_better(said: list[HealthReport], when: float) -> None:
    bad = (UNHEALTHY, DEGRADED, HEALTH_UNKNOWN, HEALTHY)
    lost = [replace(one, lost_at=when) for one in said]
    assert bad.index(level_of(lost)) <= bad.index(level_of(said)) or level_of(said) == HEALTHY
    if level_of(said) in (UNHEALTHY, DEGRADED):
        assert level_of(lost) == level_of(said)
    assert level_of(lost) != HEALTHY


@given(statements)
def test_the_order_of_what_is_said_decides_nothing(said: list[HealthReport]) -> None:
    assert level_of(said) == level_of(reversed(said)) == level_of(ordered(said))
    assert set(ordered(said)) == set(said)


def test_a_whole_is_healthy_where_all_its_parts_are_and_there_are_some() -> None:
    assert worst([]) == HEALTH_UNKNOWN
    assert worst([HEALTHY, HEALTHY]) == HEALTHY
    assert worst([HEALTHY, HEALTH_UNKNOWN]) == HEALTH_UNKNOWN
    assert worst([HEALTHY, HEALTH_UNKNOWN, DEGRADED]) == DEGRADED
    assert worst([DEGRADED, UNHEALTHY]) == UNHEALTHY
