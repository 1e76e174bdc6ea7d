#!/usr/bin/env python3
"""Makes the golden files beside this one, with Pillow and torchvision: python make.py

pictures.bin   the pictures, then the results of the kept cases for the small ones
cases.json     pictures (made by a formula where they are not stored);
               kept: cases whose results are in pictures.bin, with hashes for the other pictures;
               large: cases on one picture, with the hash of the result;
               sweeps: by operation, values and the hash of the results for the first pictures;
               torchvision: the same as torchvision's own code has it, for the first picture only
spaces.json    torchvision's spaces and sub-policies, and the spaces as they were published
"""

import json
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageEnhance, ImageOps
from torchvision.transforms import InterpolationMode, autoaugment
from torchvision.transforms import functional as F

HERE = Path(__file__).parent
AFFINE = Image.Transform.AFFINE


def formula(height, width, channels):
    """A picture that the tests can make themselves: the high bytes of the index times a constant."""
    index = np.arange(height * width * channels, dtype=np.uint64)
    values = ((index * 2654435761) & 0xFFFFFFFF) >> 24
    return shaped(values.astype(np.uint8), height, width, channels)


def shaped(values, height, width, channels):
    return values.reshape((height, width, channels) if channels == 3 else (height, width))


def photo(height, width, channels, seed):
    """Smooth shapes with an edge and a little noise."""
    random = np.random.default_rng(seed)
    y, x = np.mgrid[0:height, 0:width]
    planes = []
    for channel in range(channels):
        a, b, c = random.uniform(0.5, 3.0, 3)
        plane = 110 + 50 * np.sin(a * x / width * 4) + 40 * np.cos(b * y / height * 5 + channel)
        plane += 45 * ((x - width / 2) ** 2 + (y - height / c) ** 2 < (min(height, width) / 3) ** 2)
        planes.append(plane + random.normal(0, 6, plane.shape))
    values = np.clip(np.stack(planes, -1), 3, 247).astype(np.uint8)
    return values if channels == 3 else values[:, :, 0]


def extreme(height, width):
    return (np.random.default_rng(5).random((height, width, 3)) < 0.5).astype(np.uint8) * 255


# The first ones see every case, the small ones those whose results are kept.
EVERY = {
    "photo": photo(32, 32, 3, 1),
    "landscape": photo(37, 60, 3, 2),
    # Few enough values above the first that equalize leaves [0, 255] before it is cut off.
    "steps": np.minimum(np.arange(20 * 20) % 23, 19).astype(np.uint8).reshape(20, 20),
}
KEPT = {
    "odd": photo(11, 14, 3, 3),
    "grey": photo(13, 16, 1, 4),
    "constant": np.full((4, 5, 3), (7, 120, 250), np.uint8),
    "extreme": extreme(8, 8),
    "one": np.array([[[200, 30, 90]]], np.uint8),
    "two": photo(2, 2, 3, 6),
    "three": photo(3, 3, 3, 7),
    "row": photo(1, 9, 3, 8),
    "column": photo(9, 1, 1, 9),
}
HASHED = {"colours": (256, 256, 3), "long": (3, 33000, 1), "large": (3000, 4000, 1)}


