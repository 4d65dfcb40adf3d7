"""Many small cases in one test: what pytest does around each takes longer than the case. All that fail are named."""

import pytest


def few_dozen(argument, tables, size=36):
    """A parameter of lists: the cases of each of the named tables, so many at a time."""
    assert all(tables.values()), "a table has no cases"
    parts = {(name, i): cases[i : i + size] for name, cases in tables.items() for i in range(0, len(cases), size)}
    return pytest.mark.parametrize(argument, parts.values(), ids=[f"{name} from {i}" for name, i in parts])


def check_each(cases, check, name=str):
    """Call `check` with every case; those that fail are the failure, each with its name and its reason.

    A case may not be skipped, as that would end the others.
    """
    failed = []
    for case in cases:
        try:
            check(case)
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            failed.append(f"{name(case)}: {type(error).__name__}: {error}")
    assert cases, "there are no cases"
    assert not failed, f"{len(failed)} of {len(cases)} cases\n" + "\n".join(failed)
