"""Every kind of image goes in and comes out as it was, and all kinds are augmented alike."""

import pytest
from conftest import need, picture

import freeaugment

numpy = need("numpy")


def test_arrays_keep_shape_and_type(policy):
    for shape in [(21, 34, 3), (8, 8, 1), (5, 7), (1, 1, 3), (3, 1, 1), (64, 3, 4)]:
        image = numpy.random.default_rng(1).integers(0, 256, shape, dtype=numpy.uint8)
        kept = image.copy()
        result = policy(image, seed=3)
        assert result.shape == shape and result.dtype == numpy.uint8
        assert (image == kept).all(), "the image itself stays as it is"


def test_layout_in_memory_does_not_matter(policy):
    image = picture(numpy, 40, 30)
    for seed in range(8):
        expected = policy(image, seed=seed)
        planar = numpy.ascontiguousarray(image.transpose(2, 0, 1)).transpose(1, 2, 0)
        wide = numpy.zeros((80, 60, 5), numpy.uint8)
        wide[::2, ::2, 1:4] = image
        read_only = image.copy()
        read_only.flags.writeable = False
        for other in [planar, wide[::2, ::2, 1:4], numpy.asfortranarray(image), read_only]:
            assert (policy(other, seed=seed) == expected).all()


def test_rows_that_run_backwards_are_read_as_they_are_seen(policy):
    image = picture(numpy)
    for seed in range(4):
        for turned in [image[::-1], image[:, ::-1], image[..., ::-1], image[::-2, ::-1]]:
            expected = policy(numpy.ascontiguousarray(turned), seed=seed)
            assert (policy(turned, seed=seed) == expected).all()


def test_a_fourth_channel_is_untouched(policy):
    image = picture(numpy, channels=4)
    for seed in range(8):
        result = policy(image, seed=seed)
        assert (result[..., 3] == image[..., 3]).all()
        assert (result[..., :3] == policy(image[..., :3], seed=seed)).all()


def test_a_batch_is_its_images(policy):
    images = numpy.stack([picture(numpy, seed=seed) for seed in range(9)])
    expected = [policy(image, seed=5, epoch=2, index=10 + at) for at, image in enumerate(images)]
    for threads in [1, 2, 5, None]:
        result = policy.apply_batch(images, seed=5, epoch=2, indices=range(10, 19), threads=threads)
        assert (result == expected).all()
    listed = policy.apply_batch(list(images), seed=5, epoch=2, indices=range(10, 19))
    assert (numpy.stack(listed) == expected).all()
    grey = policy.apply_batch(images[..., 0], seed=5)
    assert grey.shape == (9, 21, 34)
    assert policy.apply_batch(images[:0], seed=5).shape == (0, 21, 34, 3)


def test_memory_without_numpy(policy):
    image = picture(numpy)
    result = policy(memoryview(image), seed=4)
    assert (numpy.asarray(result) == policy(image, seed=4)).all()


def test_pil_images(policy):
    pil = need("PIL.Image")
    for mode, channels in [("L", 1), ("RGB", 3), ("RGBA", 4)]:
        image = picture(numpy, channels=channels)
        image = image[..., 0] if channels == 1 else image
        for seed in range(6):
            result = policy(pil.fromarray(image), seed=seed)
            assert (result.mode, result.size) == (mode, (34, 21))
            assert (numpy.asarray(result) == policy(image, seed=seed)).all()


def test_tensors(policy):
    torch = need("torch")
    image = picture(numpy)
    tensor = torch.from_numpy(image).permute(2, 0, 1)
    for seed in range(6):
        expected = policy(image, seed=seed).transpose(2, 0, 1)
        for other in [tensor, tensor.contiguous(), tensor.contiguous().requires_grad_(False)]:
            result = policy(other, seed=seed)
            assert type(result) is torch.Tensor and result.dtype == torch.uint8
            assert (result.numpy() == expected).all()
    batch = torch.stack([tensor] * 4)
    for other in [batch, batch.to(memory_format=torch.channels_last)]:
        result = policy.apply_batch(other, seed=1)
        for at in range(4):
            assert (result[at] == policy(tensor, seed=1, index=at)).all()


