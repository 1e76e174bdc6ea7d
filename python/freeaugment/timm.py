"""The policy in the transforms that timm makes."""

from __future__ import annotations

from typing import Any

from ._policy import Policy

# What turns images into tensors or arrays: a policy stands before it, after crop and flip, where timm puts its own.
_TO_TENSOR = ("MaybePILToTensor", "MaybeToTensor", "PILToTensor", "ToNumpy", "ToTensor")
_AUGMENTERS = ("AugMixAugment", "AutoAugment", "RandAugment", "TrivialAugmentWide")


def insert(transform: Any, policy: Policy) -> Any:
    """The transform of ``timm.data.create_transform(..., is_training=True)`` with a policy in it.

    It stands after crop and flip and before what makes a tensor of the image; the transform that was given stays as it is. Of the
    three parts that ``separate=True`` makes, the policy goes into the second.
    """
    if not isinstance(policy, Policy):
        raise TypeError(f"insert takes a freeaugment.Policy, but this is a {type(policy).__name__}")
    if isinstance(transform, tuple):
        first, second, *rest = transform
        return (first, type(second)([*_steps(second), policy]), *rest)
    steps = _steps(transform)
    names = [type(step).__name__ for step in steps]
    at = next((at for at, name in enumerate(names) if name in _TO_TENSOR), None)
    if at is None:
        raise ValueError(f"there is none of {', '.join(_TO_TENSOR)} in the transform, only {', '.join(names)}")
    return type(transform)([*steps[:at], policy, *steps[at:]])


def _steps(transform: Any) -> list[Any]:
    steps = getattr(transform, "transforms", None)
    if steps is None:
        raise TypeError(f"insert takes the Compose that timm makes, but this is a {type(transform).__name__}")
    for step in steps:
        if type(step).__name__ in _AUGMENTERS:
            raise ValueError(f"the transform has {type(step).__name__} in it already: make it with auto_augment=None")
    return list(steps)
