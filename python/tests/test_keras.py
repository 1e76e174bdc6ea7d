"""Keras, with whatever backend there is; and what TensorFlow calls from its graphs."""

import importlib.util
import os
import subprocess
import sys

import pytest
from conftest import need, picture

import freeaugment

numpy = need("numpy")


def test_arrays_of_pipelines(learned):
    image = picture(numpy, 20, 24)
    assert freeaugment.keras.augment(learned, image).shape == (20, 24, 3)
    batch = freeaugment.keras.augment(learned, numpy.stack([image] * 6))
    assert batch.shape == (6, 20, 24, 3) and batch.dtype == numpy.uint8
    assert len({one.tobytes() for one in batch}) > 1
    with pytest.raises(ValueError, match=r"have the shape \(20, 24\)"):
        freeaugment.keras.augment(learned, image[..., 0])
    with pytest.raises(TypeError, match="this is a str"):
        freeaugment.keras.augment("policy", image)


def test_a_model_of_keras_is_fitted(learned, tmp_path):
    backend = next((name for name in ("torch", "tensorflow") if importlib.util.find_spec(name)), None)
    if importlib.util.find_spec("keras") is None or backend is None:
        pytest.skip("keras with a backend is not installed")
    learned.save(tmp_path / "policy.json")
    # In a process of its own: the backend is chosen once.
    program = f"""
import keras, numpy, freeaugment
policy = freeaugment.Policy.load({str(tmp_path / "policy.json")!r})
images, labels = numpy.random.rand(32, 16, 16, 3).astype("float32"), numpy.arange(32) % 2
data = [(images[at : at + 8], labels[at : at + 8]) for at in range(0, 32, 8)]
model = keras.Sequential([keras.layers.Conv2D(4, 3), keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(2)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
batches = freeaugment.keras.batches(data, policy)
assert len(batches) == 4 and (batches[0][0] != images[:8]).any() and (batches[0][1] == labels[:8]).all()
model.fit(batches, epochs=2, verbose=0)
print("fitted")
"""
    environment = {**os.environ, "KERAS_BACKEND": backend}
    said = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert said.stdout.strip() == "fitted", said.stderr


def test_a_dataset_of_tensorflow(learned):
    tensorflow = need("tensorflow")
    images = numpy.stack([picture(numpy, 16, 16, seed=seed) for seed in range(8)])
    data = tensorflow.data.Dataset.from_tensor_slices((images, numpy.arange(8))).batch(4)
    data = data.map(freeaugment.keras.mapper(learned), num_parallel_calls=2)
    shape = data.element_spec[0].shape
    assert shape[1:] == (16, 16, 3)
    seen = numpy.concatenate([batch.numpy() for batch, _ in data])
    assert seen.shape == images.shape and (seen != images).any()
