"""The policy in timm's transforms."""

import pytest
from conftest import need, picture

import freeaugment

timm_data = need("timm.data")
numpy = need("numpy")
pil = need("PIL.Image")


def test_the_policy_stands_before_the_tensor():
    policy = freeaugment.Policy.baseline("trivial-wide")
    transform = timm_data.create_transform(64, is_training=True, color_jitter=None)
    result = freeaugment.timm.insert(transform, policy)
    names = [type(step).__name__ for step in result.transforms]
    assert names.index("Policy") + 1 == names.index("MaybeToTensor") and names.index("Policy") == 2
    assert len(transform.transforms) + 1 == len(result.transforms), "the other stays as it is"
    assert result(pil.fromarray(picture(numpy, 80, 90))).shape == (3, 64, 64)


def test_parts_and_other_ends():
    policy = freeaugment.Policy.baseline("uniform-free:2")
    image = pil.fromarray(picture(numpy, 80, 90))
    for options in [dict(use_prefetcher=True), dict(re_prob=0.5), dict(no_aug=True)]:
        transform = timm_data.create_transform(64, is_training=True, **options)
        freeaugment.timm.insert(transform, policy)(image)
    first, second, third = freeaugment.timm.insert(timm_data.create_transform(64, is_training=True, separate=True), policy)
    assert third(second(first(image))).shape == (3, 64, 64)


def test_refusals():
    policy = freeaugment.Policy.baseline("trivial-wide")
    transform = timm_data.create_transform(64, is_training=True, auto_augment="rand-m9-mstd0.5")
    with pytest.raises(ValueError, match="RandAugment"):
        freeaugment.timm.insert(transform, policy)
    with pytest.raises(TypeError, match="Compose"):
        freeaugment.timm.insert(lambda image: image, policy)
    with pytest.raises(TypeError, match="Policy"):
        freeaugment.timm.insert(transform, "trivial-wide")
