"""Batches of tensors, drawn by us and applied by Kornia."""

import pytest
from conftest import need

import freeaugment

torch = need("torch")
need("kornia")


def test_a_batch_is_what_the_policy_makes_of_its_images(learned):
    torch.manual_seed(0)
    images = torch.rand(40, 3, 20, 28)
    # Bytes, so that what decides on bytes (Posterize, Equalize) decides the same here and there.
    images = (images * 255).round() / 255
    transform = freeaugment.kornia.FreeAugment(learned)
    found = transform(images, seed=4, epoch=2)
    wanted = learned.apply_batch(images, seed=4, epoch=2)
    names = [{step.name for step in learned.sample(seed=4, epoch=2, index=index)} for index in range(40)]
    exact = [at for at, own in enumerate(names) if not own & {"Posterize", "Equalize", "Solarize"}]
    assert len(exact) > 10
    # Bilinear blends of two implementations; what follows doubles a difference at most (Contrast, Sharpness), AutoContrast by its range.
    assert (found - wanted)[exact].abs().max() < 2e-3
    assert not torch.equal(found, images)


def test_draws_come_from_torch_and_evaluation_is_left_alone(learned):
    images = torch.rand(8, 1, 16, 16)
    transform = freeaugment.kornia.FreeAugment(learned)
    torch.manual_seed(3)
    first = transform(images)
    torch.manual_seed(3)
    assert torch.equal(first, transform(images)) and not torch.equal(first, transform(images))
    assert torch.equal(transform.eval()(images), images)


def test_refusals(learned):
    with pytest.raises(ValueError, match="trivial-wide is a baseline"):
        freeaugment.kornia.FreeAugment(freeaugment.Policy.baseline("trivial-wide"))
    with pytest.raises(TypeError, match="this is a str"):
        freeaugment.kornia.FreeAugment("policy")
    transform = freeaugment.kornia.FreeAugment(learned)
    with pytest.raises(ValueError, match="torch.uint8"):
        transform(torch.zeros(2, 3, 8, 8, dtype=torch.uint8))
    with pytest.raises(ValueError, match="3 indices for 2 images"):
        transform(torch.zeros(2, 3, 8, 8), seed=1, indices=[1, 2, 3])