def fnv(values):
    """FNV-1a over 64-bit words, little-endian, the last filled with zeros, then the length."""
    data = values.tobytes()
    words = np.frombuffer(data + bytes(-len(data) % 8), "<u8").tolist() + [len(data)]
    result = 0xCBF29CE484222325
    for word in words:
        result = ((result ^ word) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{result:016x}"


def cutout(image, side, centre):
    width, height = image.size
    if side <= 0:
        return image
    x0 = int(max(0, centre[1] * width - side / 2.0))
    y0 = int(max(0, centre[0] * height - side / 2.0))
    box = (x0, y0, min(width, x0 + side), min(height, y0 + side))
    image = image.copy()
    ImageDraw.Draw(image).rectangle(box, (125, 123, 114) if image.mode == "RGB" else 123)
    return image


def solarize_add(image, addition):
    values = np.array(image).astype(int)
    added = np.clip(values + int(addition), 0, 255)
    return Image.fromarray(np.where(values < 128, added, values).astype(np.uint8))


def grayscale(image):
    return F.to_grayscale(image, 3 if image.mode == "RGB" else 1)


OPERATIONS = {
    "Identity": lambda image, v, c: image,
    "ShearX": lambda image, v, c: image.transform(image.size, AFFINE, (1, v, 0, 0, 1, 0)),
    "ShearY": lambda image, v, c: image.transform(image.size, AFFINE, (1, 0, 0, v, 1, 0)),
    "TranslateX": lambda image, v, c: image.transform(image.size, AFFINE, (1, 0, v, 0, 1, 0)),
    "TranslateY": lambda image, v, c: image.transform(image.size, AFFINE, (1, 0, 0, 0, 1, v)),
    "Rotate": lambda image, v, c: image.rotate(v),
    "Brightness": lambda image, v, c: ImageEnhance.Brightness(image).enhance(v),
    "Color": lambda image, v, c: ImageEnhance.Color(image).enhance(v),
    "Contrast": lambda image, v, c: ImageEnhance.Contrast(image).enhance(v),
    "Sharpness": lambda image, v, c: ImageEnhance.Sharpness(image).enhance(v),
    "Posterize": lambda image, v, c: ImageOps.posterize(image, int(v)),
    "Solarize": lambda image, v, c: ImageOps.solarize(image, v),
    "SolarizeAdd": lambda image, v, c: solarize_add(image, v),
    "AutoContrast": lambda image, v, c: ImageOps.autocontrast(image),
    "Equalize": lambda image, v, c: ImageOps.equalize(image),
    "Invert": lambda image, v, c: ImageOps.invert(image),
    "Cutout": cutout,
    "Hue": lambda image, v, c: F.adjust_hue(image, v),
    "Grayscale": lambda image, v, c: grayscale(image),
    "Flip": lambda image, v, c: ImageOps.mirror(image),
}
LEVELS = range(31)
ENHANCERS = ("Brightness", "Color", "Contrast", "Sharpness")


def both(values):
    return [sign * value for value in values for sign in (1, -1)]


def kept_values():
    """Values whose results are kept, for each operation."""
    yield from ((name, both([0.0, 0.137, 0.3, 0.99])) for name in ("ShearX", "ShearY"))
    yield from (
        (name, both([0.0, 0.49999999999999994, 0.5, 1.0, 3.7, 10.0, 14.4, 32.0]))
        for name in ("TranslateX", "TranslateY")
    )
    yield "Rotate", both([0.0, 4.0, 17.3, 30.0, 90.0, 135.0, 180.0]) + [360.0, 1e-14]
    yield from ((name, [0.0, 0.01, 0.1, 0.5, 1.0, 1.37, 1.9, 2.0]) for name in ENHANCERS)
    yield "Posterize", [1.0, 2.0, 3.0, 4.0, 4.7, 5.0, 6.0, 7.0, 8.0]
    yield "Solarize", [0.0, 1.0, 83.3, 128.0, 255.0, 256.0]
    yield "SolarizeAdd", [0.0, 37.0, 110.0, -20.0]
    yield from ((name, [0.0]) for name in ("Identity", "AutoContrast", "Equalize", "Invert", "Grayscale", "Flip"))
    yield "Hue", both([0.0, 0.05, 0.1, 0.3, 0.5])


def hashed_values():
    """Every value of every space, and more."""
    for name in ("ShearX", "ShearY"):
        yield name, both([level * top / 30 for level in LEVELS for top in (0.3, 0.99)])
        yield name, both([level * 0.3 / 9 for level in range(10)])
    for name, size in (("TranslateX", 60), ("TranslateY", 37)):
        yield name, both([float(pixels) for pixels in range(33)])
        yield name, both([level * top / 30 for level in LEVELS for top in (14.4, 0.45 * size)])
        yield name, both([level * 150 / 331 * size / 9 for level in range(10)])
    yield "Rotate", both([float(degrees) for degrees in range(136)] + [level * 30 / 9 for level in range(10)])
    for name in ENHANCERS:
        yield name, [0.1 + level * (1.9 - 0.1) / 30 for level in LEVELS]
        yield name, [0.01 + level * (2.0 - 0.01) / 30 for level in LEVELS]
        yield name, [0.1 + level * (1.9 - 0.1) / 9 for level in range(10)]
        yield name, [0.7 + level * 0.6 / 30 for level in LEVELS]
    yield "Solarize", [float(threshold) for threshold in range(257)]
    yield "Hue", [-0.5 + level / 60 for level in range(61)]


def kept_cases():
    random = np.random.default_rng(11)
    for name, values in kept_values():
        for value in values:
            yield name, value, [0.5, 0.5]
    for side in (0.0, 0.5, 1.0, 2.9, 4.0, 6.4, 20.0):
        for centre in ([0.5, 0.5], [0.0, 0.0], [0.999, 0.999], random.random(2).tolist()):
            yield "Cutout", side, centre


def big_cases(name):
    if name == "long":
        shears = [("ShearX", 0.3), ("ShearY", 0.001), ("ShearY", -0.99)]
        return shears + [("Rotate", degrees) for degrees in (0.002, 30.0, 90.0, 180.0, 270.0)]
    return [
        ("ShearX", -0.99), ("ShearY", 0.99), ("TranslateX", 150 / 331 * 4000), ("Rotate", -135.0), ("Equalize", 0.0),
        ("AutoContrast", 0.0), ("Contrast", 0.1), ("Sharpness", 1.9), ("Cutout", 800.0),
    ]  # fmt: skip


def torchvision_cases():
    """What torchvision's own code makes of its spaces, with the same action in our terms."""
    spaces = {**spaces_at(31, 32, 32), **{name + "10": space for name, space in spaces_at(10, 32, 32).items()}}
    image = Image.fromarray(EVERY["photo"])
    seen = {}
    for space in spaces.values():
        for name, (magnitudes, signed) in space.items():
            for magnitude in both(magnitudes) if signed else magnitudes or [0.0]:
                result = autoaugment._apply_op(image, name, magnitude, InterpolationMode.NEAREST, None)
                value = magnitude
                if name.startswith("Translate"):
                    value = -float(int(magnitude))  # torchvision moves the picture, PIL the place it is taken from
                elif name in ENHANCERS:
                    value = 1.0 + magnitude
                seen.setdefault((name, value), fnv(np.array(result)))
    sweeps = {}
    for (name, value), result in seen.items():
        sweeps.setdefault(name, {})[value] = result
    return listed(sweeps)


def listed(sweeps):
    return [{"operation": name, "pairs": list(pairs.items())} for name, pairs in sweeps.items()]


def spaces_at(bins, height, width):
    raw = {
        "trivial-wide": autoaugment.TrivialAugmentWide()._augmentation_space(bins),
        "rand": autoaugment.RandAugment()._augmentation_space(bins, (height, width)),
        "auto": autoaugment.AutoAugment()._augmentation_space(bins, (height, width)),
    }
    return {
        space: {
            name: ([float(value) for value in magnitudes] if magnitudes.ndim else [], signed)
            for name, (magnitudes, signed) in entries.items()
        }
        for space, entries in raw.items()
    }


def published():
    """The values of all levels as the papers and their code define them, on one side: see aug_lib.py of TrivialAugment
    for its two spaces, and the table of ranges in AutoAugment's paper, cut into ten values."""

    def authors(shear, translate, rotate, bits, low, high):
        span = high - low
        return {
            "Rotate": [int(level * rotate / 30) for level in LEVELS],
            "Solarize": [256 - int(level * 256 / 30) for level in LEVELS],
            "Posterize": [8 - int(level * (8 - bits) / 30) for level in LEVELS],
            **{name: [level * span / 30 + low for level in LEVELS] for name in ENHANCERS},
            **{name: [level * shear / 30 for level in LEVELS] for name in ("ShearX", "ShearY")},
            **{name: [int(level * translate / 30) for level in LEVELS] for name in ("TranslateX", "TranslateY")},
        }

    def ten(start, end):
        return [start + level * (end - start) / 9 for level in range(10)]

    return {
        "ra": authors(0.3, 10, 30, 4, 0.1, 1.9),
        "wide": authors(0.99, 32, 135, 2, 0.01, 2.0),
        "auto": {
            **{name: ten(0, 0.3) for name in ("ShearX", "ShearY")},
            "TranslateX": ten(0, 150 / 331 * 56),
            "TranslateY": ten(0, 150 / 331 * 40),
            "Rotate": ten(0, 30),
            **{name: ten(0.1, 1.9) for name in ENHANCERS},
            "Posterize": [round(bits) for bits in ten(8, 4)],
            "Solarize": ten(256, 0),
        },
    }


def main():
    stored = bytearray()
    pictures = []
    for name, values in {**EVERY, **KEPT}.items():
        channels = 3 if values.ndim == 3 else 1
        pictures.append({"name": name, "height": values.shape[0], "width": values.shape[1], "channels": channels})
        stored += values.tobytes()
    for name, (height, width, channels) in HASHED.items():
        pictures.append({"name": name, "height": height, "width": width, "channels": channels, "formula": True})
    made = {name: Image.fromarray(formula(*shape)) for name, shape in HASHED.items()}
    images = {name: Image.fromarray(values) for name, values in {**EVERY, **KEPT}.items()}

    kept = []
    for name, value, centre in kept_cases():
        results = {on: np.array(OPERATIONS[name](image, value, centre)) for on, image in images.items()}
        hashes = [fnv(results[on]) for on in EVERY]
        hashes.append(fnv(np.array(OPERATIONS[name](made["colours"], value, centre))))
        kept.append({"operation": name, "value": value, "centre": centre, "hashes": hashes})
        stored += b"".join(results[on].tobytes() for on in KEPT)
    large = []
    for on in ("long", "large"):
        for name, value in big_cases(on):
            result = fnv(np.array(OPERATIONS[name](made[on], value, [0.5, 0.5])))
            large.append({"operation": name, "value": value, "picture": on, "hash": result})
    sweeps = {}
    for name, values in hashed_values():
        for value in values:
            results = [np.array(OPERATIONS[name](images[on], value, [0.5, 0.5])).ravel() for on in EVERY]
            sweeps.setdefault(name, {})[value] = fnv(np.concatenate(results))
    policies = {
        policy.value: [
            [[name, probability, -1 if level is None else level] for name, probability, level in pair]
            for pair in autoaugment.AutoAugment()._get_policies(policy)
        ]
        for policy in autoaugment.AutoAugmentPolicy
    }
    spaces = {
        "height": 40,
        "width": 56,
        "trivial-wide": spaces_at(31, 40, 56)["trivial-wide"],
        "rand": spaces_at(31, 40, 56)["rand"],
        "auto": spaces_at(10, 40, 56)["auto"],
        "published": published(),
        "policies": policies,
    }
    (HERE / "pictures.bin").write_bytes(stored)
    index = {
        "pictures": pictures,
        "kept": kept,
        "large": large,
        "sweeps": listed(sweeps),
        "torchvision": torchvision_cases(),
    }
    for name, content in (("cases.json", index), ("spaces.json", spaces)):
        # One line for each case, so that a difference can be read.
        text = json.dumps(content, separators=(",", ":"))
        text = text.replace('{"operation"', '\n{"operation"').replace("]],", "]],\n")
        (HERE / name).write_text(text + "\n")


main()
