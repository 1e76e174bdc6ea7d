"""The transform of torchvision: every kind of input, in any nesting, moved to where the pixels lie."""

import pickle

import pytest
from conftest import GEOMETRIC, OPERATIONS, need, picture

import freeaugment

torch = need("torch")
need("torchvision")
numpy = need("numpy")
pil = need("PIL.Image")
from torchvision import transforms as v1  # noqa: E402
from torchvision import tv_tensors  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

H, W = 60, 80
CASES = [("uniform-free:7", name, m) for name, values in GEOMETRIC.items() for m in values]
CASES += [("trivial-wide", name, m) for name, values in OPERATIONS.items() for m in values]
FORMATS = [format.name for format in tv_tensors.BoundingBoxFormat]


class Fixed(freeaugment.torchvision.FreeAugment):
    """Draws what it is told."""

    def __init__(self, policy, steps):
        super().__init__(policy)
        self.steps = steps

    def make_params(self, flat_inputs):
        params = super().make_params(flat_inputs)
        params["steps"] = self.steps
        params["motion"] = self.policy._motion(self.steps, (H, W))
        return params


def fixed(name, step, magnitude):
    return Fixed(freeaugment.Policy.baseline(name), [(step, magnitude)])


def painted(*boxes):
    image = torch.zeros(3, H, W, dtype=torch.uint8)
    for left, top, right, bottom in boxes:
        image[:, top:bottom, left:right] = 255
    return image


def extent(image):
    """The box around what is bright."""
    rows, columns = torch.nonzero(image[0] > 127, as_tuple=True)
    if len(rows) == 0:
        return None
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


@pytest.mark.parametrize("name, step, magnitude", CASES)
def test_boxes_lie_where_their_pixels_lie(name, step, magnitude):
    transform = fixed(name, step, magnitude)
    for box in [(20, 15, 50, 40), (0, 0, 12, 20), (70, 30, 80, 60)]:
        boxes = tv_tensors.BoundingBoxes([box], format="XYXY", canvas_size=(H, W), dtype=torch.float32)
        image, moved = transform(tv_tensors.Image(painted(box)), boxes)
        found = extent(image)
        if found is None:
            size = moved[0, 2:] - moved[0, :2]
            assert size.prod() < 6, moved
            continue
        # The corner of a turned box is sharper than the pixels that show it.
        assert torch.allclose(moved[0], torch.tensor(found, dtype=torch.float32), atol=2.0), (moved, found)


@pytest.mark.parametrize("name, step, magnitude", CASES)
def test_points_lie_where_their_pixels_lie(name, step, magnitude):
    transform = fixed(name, step, magnitude)
    for x, y in [(40, 30), (22, 41), (55, 18)]:
        image = painted((x - 1, y - 1, x + 2, y + 2))
        points = tv_tensors.KeyPoints([[x, y]], canvas_size=(H, W), dtype=torch.float32)
        image, moved = transform(tv_tensors.Image(image), points)
        weights = image[0].double()
        if weights.sum() < 255 * 6:
            continue
        rows, columns = torch.meshgrid(torch.arange(H), torch.arange(W), indexing="ij")
        centre = [(weights * columns).sum() / weights.sum(), (weights * rows).sum() / weights.sum()]
        assert torch.allclose(moved[0].double(), torch.stack(centre), atol=0.75), (moved, centre)


@pytest.mark.parametrize("name, step, magnitude", CASES)
def test_masks_lie_where_their_pixels_lie(name, step, magnitude):
    transform = fixed(name, step, magnitude)
    image = painted((20, 15, 50, 40))
    for dtype in [torch.uint8, torch.bool, torch.int64, torch.float32]:
        mask = tv_tensors.Mask((image[:1] > 0).to(dtype) * 1 if dtype != torch.bool else image[:1] > 0)
        moved_image, moved = transform(tv_tensors.Image(image), mask)
        assert moved.dtype == mask.dtype and moved.shape == mask.shape and isinstance(moved, tv_tensors.Mask)
        assert set(moved.unique().tolist()) <= set(mask.unique().tolist())
        bright, dark = moved_image[:1] > 192, moved_image[:1] < 64
        assert (moved[bright] != 0).all() and (moved[dark] == 0).all()


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_of_boxes(format):
    turned = tv_tensors.is_rotated_bounding_format(format)
    between = "XYXYXYXY" if turned else "XYXY"
    corners = [20, 15, 50, 15, 50, 40, 20, 40] if turned else [20, 15, 50, 40]
    boxes = tv_tensors.BoundingBoxes([corners], format=between, canvas_size=(H, W), dtype=torch.float64)
    given = v2.functional.convert_bounding_box_format(boxes, new_format=format)
    for name, step, magnitude in [("uniform-free:7", "Rotate", 20.0), ("uniform-free:7", "TranslateX", 0.2)]:
        transform = fixed(name, step, magnitude)
        image, moved = transform(tv_tensors.Image(painted((20, 15, 50, 40))), given)
        assert moved.format == given.format and moved.canvas_size == given.canvas_size and moved.shape == given.shape
        corners = v2.functional.convert_bounding_box_format(moved, new_format=between).reshape(-1, 2)
        around = torch.cat([corners.min(0).values, corners.max(0).values])
        found = torch.tensor(extent(image), dtype=torch.float64)
        assert torch.allclose(around, found, atol=2.0), (format, around, found)
        if turned:
            sides = [(corners[1] - corners[0]).norm(), (corners[2] - corners[1]).norm()]
            assert torch.allclose(torch.stack(sides), torch.tensor([30.0, 25.0], dtype=torch.float64), atol=1e-3)
    if not turned:
        whole = tv_tensors.BoundingBoxes(given.to(torch.int64), format=format, canvas_size=(H, W))
        assert fixed("uniform-free:7", "Rotate", 20.0)(whole).dtype == torch.int64


