"""Which kernels run: native or reference, the instruction set, the number of threads; and what they refuse."""

from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest
from kernel_cases import random_block, random_graph

from isotherm import kernels
from isotherm.kernels import KernelsError, choose, reference


def test_native_kernels_were_built() -> None:
    assert kernels.native is not None, "this machine has a compiler, so the native kernels must have been built"


@pytest.fixture
def native() -> Iterator[ModuleType]:
    """The native kernels, whose instruction set a test may change."""
    if kernels.native is None:
        pytest.skip("the native kernels were not built")
    before = kernels.native.instruction_set()
    yield kernels.native
    kernels.native.use_instruction_set(before)


class TestInstructionSet:
    def test_every_processor_has_the_base_set_and_it_comes_last(self, native: ModuleType) -> None:
        assert kernels.instruction_sets() == tuple(native.instruction_sets())
        assert kernels.instruction_sets()[-1] == "base"
        assert native.instruction_set() in kernels.instruction_sets()

    def test_the_environment_chooses(self, native: ModuleType) -> None:
        for name in kernels.instruction_sets():
            assert choose(native, {"ISOTHERM_ISA": name}) is native
            assert native.instruction_set() == name
            if kernels.active is native:
                assert kernels.description().startswith(f"native ({name}), ")

    def test_what_the_processor_lacks_is_refused(self, native: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(native, "instruction_sets", lambda: ("avx2", "base"))
        with pytest.raises(KernelsError) as caught:
            choose(native, {"ISOTHERM_ISA": "avx512"})
        assert str(caught.value) == "ISOTHERM_ISA is 'avx512', which this processor lacks; it has avx2, base"
        with pytest.raises(KernelsError, match="ISOTHERM_ISA is 'sse2', which is unknown; this processor has avx2"):
            choose(native, {"ISOTHERM_ISA": "sse2"})

    def test_the_reference_kernels_ignore_it(self, native: ModuleType) -> None:
        assert choose(native, {"ISOTHERM_KERNELS": "reference", "ISOTHERM_ISA": "abacus"}) is reference

    def test_all_sets_agree_but_for_rounding(self, native: ModuleType) -> None:
        graph, _ = random_graph(200, True, np.float32)
        x, closing = random_block(200, 16, np.float32, 1), np.ones(16, np.float32)
        results = []
        for name in kernels.instruction_sets():
            native.use_instruction_set(name)
            out = kernels.block(200, 16, np.float32)
            report = native.sweep(*graph, np.full(200, 0.2, np.float32), closing, x, out, 1)
            results.append((out, report))
        for out, report in results[1:]:
            np.testing.assert_allclose(out, results[0][0], rtol=0, atol=1e-5)
            np.testing.assert_allclose(report, results[0][1], rtol=1e-4, atol=1e-3)


def test_native_kernels_that_are_missing_are_refused_if_asked_for() -> None:
    with pytest.raises(KernelsError, match="ISOTHERM_KERNELS is 'native', but isotherm was installed without"):
        choose(None, {"ISOTHERM_KERNELS": "native"})
    with pytest.warns(RuntimeWarning, match="kernels run in SciPy"):
        assert choose(None, {"ISOTHERM_ISA": "abacus"}) is reference


@pytest.mark.parametrize("native", [None, kernels.native])
def test_unknown_kernels_are_refused(native: ModuleType | None) -> None:
    with pytest.raises(
        KernelsError, match="ISOTHERM_KERNELS is 'Native', which is unknown; choose from auto, native, "
    ):
        choose(native, {"ISOTHERM_KERNELS": "Native"})


def test_an_empty_variable_is_as_none_at_all() -> None:
    assert choose(reference, {"ISOTHERM_KERNELS": "", "ISOTHERM_ISA": ""}) is reference


@pytest.mark.skipif(kernels.native is None, reason="the native kernels were not built")
class TestNative:
    def test_a_wrong_dtype_is_refused_and_not_copied(self) -> None:
        graph, _ = random_graph(20, False, np.float32)
        assert kernels.native is not None
        x = kernels.block(20, 4, np.float64)
        out = kernels.block(20, 4, np.float32)
        with pytest.raises(TypeError):
            kernels.native.sweep(*graph, np.ones(20, np.float32), np.ones(4, np.float32), x, out, 1)

    def test_a_width_that_no_kernel_has_is_refused(self) -> None:
        graph, _ = random_graph(20, False, np.float64)
        assert kernels.native is not None
        x, out = np.zeros((20, 3)), np.zeros((20, 3))
        with pytest.raises(ValueError, match="1, 2, 4, 8 or 16 columns"):
            kernels.native.sweep(*graph, np.ones(20), np.ones(3), x, out, 1)


def test_blocks_are_aligned_to_cache_lines() -> None:
    for width in kernels.WIDTHS:
        assert kernels.block(1000, width, np.float32).ctypes.data % 64 == 0


def test_thread_count_comes_from_argument_then_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTHERM_THREADS", "3")
    assert kernels.thread_count() == 3
    assert kernels.thread_count(2) == 2
    monkeypatch.delenv("ISOTHERM_THREADS")
    assert kernels.thread_count() >= 1


@pytest.mark.parametrize("value", ["many", "0", "-1", "1.5"])
def test_a_wrong_number_of_threads_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ISOTHERM_THREADS", value)
    with pytest.raises(ValueError, match=f"ISOTHERM_THREADS is '{value}'; it must be a number from 1 on"):
        kernels.thread_count()
