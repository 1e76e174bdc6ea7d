"""What images are made of in Python: arrays of numpy, images of PIL, tensors of torch.

Each kind is opened into the same five things: an array to read, an array to write, the names of their axes (``n`` image,
``c`` channel, ``h`` row, ``w`` column), whether values are floats, and a function that makes the result. None of the three
libraries is imported here: an image of a library that is not there cannot have been given.
"""

from __future__ import annotations

import sys
from typing import Any, Callable, NamedTuple

ALLOWED = (
    "a numpy array (uint8 or float32; height, width, channel), a PIL image (L, RGB, RGBA) "
    "or a torch tensor (uint8, or floats in [0, 1]; channel, height, width)"
)
CHANNELS = {"L": 0, "RGB": 3, "RGBA": 4}


class Opened(NamedTuple):
    source: Any
    target: Any
    axes: str
    floats: bool
    finish: Callable[[], Any]


def open_image(image: Any, batch: bool = False) -> Opened:
    """Opens an image, or a batch of them in one array."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(image, torch.Tensor):
        return _tensor(torch, image, batch)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(image, numpy.ndarray):
        return _array(numpy, image, batch)
    pil = sys.modules.get("PIL.Image")
    if pil is not None and isinstance(image, pil.Image):
        if batch:
            raise TypeError("a batch of PIL images is a list of them")
        return _pil(pil, image)
    if isinstance(image, memoryview):
        return _memory(image, batch)
    raise TypeError(f"an image is {ALLOWED}, but this is {_kind(image)}")


def _kind(image: Any) -> str:
    kind = type(image)
    return f"a {kind.__module__}.{kind.__qualname__}"


def _axes(shape: tuple[int, ...], batch: bool, single: dict[int, str], what: str) -> str:
    axes = single.get(len(shape) - batch)
    if axes is not None:
        return "n" + axes if batch else axes
    if not batch and len(shape) == 4:
        raise ValueError(f"{what} of shape {tuple(shape)} is a batch of images: use apply_batch")
    allowed = " or ".join(f"[{', '.join('n' + axes if batch else axes)}]" for axes in single.values())
    raise ValueError(f"{what} has the shape {tuple(shape)}, but {'a batch' if batch else 'an image'} is {allowed}")


def _array(numpy: Any, array: Any, batch: bool) -> Opened:
    if array.dtype != numpy.uint8 and array.dtype != numpy.float32:
        raise TypeError(f"a numpy array must be uint8, or float32 in [0, 1], but this is {array.dtype}")
    axes = _axes(array.shape, batch, {2: "hw", 3: "hwc"}, "a numpy array")
    target = numpy.empty(array.shape, array.dtype)
    return Opened(array, target, axes, array.dtype != numpy.uint8, lambda: target)


def _tensor(torch: Any, tensor: Any, batch: bool) -> Opened:
    dtype, kind = tensor.dtype, type(tensor)
    floats = dtype is not torch.uint8
    if floats and not dtype.is_floating_point or tensor.layout is not torch.strided:
        raise TypeError(f"a tensor must be uint8, or floats in [0, 1], but this is {dtype} ({tensor.layout})")
    if not tensor.is_cpu:
        raise ValueError(f"a tensor must be on the CPU, but this is on {tensor.device}")
    plain = tensor if kind is torch.Tensor else tensor.as_subclass(torch.Tensor)
    plain = plain.detach() if plain.requires_grad else plain
    source = (plain.to(torch.float32) if floats else plain).numpy()
    axes = _axes(source.shape, batch, {2: "hw", 3: "chw"}, "a tensor")
    target = sys.modules["numpy"].empty(source.shape, source.dtype)

    def finish() -> Any:
        result = torch.from_numpy(target)
        result = result.to(dtype) if floats else result
        return result if kind is torch.Tensor else result.as_subclass(kind)

    return Opened(source, target, axes, floats, finish)


def _pil(pil: Any, image: Any) -> Opened:
    channels = CHANNELS.get(image.mode)
    if channels is None:
        raise ValueError(f"a PIL image must have the mode L, RGB or RGBA, but this has {image.mode}: convert it first")
    width, height = image.size
    if width == 0 or height == 0:
        raise ValueError(f"an image has at least one pixel, but this PIL image is {width}x{height}")
    pixels = image.tobytes()
    target = bytearray(len(pixels))
    shape = (height, width, channels) if channels else (height, width)
    axes = "hwc" if channels else "hw"
    return Opened(
        memoryview(pixels).cast("B", shape),
        memoryview(target).cast("B", shape),
        axes,
        False,
        lambda: pil.frombytes(image.mode, image.size, target),
    )


def _memory(view: memoryview, batch: bool) -> Opened:
    if view.format != "B":
        raise TypeError(f"a memoryview must hold bytes (format B), but this has the format {view.format}")
    axes = _axes(view.shape or (), batch, {2: "hw", 3: "hwc"}, "a memoryview")
    if view.nbytes == 0:
        raise ValueError(f"an image has at least one pixel, but this memoryview has the shape {view.shape}")
    target = memoryview(bytearray(view.nbytes)).cast("B", view.shape)
    return Opened(view, target, axes, False, lambda: target)