def test_what_moves_nothing_leaves_them_as_they_are():
    image = tv_tensors.Image(painted((20, 15, 50, 40)))
    boxes = tv_tensors.BoundingBoxes([[20, 15, 50, 40]], format="XYXY", canvas_size=(H, W))
    mask, points = tv_tensors.Mask(image[:1]), tv_tensors.KeyPoints([[3, 4]], canvas_size=(H, W))
    moved = fixed("uniform-free:7", "Invert", None)(image, boxes, mask, points)
    assert not torch.equal(moved[0], image)
    assert all(torch.equal(new, old) for new, old in zip(moved[1:], [boxes, mask, points]))


def test_any_nesting_and_video(learned):
    transform = freeaugment.torchvision.FreeAugment(learned)
    frame = torch.from_numpy(picture(numpy, H, W)).permute(2, 0, 1)
    sample = {
        "video": tv_tensors.Video(torch.stack([frame] * 3)),
        "parts": [tv_tensors.Image(frame), (pil.fromarray(picture(numpy, H, W)), "a label", 7)],
        "extra": torch.ones(5),
        "nothing": tv_tensors.BoundingBoxes(torch.zeros(0, 4), format="XYXY", canvas_size=(H, W)),
    }
    for _ in range(20):
        result = transform(sample)
        assert isinstance(result["video"], tv_tensors.Video) and isinstance(result["parts"][0], tv_tensors.Image)
        # One draw for all of them.
        assert all(torch.equal(moved, result["parts"][0]) for moved in result["video"])
        as_tensor = torch.from_numpy(numpy.array(result["parts"][1][0])).permute(2, 0, 1)
        assert torch.equal(as_tensor, result["parts"][0])
        assert result["parts"][1][1:] == ("a label", 7) and torch.equal(result["extra"], torch.ones(5))


def test_in_both_kinds_of_compose(policy):
    transform = freeaugment.torchvision.FreeAugment(policy)
    image = pil.fromarray(picture(numpy, 50, 50))
    old = v1.Compose([v1.RandomCrop(32), transform, v1.ToTensor()])
    new = v2.Compose([v2.RandomResizedCrop(32), transform, v2.ToImage(), v2.ToDtype(torch.float32, scale=True), transform])
    assert old(image).shape == new(image).shape == (3, 32, 32)
    again = pickle.loads(pickle.dumps(new))
    torch.manual_seed(3)
    first = new(image)
    torch.manual_seed(3)
    assert torch.equal(first, again(image))
    assert repr(policy) in repr(transform)


def test_refusals(learned):
    transform = freeaugment.torchvision.FreeAugment(learned)
    image = tv_tensors.Image(painted())
    with pytest.raises(ValueError, match="Image of 60x80 and Mask of 50x80"):
        transform(image, tv_tensors.Mask(torch.zeros(1, 50, 80)))
    with pytest.raises(ValueError, match="BoundingBoxes of 80x60"):
        transform(image, tv_tensors.BoundingBoxes([[1, 2, 3, 4]], format="XYXY", canvas_size=(80, 60)))
    boxes = tv_tensors.BoundingBoxes([[1, 2, 3, 4]], format="XYXY", canvas_size=None)
    with pytest.raises(ValueError, match=r"BoundingBoxes need their canvas_size \(height, width\), but it is None"):
        transform(image, boxes)
    with pytest.raises(TypeError, match="freeaugment.Policy"):
        freeaugment.torchvision.FreeAugment("policy.json")
    with pytest.raises(TypeError, match="int64"):
        transform(tv_tensors.Image(torch.zeros(3, 4, 4, dtype=torch.int64)))
