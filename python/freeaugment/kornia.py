"""The policy for batches of tensors on any device: drawn here, applied by Kornia where the batch is."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch

from . import _native, _random
from ._policy import Policy

# The same text that `freeaugment export --to kornia` writes.
_operations: Any = ModuleType("freeaugment._kornia_operations")
exec(compile(_native.KORNIA_OPERATIONS, "<freeaugment export --to kornia>", "exec"), _operations.__dict__)


class FreeAugment(torch.nn.Module):
    """Augments a batch ``[n, channel, height, width]`` of floats in [0, 1] in training, and leaves it alone in evaluation.

    With ``seed``, ``epoch`` and ``indices`` draws depend on them alone; without, they come from torch's generator. Learned policies only:
    the operations of baselines are PIL's.
    """

    def __init__(self, policy: Policy) -> None:
        super().__init__()
        if not isinstance(policy, Policy):
            raise TypeError(f"FreeAugment takes a freeaugment.Policy, but this is a {type(policy).__name__}")
        if policy._native.kind != "learned":
            raise ValueError(f"{policy.name} is a baseline, whose operations are PIL's: Kornia takes learned policies")
        self.policy = policy

    def forward(self, images: torch.Tensor, *, seed: int | None = None, epoch: int = 0, indices: Any = None) -> torch.Tensor:
        if not self.training:
            return images
        if images.dim() != 4 or images.shape[1] not in (1, 3) or not images.is_floating_point():
            raise ValueError(
                f"images must be floats [n, channel, height, width] with 1 or 3 channels, but are {images.dtype} {tuple(images.shape)}"
            )
        seed = _random.bits() if seed is None else seed
        indices = range(len(images)) if indices is None else indices
        if len(indices) != len(images):
            raise ValueError(f"there are {len(indices)} indices for {len(images)} images")
        draws = [self.policy.sample(seed=seed, epoch=epoch, index=int(index)) for index in indices]
        return _operations.apply(images, [[(step.name, step.magnitude) for step in steps] for steps in draws])

    def extra_repr(self) -> str:
        return repr(self.policy)
