"""A sample of the attack: no statement of any certificate is violated. `make attack` has all of it."""

from math import ceil

import pytest

from attack.editions import exists
from attack.run import FAMILIES, names_of, trial
from attack.tally import Tally
from mercer_old.threads import one_blas_thread

SHARE, LARGER = 0.05, 0.08  # of each family


@pytest.fixture(scope="module")
def tally():
    return Tally()


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_no_statement_of_a_certificate_is_violated(family, tally):
    judge(family, SHARE, tally)


@pytest.mark.slow
@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_no_statement_is_violated_in_a_larger_sample(family):
    judge(family, LARGER, Tally())


@pytest.mark.parametrize("family", sorted(name for name in FAMILIES if "new" in FAMILIES[name].editions))
def test_no_statement_of_the_second_edition_is_violated(family):
    if not exists(FAMILIES[family].model, "new"):
        pytest.skip(f"mercer.estimators has no {FAMILIES[family].model}")
    judge(family, SHARE, Tally(), "new")


def judge(family, share, tally, edition="old"):
    mine = Tally()
    with one_blas_thread():
        for name in names_of(0, [family], share, edition):
            verdict = trial(name, edition)
            tally.add(family, *verdict)
            mine.add(family, *verdict)
    assert not mine.failures, "\n".join(mine.by_problem())
    answered = mine.problems[family] - mine.refused[family]
    assert answered >= mine.problems[family] / 2, "most of them were refused, so nothing was judged"
    assert mine.statements.total() >= 4 * answered


def test_the_sample_is_large_enough_to_mean_something(tally):
    expected = sum(ceil(f.count * SHARE) for f in FAMILIES.values())
    if tally.problems.total() < expected:
        pytest.skip("only some families were run")
    assert tally.problems.total() >= 150 and tally.statements.total() >= 3000
    assert tally.refused.total() <= 0.1 * tally.problems.total()
    assert {f.model for f in FAMILIES.values()} >= {"PCA", "IncrementalPCA", "KernelPCA", "landmarks"}


def test_a_full_attack_has_two_thousand_problems_and_each_can_be_had_again():
    names = names_of(0)
    assert len(names) >= 2000 and len(set(names)) == len(names)
    first, second = trial("pca_two_level:3:1"), trial("pca_two_level:3:1")
    assert first[1] == second[1] and first[2].statements == second[2].statements
    assert first[1] != trial("pca_two_level:4:1")[1]


def test_both_editions_get_the_same_problems():
    old, new = names_of(0), names_of(0, edition="new")
    assert len(new) > 1000 and set(new) <= set(old)
    for name in ("pca_two_level:3:1", "kernel_combined:3:1", "lle_metrics:3:1"):
        assert trial(name)[1] == trial(name, "new")[1]
    with pytest.raises(SystemExit, match="no family 'kernel_elsewhere'"):
        names_of(0, ["kernel_elsewhere"], edition="new")
