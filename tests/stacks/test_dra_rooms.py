"""How many devices can be given together of what counters leave, against trying all of them."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from stacks.dra.rooms import Left, fitting_together

COUNTERS = tuple(("driver", "pool", "card", name) for name in ("memory", "slice-0", "slice-1"))
amounts = st.dictionaries(st.sampled_from(COUNTERS), st.integers(0, 3))


@given(takes=st.lists(amounts, max_size=7), left=amounts)
def test_the_number_is_the_most_that_any_choice_can_have(takes: list[Left], left: Left) -> None:
    def fits(chosen: tuple[Left, ...]) -> bool:
        return all(sum(one.get(each, 0) for one in chosen) <= left.get(each, 0) for each in COUNTERS)

    most = max(
        (number for number in range(len(takes) + 1) if any(fits(some) for some in combinations(takes, number))),
        default=0,
    )
    assert fitting_together(takes, left) == (most, most)


def test_beyond_the_tries_there_are_bounds() -> None:
    """Forty devices in pairs that exclude each other, and one counter that allows one less than there are pairs to be given."""
    takes = [
        {("d", "p", "s", f"pair-{number // 2}"): 1, ("d", "p", "s", "all"): 2 + number % 2} for number in range(40)
    ]
    left = {("d", "p", "s", f"pair-{number}"): 1 for number in range(20)} | {("d", "p", "s", "all"): 39}
    sure, most = fitting_together(takes, left)
    assert 0 < sure <= 19 <= most
