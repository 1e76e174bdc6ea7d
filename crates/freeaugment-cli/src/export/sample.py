import json
import math
from statistics import NormalDist

import numpy

POLICY = json.loads("""
@POLICY@
""")


def _column(key, default=0.0):
    """A number for every transformation and layer."""
    rows = [entry.get(key) or [default] * POLICY["layers"] for entry in POLICY["transformations"]]
    return numpy.array(rows, numpy.float64)


def _sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def _normalised(logs, axis):
    top = logs.max(axis, keepdims=True)
    return logs - top - numpy.log(numpy.exp(logs - top).sum(axis, keepdims=True))


def _types(gumbel):
    """Which transformation each layer has."""
    logits, temperature = _column("type_logits"), POLICY["sampling"]["evaluation_temperature"]
    count, layers = logits.shape
    types = POLICY["types"]
    if types["kind"] == "softmax":
        logs = (logits + gumbel(count, layers)) / temperature
    else:
        logs = numpy.concatenate([logits, numpy.full((count, count - layers), types["pad"])], 1)
        logs = (logs + gumbel(count, count)) / temperature
        for _ in range(types["iterations"]):
            logs = _normalised(_normalised(logs, 1), 0)
        logs = logs[:, :layers]
    if types.get("assignment") == "exact":
        from scipy.optimize import linear_sum_assignment

        return linear_sum_assignment(logs.T, maximize=True)[1]
    return logs.argmax(0)


def _magnitudes(uniform):
    """A number in [0, 1] for every transformation and layer."""
    if POLICY["magnitudes"]["kind"] == "uniform":
        lower, upper = _sigmoid(_column("lower_logits")), _sigmoid(_column("upper_logits"))
        return lower + (upper - lower) * uniform(*lower.shape)
    centre, spread = _column("centre"), _column("spread")
    normal = numpy.vectorize(NormalDist().inv_cdf)(uniform(*centre.shape).clip(1e-12, 1 - 1e-12))
    return (centre + spread * normal).clip(0, 1)


def sample(uniform):
    """What is done to one image: names and magnitudes, in order. `uniform` draws numbers in [0, 1) of a given shape."""
    gumbel = lambda *shape: -numpy.log(-numpy.log(uniform(*shape).clip(1e-300, 1 - 1e-16)))
    kind, layers = POLICY["depth"]["kind"], POLICY["layers"]
    applied = numpy.ones((len(POLICY["transformations"]), layers), bool)
    depth = layers
    if kind == "learned":
        depth = int((numpy.array(POLICY["depth"]["logits"]) + gumbel(layers + 1)).argmax())
    elif kind == "fixed":
        depth = POLICY["depth"]["depth"]
    else:
        applied = uniform(*applied.shape) < _sigmoid(_column("application_logits"))
    types, magnitudes = _types(gumbel), _magnitudes(uniform)
    steps = []
    for layer in range(depth):
        entry, u = POLICY["transformations"][types[layer]], magnitudes[types[layer], layer]
        low, high = entry.get("range", (0.0, 0.0))
        if applied[types[layer], layer]:
            steps.append((entry["name"], float(low + u * (high - low))))
    return steps
