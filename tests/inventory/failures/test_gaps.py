"""Golden cases of gaps of activity within a job: one card, the shape of a job, too few data."""

from __future__ import annotations

from inventory.failures.gaps import Gap, Watched, gaps

HOUR = 12


def job(*activity: float, name: str = "train", samples: int = HOUR) -> list[Watched]:
    return [Watched(name, f"{name}-{card}", (one,) * samples) for card, one in enumerate(activity)]


def test_a_card_that_is_much_idler_than_its_siblings_is_named() -> None:
    assert gaps(job(0.875, 0.125, 1, 0.9375)) == {"train-1": Gap(0.125, 0.9375, 3, HOUR)}


def test_a_card_that_is_much_busier_is_named_too() -> None:
    assert list(gaps(job(0.1, 0.1, 0.12, 0.1, 0.9))) == ["train-4"]


def test_a_difference_of_less_than_30_points_is_none() -> None:
    assert gaps(job(0.9, 0.65, 0.9, 0.9)) == {}


def test_a_job_whose_cards_all_differ_says_nothing() -> None:
    assert gaps(job(0.1, 0.4, 0.7, 1.0)) == {}
    assert gaps(job(0.1, 0.1, 0.9, 0.9, 0.9, 0.9)) == {}


def test_too_few_cards_or_samples_say_nothing() -> None:
    assert gaps(job(0.9, 0.1, 0.9)) == {}
    assert gaps(job(0.9, 0.1, 0.9, 0.9, samples=HOUR - 1)) == {}
    few = [*job(0.9, 0.9, 0.9), Watched("train", "late", (0.1,) * 3)]
    assert gaps(few) == {}


def test_jobs_are_not_compared_with_each_other() -> None:
    assert gaps([*job(0.9, 0.9, 0.9, 0.9), *job(0.1, 0.1, 0.1, 0.1, name="idle")]) == {}


def test_of_a_card_in_two_jobs_the_larger_gap_counts() -> None:
    first = [one._replace(subject="same") if place == 1 else one for place, one in enumerate(job(0.9, 0.5, 0.9, 0.9))]
    second = [
        one._replace(subject="same") if place == 1 else one for place, one in enumerate(job(1, 0.125, 1, 1, name="b"))
    ]
    assert gaps([*first, *second])["same"].activity == 0.125


def test_nothing_of_nothing() -> None:
    assert gaps([]) == {}
