"""The policy as a transform of Albumentations (2.0.8, the last one under the MIT licence)."""

from __future__ import annotations

from typing import Any

import numpy as np
from albumentations import DualTransform
from albumentations.core.type_definitions import Targets

from . import _random
from ._policy import Policy


class FreeAugment(DualTransform):
    """Augments images, and moves masks, boxes and key points with them.

    ``policy`` is a policy or the text of its file; ``A.to_dict`` writes the text, ``A.from_dict`` reads it. Angles and scales of key
    points stay as they are. With ``Compose(seed=…)``, what is drawn follows that seed; without one, it comes from torch's
    generator if torch is loaded, else from numpy's, so that workers of a DataLoader differ.
    """

    _targets = (Targets.IMAGE, Targets.MASK, Targets.BBOXES, Targets.KEYPOINTS)

    class InitSchema(DualTransform.InitSchema):
        policy: Any

    def __init__(self, policy: Policy | str, p: float = 1.0) -> None:
        super().__init__(p=p)
        if not isinstance(policy, (Policy, str)):
            raise TypeError(f"FreeAugment takes a freeaugment.Policy, but this is a {type(policy).__name__}")
        self.policy = Policy.from_json(policy) if isinstance(policy, str) else policy

    def get_transform_init_args(self) -> dict[str, Any]:
        return {"policy": self.policy.to_json()}

    def get_params_dependent_on_data(self, params: dict[str, Any], data: dict[str, Any]) -> dict[str, Any]:
        size = tuple(params["shape"][:2])
        seed = _random.bits() if self.seed is None else self.py_random.getrandbits(64)
        steps = self.policy.sample(seed=seed, size=size)
        return {"steps": steps, "motion": self.policy._motion(steps, size)}

    def apply(self, img: np.ndarray, *args: Any, steps: Any = (), **params: Any) -> np.ndarray:
        return self.policy.replay(steps, img)

    def apply_to_mask(self, mask: np.ndarray, *args: Any, motion: Any = None, **params: Any) -> np.ndarray:
        if motion.is_still:
            return mask
        pixels = np.frombuffer(motion.pixels(), np.int64)
        if mask.shape[0] * mask.shape[1] != len(pixels):
            raise ValueError(f"a mask must have the height and width of its image, but its shape is {mask.shape}")
        moved = mask.reshape(len(pixels), -1)[np.maximum(pixels, 0)]
        moved[pixels < 0] = 0
        return moved.reshape(mask.shape)

    def apply_to_bboxes(self, bboxes: np.ndarray, *args: Any, motion: Any = None, **params: Any) -> np.ndarray:
        if motion.is_still or len(bboxes) == 0:
            return bboxes
        height, width = params["shape"][:2]
        scale = np.array([width, height, width, height], np.float64)
        moved = np.array(bboxes)
        moved[:, :4] = np.array(motion.boxes((bboxes[:, :4] * scale).tolist())) / scale
        return moved

    def apply_to_keypoints(self, keypoints: np.ndarray, *args: Any, motion: Any = None, **params: Any) -> np.ndarray:
        if motion.is_still or len(keypoints) == 0:
            return keypoints
        moved = np.array(keypoints)
        moved[:, :2] = motion.points(keypoints[:, :2].astype(np.float64).tolist())
        return moved
