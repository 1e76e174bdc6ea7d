"""Learned image-augmentation policies as fast transforms, and the program that learns them.

>>> import freeaugment
>>> policy = freeaugment.Policy.baseline("trivial-wide")    # or Policy.load("runs/search-1/policy.json")
>>> policy
<freeaugment.Policy trivial-wide>

A policy is called with an image and returns one of the same kind: a numpy array, a PIL image or a torch tensor.
Adapters to frameworks are modules of their own, which import the framework when they are used: ``freeaugment.torchvision``,
``freeaugment.albumentations``, ``freeaugment.timm``, ``freeaugment.kornia``, ``freeaugment.keras``; ``freeaugment.torch`` is the search
around your own model.
"""

import importlib as _importlib

from ._native import PolicyError, __version__
from ._policy import Policy, Step
from ._run import ProgramError, Run, compare, find, search

__all__ = [
    "Policy",
    "PolicyError",
    "ProgramError",
    "Run",
    "Step",
    "__version__",
    "albumentations",
    "compare",
    "find",
    "keras",
    "kornia",
    "search",
    "timm",
    "torch",
    "torchvision",
]

_ADAPTERS = ("albumentations", "keras", "kornia", "timm", "torch", "torchvision")


def __getattr__(name: str):
    if name in _ADAPTERS:
        return _importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
