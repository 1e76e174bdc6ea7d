"""The transform of Albumentations: images, masks, boxes, key points; to a dictionary and back."""

import json

import pytest
from conftest import GEOMETRIC, OPERATIONS, need, picture

import freeaugment

numpy = need("numpy")
A = need("albumentations")

H, W = 60, 80
CASES = [("uniform-free:7", name, m) for name, values in GEOMETRIC.items() for m in values]
CASES += [("trivial-wide", name, m) for name, values in OPERATIONS.items() for m in values]


class Fixed(freeaugment.albumentations.FreeAugment):
    """Draws what it is told."""

    steps = ()

    def get_params_dependent_on_data(self, params, data):
        return {"steps": self.steps, "motion": self.policy._motion(self.steps, params["shape"][:2])}


def compose(transform, **options):
    return A.Compose(
        [transform],
        bbox_params=A.BboxParams("pascal_voc", label_fields=["labels"]),
        keypoint_params=A.KeypointParams("xy", remove_invisible=False),
        **options,
    )


@pytest.mark.parametrize("name, step, magnitude", CASES)
def test_everything_lies_where_its_pixels_lie(name, step, magnitude):
    transform = Fixed(freeaugment.Policy.baseline(name))
    transform.steps = [(step, magnitude)]
    image = numpy.zeros((H, W, 3), numpy.uint8)
    image[15:40, 20:50] = 255
    mask = (image[..., 0] > 0).astype(numpy.int32) * 7
    result = compose(transform)(
        image=image, mask=mask, masks=[mask, mask], bboxes=[[20, 15, 50, 40]], labels=["it"], keypoints=[[34.5, 27]]
    )
    bright = result["image"][..., 0] > 127
    rows, columns = numpy.nonzero(bright)
    found = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
    assert numpy.allclose(result["bboxes"][0], found, atol=2.0), (result["bboxes"], found)
    assert numpy.allclose(result["keypoints"][0][:2], [columns.mean(), rows.mean()], atol=6.0) or not bright.all()
    assert result["mask"].dtype == numpy.int32 and set(numpy.unique(result["mask"])) <= {0, 7}
    assert (result["mask"][result["image"][..., 0] > 192] == 7).all()
    assert (result["mask"][result["image"][..., 0] < 64] == 0).all()
    assert all((other == result["mask"]).all() for other in result["masks"])


def test_to_a_dictionary_and_back(policy):
    transform = compose(freeaugment.albumentations.FreeAugment(policy, p=0.5), seed=3)
    text = json.dumps(A.to_dict(transform))
    again = A.from_dict(json.loads(text))
    assert again.transforms[0].policy == policy and again.transforms[0].p == 0.5
    image = picture(numpy)
    same = [A.Compose([freeaugment.albumentations.FreeAugment(policy)], seed=3) for _ in range(2)]
    for _ in range(5):
        first, second = (compose(image=image)["image"] for compose in same)
        assert (first == second).all() and first.dtype == numpy.uint8


def test_kinds_of_images(learned):
    transform = A.Compose([freeaugment.albumentations.FreeAugment(learned)])
    for image in [picture(numpy), picture(numpy)[..., 0], picture(numpy).astype(numpy.float32) / 255]:
        result = transform(image=image)["image"]
        assert result.shape == image.shape and result.dtype == image.dtype
    images = transform(images=numpy.stack([picture(numpy)] * 3))["images"]
    assert all((image == images[0]).all() for image in images)


def test_refusals():
    with pytest.raises((TypeError, ValueError), match="freeaugment.Policy"):
        freeaugment.albumentations.FreeAugment(7)
