"""The policy as a transform."""

from __future__ import annotations

import operator
import os
import sys
from typing import Any, Iterable, NamedTuple, Sequence, TypeVar

from . import _native, _random
from ._image import open_image

Image = TypeVar("Image")


class Step(NamedTuple):
    """One transformation that was drawn.

    >>> Step("Rotate", 12.5, "degrees").name
    'Rotate'
    """

    name: str
    #: In the unit beside it; None where the transformation takes none.
    magnitude: float | None = None
    unit: str | None = None
    #: Row and column as shares of the image, for what has a place (Cutout of the baselines).
    centre: tuple[float, float] | None = None


class Policy:
    """A distribution over augmentations: learned, a baseline by name, or published by another search.

    It is called with an image and returns an augmented one of the same kind, shape and type:

    >>> policy = Policy.baseline("uniform-free:2")
    >>> image = memoryview(bytes(range(192))).cast("B", (8, 8, 3))    # as numpy has it: height, width, channel
    >>> augmented = policy(image, seed=7, epoch=0, index=42)
    >>> augmented.shape
    (8, 8, 3)

    Policies never change; they can be shared between threads, copied, pickled and compared.
    """

    __slots__ = ("_native",)

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError("a policy is made by Policy.load, Policy.from_json or Policy.baseline")

    @classmethod
    def _of(cls, native: _native.Policy) -> Policy:
        policy = object.__new__(cls)
        policy._native = native
        return policy

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Reads a policy file, the file of a baseline or of an imported policy, or the folder of a run that holds one."""
        return cls._of(_native.Policy.load(os.fspath(path)))

    @classmethod
    def from_json(cls, text: str) -> Policy:
        """Reads the text of a policy file.

        >>> policy = Policy.baseline("rand:2:9")
        >>> Policy.from_json(policy.to_json()) == policy
        True
        """
        return cls._of(_native.Policy.from_json(text))

    @classmethod
    def baseline(cls, name: str) -> Policy:
        """A baseline by name, as the program knows it: ``trivial-wide``, ``rand:2:9``, ``torchvision-trivial-wide``,
        ``auto-imagenet``, ``uniform-free:2`` (the initial policy of a search)…

        >>> Policy.baseline("trivial-wild")
        Traceback (most recent call last):
        ...
        freeaugment.PolicyError: trivial-wild: there is no such policy (did you mean `trivial-wide`?); there are none, standard, trivial, trivial-wide, rand, uniform, auto-cifar10, auto-svhn, auto-imagenet, domainbed, torchvision-trivial-wide, torchvision-rand, torchvision-auto-cifar10, torchvision-auto-svhn, torchvision-auto-imagenet, uniform-free, and files
        """
        return cls._of(_native.Policy.baseline(name))

    def to_json(self) -> str:
        """The text of the policy file."""
        return self._native.to_json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_json())

    @property
    def name(self) -> str:
        """What it is called: the name of a baseline, or how large a learned policy is."""
        return self._native.title

    def describe(self) -> str:
        """What it does, as tables for people.

        >>> print(Policy.baseline("rand:1:14").describe().splitlines()[0])
        RandAugment: 1 operation at level 14 of 30
        """
        return self._native.describe()

    def __call__(
        self,
        image: Image,
        *,
        seed: int | None = None,
        epoch: int | None = None,
        index: int | None = None,
        progress: float = 0.0,
    ) -> Image:
        """Augments one image.

        With a key, what is drawn depends on it alone: ``seed``, ``epoch`` and ``index`` (the number of the image). Without one,
        64 bits are drawn from torch's default generator if torch is loaded, else from numpy's, else from ``random``.
        ``progress`` is the share of the training that is over, for policies that change with it (PBA).
        """
        seed, epoch, index = _key(seed, epoch, index)
        opened = open_image(image)
        self._native.augment(
            opened.source, opened.target, opened.axes, opened.floats, seed, epoch, [index], 1, progress
        )
        return opened.finish()

    def apply_batch(
        self,
        images: Image,
        *,
        seed: int | None = None,
        epoch: int | None = None,
        indices: Sequence[int] | None = None,
        threads: int | None = None,
        progress: float = 0.0,
    ) -> Image:
        """Augments a batch, each image on its own: an array ``[n, h, w, c]``, a tensor ``[n, c, h, w]``, or a list of images.

        ``indices`` are the numbers of the images, 0, 1, 2… if none are given. Without ``threads``, arrays use as many threads as
        torch would (one in the worker of a DataLoader) or, where torch is not loaded, as there are processors.
        """
        if isinstance(images, (list, tuple)):
            indices = range(len(images)) if indices is None else indices
            if len(indices) != len(images):
                raise ValueError(f"there are {len(indices)} indices for {len(images)} images")
            seed, epoch, _ = _key(seed, epoch, None)
            kinds = zip(images, indices)
            return [self(image, seed=seed, epoch=epoch, index=index, progress=progress) for image, index in kinds]
        opened = open_image(images, batch=True)
        if indices is None:
            indices = range(len(opened.source))
        elif seed is None:
            raise ValueError("epoch and indices need a seed")
        seed, epoch, _ = _key(seed, epoch, None)
        numbers = [_whole("an index", index, 32) for index in indices]
        self._native.augment(
            opened.source,
            opened.target,
            opened.axes,
            opened.floats,
            seed,
            epoch,
            numbers,
            _threads(threads),
            progress,
        )
        return opened.finish()

    def sample(
        self,
        *,
        seed: int | None = None,
        epoch: int | None = None,
        index: int | None = None,
        size: tuple[int, int] | None = None,
        progress: float = 0.0,
    ) -> list[Step]:
        """Draws what a call with the same key does to an image, as data: a list of steps in their order.

        ``size`` is the height and width of the image, which some baselines need to know.

        >>> for step in Policy.baseline("uniform-free:3").sample(seed=3):
        ...     print(step.name, step.magnitude is None or round(step.magnitude, 2), step.unit)
        TranslateY 0.06 of the height
        ShearX -0.41 slope
        """
        seed, epoch, index = _key(seed, epoch, index)
        return [Step(*row) for row in self._native.draw(seed, epoch, index, size, progress)]

    def replay(self, sample: Iterable[Step], image: Image, *, threads: int = 1) -> Image:
        """Does what was drawn to an image, or to every image of a batch in one array.

        >>> policy = Policy.baseline("uniform-free:2")
        >>> image = memoryview(bytes(range(192))).cast("B", (8, 8, 3))
        >>> policy.replay(policy.sample(seed=5), image) == policy(image, seed=5)
        True
        """
        opened = open_image(image, batch=len(getattr(image, "shape", ())) == 4)
        self._native.replay(
            _rows(sample), opened.source, opened.target, opened.axes, opened.floats, _threads(threads)
        )
        return opened.finish()

    def _motion(self, sample: Iterable[Step], size: tuple[int, int]) -> _native.Motion:
        """Where what was drawn moves things in an image of this height and width."""
        return self._native.motion(_rows(sample), *size)

    def __repr__(self) -> str:
        return f"<freeaugment.Policy {self.name}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Policy):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_json, (self.to_json(),)


def _key(seed: int | None, epoch: int | None, index: int | None) -> tuple[int, int, int]:
    if seed is None:
        if epoch is not None or index is not None:
            raise ValueError("epoch and index need a seed")
        return _random.bits(), 0, 0
    epoch = 0 if epoch is None else _whole("the epoch", epoch, 32)
    index = 0 if index is None else _whole("the index", index, 32)
    return _whole("the seed", seed, 64), epoch, index


def _whole(what: str, number: Any, bits: int) -> int:
    try:
        whole = operator.index(number)
    except TypeError:
        raise TypeError(f"{what} must be a whole number, but this is {number!r}") from None
    if not 0 <= whole < 1 << bits:
        raise ValueError(f"{what} must lie in 0..{(1 << bits) - 1}, but this is {whole}")
    return whole


def _threads(threads: int | None) -> int:
    if threads is not None:
        if threads < 1:
            raise ValueError(f"threads must be at least 1, but this is {threads}")
        return threads
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_num_threads"):
        return torch.get_num_threads()
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _rows(sample: Iterable[Any]) -> list[tuple[Any, ...]]:
    rows = []
    for step in sample:
        if isinstance(step, str) or not isinstance(step, (tuple, list)) or not 1 <= len(step) <= 4:
            raise TypeError(f"a sample is a list of steps (name, magnitude, unit, centre), but this is one of {step!r}")
        rows.append(tuple(Step(*step)))
    return rows
