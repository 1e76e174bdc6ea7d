"""The policy as a transform of torchvision: in ``v2.Compose``, and in the ``Compose`` of v1."""

from __future__ import annotations

from typing import Any

import torch
from torchvision import tv_tensors
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional

from ._policy import Policy, Step

# Older versions of torchvision have no key points and no turned boxes.
_KEY_POINTS = getattr(tv_tensors, "KeyPoints", ())
_is_turned = getattr(tv_tensors, "is_rotated_bounding_format", lambda _: False)


class FreeAugment(v2.Transform):
    """Augments images and videos, and moves the masks, boxes and key points that come with them.

    A sample of any nesting is drawn for once: every image in it, every frame of a video undergoes the same. Transformations that
    move pixels move masks (by the nearest pixel), boxes and key points too. A box becomes the smallest upright one around what
    is left of it in the image; nothing left is a box without area, which ``v2.SanitizeBoundingBoxes`` takes away. A turned box
    stays a turned rectangle. Boxes are measured at the edges of pixels; a key point (x, y) is the centre of that pixel.

    Labels are passed through, and so are pure tensors beside an image, as by every transform of torchvision.
    """

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        if not isinstance(policy, Policy):
            raise TypeError(f"FreeAugment takes a freeaugment.Policy, but this is a {type(policy).__name__}")
        self.policy = policy

    def make_params(self, flat_inputs: list[Any]) -> dict[str, Any]:
        size = _common_size(flat_inputs)
        steps = self.policy.sample(size=size)
        return {"steps": steps, "motion": self.policy._motion(steps, size)} if size else {"steps": steps}

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if isinstance(inpt, tv_tensors.BoundingBoxes):
            return _boxes(inpt, params["motion"])
        if _KEY_POINTS and isinstance(inpt, _KEY_POINTS):
            return _points(inpt, params["motion"])
        if isinstance(inpt, tv_tensors.Mask):
            return _mask(inpt, params["motion"])
        return _image(inpt, self.policy, params["steps"])

    def extra_repr(self) -> str:
        return repr(self.policy)


def _common_size(inputs: list[Any]) -> tuple[int, int] | None:
    """Height and width of everything that belongs together."""
    sizes = {}
    for inpt in inputs:
        kind = type(inpt).__name__
        if hasattr(inpt, "canvas_size"):
            if inpt.canvas_size is None:
                raise ValueError(f"{kind} need their canvas_size (height, width), but it is None")
            sizes.setdefault(tuple(inpt.canvas_size), kind)
        elif isinstance(inpt, torch.Tensor):
            if inpt.ndim < 2:
                raise ValueError(f"a {kind} of shape {tuple(inpt.shape)} is no image")
            sizes.setdefault(tuple(inpt.shape[-2:]), kind)
        else:
            sizes.setdefault((inpt.height, inpt.width), kind)
    if len(sizes) > 1:
        found = " and ".join(f"{kind} of {height}x{width}" for (height, width), kind in sizes.items())
        raise ValueError(f"what belongs to one image must have its height and width, but there are {found}")
    return next(iter(sizes), None)


def _image(image: Any, policy: Policy, steps: list[Step]) -> Any:
    if not isinstance(image, torch.Tensor) or image.ndim <= 3:
        return policy.replay(steps, image)
    # Videos, and batches that share a draw.
    frames = image.as_subclass(torch.Tensor).reshape(-1, *image.shape[-3:])
    result = policy.replay(steps, frames).reshape(image.shape)
    return tv_tensors.wrap(result, like=image) if isinstance(image, tv_tensors.TVTensor) else result


def _mask(mask: Any, motion: Any) -> Any:
    if motion.is_still or mask.numel() == 0:
        return mask
    pixels = torch.frombuffer(motion.pixels(), dtype=torch.int64).to(mask.device)
    flat = mask.as_subclass(torch.Tensor).flatten(-2)
    moved = flat[..., pixels.clamp(min=0)]
    moved[..., pixels < 0] = 0
    return tv_tensors.wrap(moved.reshape(mask.shape), like=mask)


def _boxes(boxes: Any, motion: Any) -> Any:
    if motion.is_still or boxes.numel() == 0:
        return boxes
    formats = tv_tensors.BoundingBoxFormat
    turned = _is_turned(boxes.format)
    between = formats.XYXYXYXY if turned else formats.XYXY
    plain = boxes.as_subclass(torch.Tensor).to("cpu", torch.float64)
    corners = functional.convert_bounding_box_format(plain, old_format=boxes.format, new_format=between)
    rows = corners.reshape(-1, corners.shape[-1]).tolist()
    rows = motion.turned_boxes(rows) if turned else motion.boxes(rows)
    moved = torch.tensor(rows, dtype=torch.float64).reshape(corners.shape)
    moved = functional.convert_bounding_box_format(moved, old_format=between, new_format=boxes.format)
    return tv_tensors.wrap(_like(moved, boxes), like=boxes)


def _points(points: Any, motion: Any) -> Any:
    if motion.is_still or points.numel() == 0:
        return points
    plain = points.as_subclass(torch.Tensor).to("cpu", torch.float64)
    moved = torch.tensor(motion.points(plain.reshape(-1, 2).tolist()), dtype=torch.float64).reshape(plain.shape)
    return tv_tensors.wrap(_like(moved, points), like=points)


def _like(values: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """In the type and place of another tensor; whole numbers are rounded."""
    values = values if other.is_floating_point() else values.round()
    return values.to(other.device, other.dtype)
