"""What the tests share: policies, images of every kind, and a way to skip what a machine lacks by name."""

import importlib

import pytest

import freeaugment

GEOMETRIC = {
    "ShearX": (-0.6, 0.45),
    "ShearY": (-0.3, 0.6),
    "TranslateX": (-0.21, 0.4),
    "TranslateY": (-0.4, 0.13),
    "Rotate": (-30.0, 17.0),
}
# The same of a baseline, whose operations are PIL's.
OPERATIONS = {
    "ShearX": (-0.6, 0.3),
    "ShearY": (-0.3, 0.6),
    "TranslateX": (-9.0, 14.0),
    "TranslateY": (-14.0, 5.0),
    "Rotate": (-30.0, 75.0),
    "Flip": (None,),
}


def need(name):
    """A module, or the test is skipped by its name."""
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is not installed", allow_module_level=True)


@pytest.fixture(params=["uniform-free:2", "uniform-free:7", "trivial-wide", "rand:2:9", "none"])
def policy(request):
    return freeaugment.Policy.baseline(request.param)


@pytest.fixture
def learned():
    return freeaugment.Policy.baseline("uniform-free:3")


def picture(numpy, height=21, width=34, channels=3, seed=0):
    """Something between noise and a gradient, height, width, channel."""
    generator = numpy.random.default_rng(seed)
    noise = generator.integers(0, 100, (height, width, channels))
    slope = numpy.arange(width)[None, :, None] * 150 // max(width, 1)
    return (noise + slope).astype(numpy.uint8)