def test_floats_are_augmented_as_floats(learned):
    torch = need("torch")
    tensor = torch.rand(3, 20, 25)
    for seed in range(20):
        exact = learned(tensor, seed=seed)
        assert exact.dtype == torch.float32 and exact.shape == tensor.shape
        for dtype in [torch.float64, torch.float16, torch.bfloat16]:
            result = learned(tensor.to(dtype), seed=seed)
            assert result.dtype == dtype
    array = learned(tensor.numpy().transpose(1, 2, 0), seed=0)
    assert (array.transpose(2, 0, 1) == learned(tensor, seed=0).numpy()).all()
    gradient = torch.rand(3, 4, 4, requires_grad=True)
    assert not learned(gradient, seed=0).requires_grad


def test_floats_and_bytes_agree_within_levels():
    torch = need("torch")
    policy = freeaugment.Policy.baseline("uniform-free:1")
    tensor = torch.from_numpy(picture(numpy)).permute(2, 0, 1).contiguous()
    for seed in range(40):
        floats = (policy(tensor / 255, seed=seed) * 255).round()
        assert (floats - policy(tensor, seed=seed)).abs().max() <= 1


def test_a_baseline_rounds_floats_to_bytes():
    torch = need("torch")
    policy = freeaugment.Policy.baseline("rand:2:9")
    tensor = torch.from_numpy(picture(numpy)).permute(2, 0, 1).contiguous()
    for seed in range(10):
        result = policy(tensor / 255, seed=seed)
        assert ((result * 255).round() == policy(tensor, seed=seed)).all()


def test_a_baseline_is_pillow_byte_for_byte():
    pil, ops, enhance = need("PIL.Image"), need("PIL.ImageOps"), need("PIL.ImageEnhance")
    image = pil.fromarray(picture(numpy, 32, 32))
    affine = lambda *matrix: lambda value: image.transform(image.size, pil.Transform.AFFINE, matrix_of(matrix, value))
    matrix_of = lambda matrix, value: [value if entry is None else entry for entry in matrix]
    reference = {
        "Identity": lambda _: image,
        "ShearX": affine(1, None, 0, 0, 1, 0),
        "ShearY": affine(1, 0, 0, None, 1, 0),
        "TranslateX": affine(1, 0, None, 0, 1, 0),
        "TranslateY": affine(1, 0, 0, 0, 1, None),
        "Rotate": image.rotate,
        "Brightness": enhance.Brightness(image).enhance,
        "Color": enhance.Color(image).enhance,
        "Contrast": enhance.Contrast(image).enhance,
        "Sharpness": enhance.Sharpness(image).enhance,
        "Posterize": lambda value: ops.posterize(image, int(value)),
        "Solarize": lambda value: ops.solarize(image, value),
        "AutoContrast": lambda _: ops.autocontrast(image),
        "Equalize": lambda _: ops.equalize(image),
    }
    policy, seen = freeaugment.Policy.baseline("trivial-wide"), set()
    for seed in range(300):
        [step] = policy.sample(seed=seed)
        expected = reference[step.name](step.magnitude)
        assert numpy.array_equal(policy(image, seed=seed), expected), step
        seen.add(step.name)
    assert seen == set(reference)


def test_importing_needs_no_other_library():
    import subprocess
    import sys

    program = (
        "import sys, freeaugment\n"
        "p = freeaugment.Policy.baseline('trivial-wide')\n"
        "p(memoryview(bytes(48)).cast('B', (4, 4, 3)))\n"
        "found = {'numpy', 'torch', 'PIL', 'torchvision', 'albumentations', 'timm'} & set(sys.modules)\n"
        "assert not found, found\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_one_image_starts_no_thread():
    import subprocess
    import sys

    if not sys.platform.startswith("linux"):
        pytest.skip("threads are counted in /proc")
    program = (
        "import os, time, freeaugment\n"
        "count = lambda: len(os.listdir('/proc/self/task'))\n"
        "image = memoryview(bytes(48)).cast('B', (4, 4, 3))\n"
        "for name in ['trivial-wide', 'uniform-free']:\n"
        "    policy = freeaugment.Policy.baseline(name)\n"
        "    before = count()\n"
        "    for _ in range(100): policy(image)\n"
        "    assert count() == before == 1, count()\n"
        "    policy.apply_batch(memoryview(bytes(96)).cast('B', (2, 4, 4, 3)), threads=2)\n"
        "    time.sleep(0.2)\n"
        "    assert count() == 1, 'the threads of a batch end with it'\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
