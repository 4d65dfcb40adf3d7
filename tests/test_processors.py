"""What is proven here holds as other processors compute it; and `make test-cpus` sees what does not."""

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import cpus

pytestmark = pytest.mark.pools
PLAIN = cpus.Configuration("as it is", {}, 1)


@pytest.mark.parametrize(
    "some", [slice(-1, None), pytest.param(slice(-1), marks=pytest.mark.slow)], ids=["the plainest", "the others"]
)
def test_certificates_hold_as_other_processors_compute_them(some):
    few = cpus.a_few()[some]
    if not few:
        pytest.skip("BLAS and numpy cannot be told to compute as on another processor, or on so many")
    with ThreadPoolExecutor(2) as pool:
        outcomes = dict(zip(few, pool.map(cpus.run_certificates, few), strict=True))
    assert all(outcome.good for outcome in outcomes.values()), cpus.table(outcomes)


def test_a_kind_of_processor_that_openblas_does_not_know_is_not_counted_as_another(monkeypatch):
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)  # OpenBLAS takes its own choice for an unknown name
    monkeypatch.setattr(cpus, "ask_as_it_is", lambda: cpus.ask({}))
    found, said = cpus.coretypes(("Nonsense",))
    assert len(found) == 1 and said[0].startswith(("Nonsense: OpenBLAS takes", "BLAS is not OpenBLAS"))


@pytest.mark.skipif(sys.platform == "win32", reason="processes die otherwise there")
def test_a_test_that_fails_and_one_that_dies_are_both_told(tmp_path):
    file = tmp_path / "test_two.py"
    file.write_text("import os\ndef test_good(): pass\ndef test_bad(): assert os.environ['OMP_NUM_THREADS'] != '1'\n")
    outcome = cpus.run_pytest(PLAIN, [str(file)])
    assert (outcome.passed, len(outcome.failures), outcome.good) == (1, 1, False)
    assert "test_two.py::test_bad" in cpus.table({PLAIN: outcome})
    file.write_text("import os, signal\ndef test_dies(): os.kill(os.getpid(), signal.SIGILL)\n")
    outcome = cpus.run_pytest(PLAIN, [str(file)])
    assert not outcome.good and "ended with -4" in cpus.table({PLAIN: outcome})


def test_a_child_that_dies_of_an_instruction_it_does_not_have_answers_nothing(monkeypatch):
    monkeypatch.setattr(cpus, "ASK", "import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    assert cpus.ask({}) is None
