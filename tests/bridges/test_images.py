"""Images: `random_walker` gives what scikit-image's gives, with probabilities that are probabilities."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from isotherm.skimage import random_walker

segmentation = pytest.importorskip("skimage.segmentation")

Array = NDArray[Any]


def box(shape: tuple[int, ...], seed: int = 0) -> tuple[Array, Array]:
    """A bright shell in noise with a small hole, a marker outside and one inside."""
    rng = np.random.default_rng(seed)
    data = 0.1 * rng.normal(size=shape)
    low, high = ([int(share * side) for side in shape] for share in (0.3, 0.7))
    shell = tuple(slice(a, b) for a, b in zip(low, high, strict=True))
    inside = tuple(slice(a + 1, b - 1) for a, b in zip(low, high, strict=True))
    core = data[inside].copy()
    data[shell] = 1
    data[inside] = core
    data[(low[0], *(side // 2 for side in shape[1:]))] = 0
    markers = np.zeros(shape, int)
    markers[tuple(side // 5 for side in shape)] = 1
    markers[tuple(side // 2 for side in shape)] = 2
    return data, markers


def exact(data: Array, markers: Array, **more: Any) -> Array:
    return np.asarray(segmentation.random_walker(data, markers, mode="bf", return_full_prob=True, **more))


@pytest.mark.parametrize("shape", [(70, 100), (22, 24, 26)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("mode", ["cg_j", "cg", "cg_mg", "bf", None])
def test_the_inside_of_a_shell_is_found(shape: tuple[int, ...], dtype: type, mode: str | None) -> None:
    data, markers = box(shape)
    found = random_walker(data.astype(dtype), markers, beta=90, mode=mode)
    inside = tuple(slice(int(0.3 * side) + 3, int(0.7 * side) - 3) for side in shape)
    assert found.shape == data.shape
    assert (found[inside] == 2).all()
    assert found.flat[0] == 1


@pytest.mark.parametrize("spacing", [None, (1.0, 2.0)])
@pytest.mark.parametrize("kind", [np.float64, np.uint8, np.int16, bool])
def test_probabilities_are_those_of_an_exact_solve(kind: type, spacing: tuple[float, float] | None) -> None:
    data, markers = box((30, 40))
    markers[25, 30] = 3
    data = data > 0.5 if kind is bool else data if kind is np.float64 else (100 * np.clip(data, 0, 1)).astype(kind)
    found = random_walker(data, markers, tol=1e-8, return_full_prob=True, spacing=spacing)
    np.testing.assert_allclose(found, exact(data, markers, spacing=spacing), atol=1e-6)


@pytest.mark.parametrize("channel_axis", [0, 1, -1])
def test_channels_may_be_on_any_axis(channel_axis: int) -> None:
    one, markers = box((30, 40))
    both = np.stack([one, np.roll(one, 1)], axis=channel_axis)
    found = random_walker(both, markers, tol=1e-8, return_full_prob=True, channel_axis=channel_axis)
    np.testing.assert_allclose(found, exact(both, markers, channel_axis=channel_axis), atol=1e-6)


def test_a_volume_has_the_probabilities_of_an_exact_solve() -> None:
    data, markers = box((9, 10, 11))
    spacing = (1.0, 0.5, 2.0)
    found = random_walker(data, markers, tol=1e-8, return_full_prob=True, spacing=spacing)
    np.testing.assert_allclose(found, exact(data, markers, spacing=spacing), atol=1e-6)


@pytest.mark.parametrize("beta", [10, 130, 5000])
def test_probabilities_are_between_0_and_1_and_sum_to_1(beta: float) -> None:
    data, markers = box((60, 60))
    found = random_walker(data, markers, beta=beta, return_full_prob=True)
    assert found.min() >= 0
    assert found.max() <= 1
    np.testing.assert_allclose(found.sum(axis=0), 1, atol=1e-9)


def test_markers_are_numbered_without_gaps_and_keep_their_type() -> None:
    data, markers = box((40, 40))
    markers = np.where(markers == 2, 9, markers).astype(np.uint8)
    found = random_walker(data, markers)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, segmentation.random_walker(data, markers, mode="bf"))
    before = markers.copy()
    random_walker(data, markers)
    np.testing.assert_array_equal(markers, before)
    assert random_walker(data, markers, copy=False) is markers
    np.testing.assert_array_equal(markers, found)


def test_pixels_that_are_left_out_are_walls() -> None:
    data, markers = box((40, 40))
    markers[5:10, 5:10] = -1
    markers[30:33, 20:28] = -4
    theirs = {"mode": "cg_j", "tol": 1e-10}  # its mode "bf" takes other pixels for unknown here
    found = random_walker(data, markers, tol=1e-8)
    np.testing.assert_array_equal(found, segmentation.random_walker(data, markers, **theirs))
    chances = random_walker(data, markers, tol=1e-8, return_full_prob=True)
    expected = segmentation.random_walker(data, markers, return_full_prob=True, **theirs)
    np.testing.assert_allclose(chances, expected, atol=1e-6)


def test_isolated_pixels_and_seeds() -> None:
    rng = np.random.default_rng(0)
    data, markers = rng.random((7, 7)), np.full((7, 7), -1)
    markers[3:, 3:] = 0
    markers[4, 4], markers[6, 6], markers[1, 1] = 2, 1, 1  # the last one touches no other pixel
    found = random_walker(data, markers, return_full_prob=True)
    assert found[:, 1, 1].tolist() == [1, 0]
    assert random_walker(data, markers)[1, 1] == 1
    markers[1, 1] = 0  # now it is an unlabelled pixel without a seed
    assert random_walker(data, markers)[1, 1] == 0
    assert random_walker(data, markers, return_full_prob=True)[:, 1, 1].tolist() == [0, 0]


def test_nothing_to_do() -> None:
    data, markers = np.ones((10, 10)), np.ones((10, 10), int)
    with pytest.warns(UserWarning, match="Returning provided labels"):
        np.testing.assert_array_equal(random_walker(data, markers), markers)
    markers[:, :5] = 3
    with pytest.warns(UserWarning, match="Returning provided labels"):
        found = random_walker(data, markers, return_full_prob=True)
    np.testing.assert_array_equal(found, np.stack([markers == 1, markers == 3], axis=-1))
    markers = np.full((10, 10), -1)
    markers[2, 2], markers[7, 7] = 1, 0
    with pytest.warns(UserWarning, match="All unlabeled pixels are isolated"):
        found = random_walker(data, markers)
    assert (found[2, 2], found[7, 7]) == (1, -1)
    with pytest.warns(UserWarning, match="All unlabeled pixels are isolated"):
        assert random_walker(data, markers, return_full_prob=True).shape == (10, 10, 1)


def test_an_image_without_contrast_is_divided_by_distance() -> None:
    markers = np.zeros((1, 9), int)
    markers[0, 0], markers[0, 8] = 1, 2
    found = random_walker(np.ones((1, 9)), markers, return_full_prob=True, tol=1e-9)
    np.testing.assert_allclose(found[1, 0], np.arange(9) / 8, atol=1e-8)


def test_bad_input() -> None:
    data, markers = box((20, 20))
    with pytest.raises(ValueError, match="does not fit labels"):
        random_walker(np.ones(10), np.arange(10))
    with pytest.raises(ValueError, match="does not fit labels"):
        random_walker(np.ones((3,) * 5), np.ones((3,) * 5, int))
    with pytest.raises(ValueError, match="spacing has 1 numbers, but the image has 2 axes"):
        random_walker(data, markers, spacing=(1,))
    with pytest.raises(ValueError, match="mode='bad', but it must be one of"):
        random_walker(data, markers, mode="bad")
    with pytest.raises(ValueError, match="No seeds provided"):
        random_walker(data, np.zeros((20, 20), int))
