"""What cannot be done is refused with a message that says what was given and what is allowed."""

import pytest
from conftest import need, picture

import freeaugment

numpy = need("numpy")


@pytest.mark.parametrize(
    "image, error, words",
    [
        (numpy.zeros((4, 4, 5), numpy.uint8), ValueError, "1, 3 or 4 channels"),
        (numpy.zeros((0, 4, 3), numpy.uint8), ValueError, "at least one pixel"),
        (numpy.zeros((4, 4, 3), numpy.int16), TypeError, "int16"),
        (numpy.zeros((4, 4, 3), numpy.float64), TypeError, "float64"),
        (numpy.zeros((2, 4, 4, 3), numpy.uint8), ValueError, "apply_batch"),
        (numpy.zeros(4, numpy.uint8), ValueError, "(4,)"),
        (numpy.full((4, 4, 3), 1.5, numpy.float32), ValueError, "1.5, but pixels lie in 0..=1"),
        (numpy.full((4, 4, 3), numpy.nan, numpy.float32), ValueError, "pixels lie in 0..=1"),
        ("photo.png", TypeError, "builtins.str"),
        (None, TypeError, "a numpy array"),
        (memoryview(bytes(64)).cast("i", (4, 4)), TypeError, "format i"),
    ],
)
def test_images(policy, image, error, words):
    with pytest.raises(error) as found:
        policy(image)
    assert words in str(found.value)


def test_tensors(learned):
    torch = need("torch")
    cases = [
        (torch.zeros(3, 4, 4, dtype=torch.int64), TypeError, "int64"),
        (torch.zeros(3, 4, 4, dtype=torch.bool), TypeError, "bool"),
        (torch.zeros(3, 4, 4, device="meta"), ValueError, "meta"),
        (torch.full((3, 4, 4), -0.1), ValueError, "-0.1"),
        (torch.zeros(8, 8, 3, dtype=torch.uint8), ValueError, "[chw] is [8, 8, 3]"),
        (torch.zeros(5, 4, 4, dtype=torch.uint8), ValueError, "channels"),
        (torch.zeros(2, 3, 4, 4, dtype=torch.uint8), ValueError, "apply_batch"),
        (torch.zeros(3, 0, 4, dtype=torch.uint8), ValueError, "at least one pixel"),
    ]
    for tensor, error, words in cases:
        with pytest.raises(error) as found:
            learned(tensor)
        assert words in str(found.value)


def test_pil_modes(learned):
    pil = need("PIL.Image")
    for mode in ["P", "1", "CMYK", "F", "I;16"]:
        with pytest.raises(ValueError, match=f"this has {mode}"):
            learned(pil.new(mode, (4, 4)))
    with pytest.raises(ValueError, match="at least one pixel"):
        learned(pil.new("RGB", (0, 4)))


@pytest.mark.parametrize(
    "key, error",
    [
        (dict(index=1), ValueError),
        (dict(epoch=1), ValueError),
        (dict(seed=-1), ValueError),
        (dict(seed=2**64), ValueError),
        (dict(seed=1, index=2**32), ValueError),
        (dict(seed=1.5), TypeError),
        (dict(seed="a"), TypeError),
    ],
)
def test_keys(learned, key, error):
    with pytest.raises(error):
        learned(picture(numpy), **key)


def test_batches(learned):
    images = numpy.zeros((3, 4, 4, 3), numpy.uint8)
    with pytest.raises(ValueError, match="2 indices for 3 images"):
        learned.apply_batch(images, seed=1, indices=[1, 2])
    with pytest.raises(ValueError, match="need a seed"):
        learned.apply_batch(images, indices=[1, 2, 3])
    with pytest.raises(ValueError, match="at least 1"):
        learned.apply_batch(images, threads=0)
    with pytest.raises(ValueError, match="n, h, w"):
        learned.apply_batch(images[0, 0])


def test_samples(learned):
    image = picture(numpy)
    for sample, error, words in [
        ([("Rotat", 3.0)], ValueError, "did you mean `Rotate`"),
        ([("Rotate", 300.0)], ValueError, "must lie in -180..=180"),
        ([("Rotate",)], ValueError, "Rotate"),
        ([("Rotate", float("nan"))], ValueError, "NaN"),
        (["Rotate"], TypeError, "'Rotate'"),
        ([7], TypeError, "7"),
    ]:
        with pytest.raises(error) as found:
            learned.replay(sample, image)
        assert words in str(found.value)
    with pytest.raises(ValueError, match="no operation `Warp`"):
        freeaugment.Policy.baseline("trivial").replay([("Warp", 1.0)], image)


def test_policies(tmp_path, learned):
    file = tmp_path / "policy.json"
    with pytest.raises(freeaugment.PolicyError, match="policy.json"):
        freeaugment.Policy.load(file)
    for text, words in [
        ("{", "line 1"),
        ("{}", "is not a FreeAugment policy"),
        (learned.to_json().replace('"version": 1', '"version": 9'), "has version 9"),
        (learned.to_json().replace('"layers": 3', '"layers": 30'), "layers"),
    ]:
        file.write_text(text)
        with pytest.raises(freeaugment.PolicyError) as found:
            freeaugment.Policy.load(file)
        assert words in str(found.value) and "policy.json" in str(found.value)
        with pytest.raises(freeaugment.PolicyError):
            freeaugment.Policy.from_json(text)
    with pytest.raises(freeaugment.PolicyError, match="did you mean"):
        freeaugment.Policy.baseline("trivial-wid")
    with pytest.raises(TypeError, match="Policy.load"):
        freeaugment.Policy()
    assert issubclass(freeaugment.PolicyError, ValueError)


def test_results_need_a_place(learned):
    image = picture(numpy)
    for target in [image.tobytes(), numpy.empty((34, 21, 3), numpy.uint8), numpy.empty((21, 68, 3), numpy.uint8)[:, ::2]]:
        place = memoryview(target).cast("B", image.shape) if isinstance(target, bytes) else target
        with pytest.raises(ValueError, match="without gaps and not read-only"):
            learned._native.replay([("Invert", None, None, None)], image, place, "hwc", False, 1)


def test_a_panic_becomes_an_exception_and_the_process_lives():
    from freeaugment import _native

    for threads in [1, 2]:
        with pytest.raises(RuntimeError, match="a bug in freeaugment"):
            _native.panic_in_a_thread(threads)
