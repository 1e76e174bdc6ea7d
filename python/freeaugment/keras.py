"""The policy in pipelines of tf.data and of Keras: a function of numpy arrays, wrapped where TensorFlow builds graphs."""

from __future__ import annotations

from typing import Any

import numpy

from ._policy import Policy


def augment(policy: Policy, images: Any) -> numpy.ndarray:
    """One image ``[height, width, channel]`` or a batch of them, uint8, or floats in [0, 1], as anything that numpy can read."""
    if not isinstance(policy, Policy):
        raise TypeError(f"augment takes a freeaugment.Policy, but this is a {type(policy).__name__}")
    array = numpy.asarray(images)
    if array.ndim not in (3, 4):
        raise ValueError(f"images are [height, width, channel] or a batch of such, but these have the shape {array.shape}")
    # Threads belong to the pipeline that calls.
    return policy.apply_batch(array, threads=1) if array.ndim == 4 else policy(array)


def mapper(policy: Policy) -> Any:
    """For ``dataset.map``: a function of images and whatever comes with them, which stays as it is. Needs TensorFlow."""
    import tensorflow

    def transform(images: Any, *others: Any) -> Any:
        result = tensorflow.numpy_function(lambda array: augment(policy, array), [images], images.dtype, stateful=True)
        result.set_shape(images.shape)
        return (result, *others) if others else result

    return transform


def batches(data: Any, policy: Policy) -> Any:
    """A ``keras.utils.PyDataset``, or any sequence of (images, …), with its images augmented; for ``model.fit`` on any backend."""
    import keras

    class Augmented(keras.utils.PyDataset):
        def __len__(self) -> int:
            return len(data)

        def __getitem__(self, at: int) -> Any:
            images, *others = data[at]
            return (augment(policy, images), *others)

        def on_epoch_end(self) -> None:
            getattr(data, "on_epoch_end", lambda: None)()

    return Augmented()
