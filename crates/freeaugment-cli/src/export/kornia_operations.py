import torch
from kornia import enhance
from kornia.geometry import transform


def _warp(images, rows):
    """`rows` say where pixels come from: x and y, of x, y and 1; a number for each image."""
    matrix = torch.zeros(len(images), 3, 3, dtype=images.dtype, device=images.device)
    matrix[:, 2, 2] = 1
    for at, value in enumerate(rows):
        matrix[:, at // 3, at % 3] = value
    there = torch.linalg.inv(matrix)[:, :2]
    return transform.warp_affine(images, there, images.shape[-2:], "bilinear", "zeros", align_corners=True)


def _rotate(images, degrees):
    x, y = (images.shape[-1] - 1) / 2, (images.shape[-2] - 1) / 2
    c, s = torch.cos(torch.deg2rad(degrees)), torch.sin(torch.deg2rad(degrees))
    return _warp(images, [c, -s, x - c * x + s * y, s, c, y - s * x - c * y])


def _shaped(m):
    return m.reshape(-1, 1, 1, 1)


def _auto_contrast(images):
    low, high = images.amin((-2, -1), keepdim=True), images.amax((-2, -1), keepdim=True)
    return torch.where(high > low, (images - low) / (high - low + 1e-6), images)


def _posterize(images, m):
    bits = m.round()
    kept = enhance.posterize(images, bits.to(torch.int32).clamp(max=7))
    return torch.where(_shaped(bits) == 8, images, kept)


def _color(images, m):
    grey = images.mean(1, keepdim=True)
    return images if images.shape[1] == 1 else (_shaped(m) * images + _shaped(1 - m) * grey).clamp(0, 1)


#: Of images [n, channel, height, width] in [0, 1] and a magnitude for each of them.
OPERATIONS = {
    "ShearX": lambda x, m: _warp(x, [1, -m, 0, 0, 1, 0]),
    "ShearY": lambda x, m: _warp(x, [1, 0, 0, -m, 1, 0]),
    "TranslateX": lambda x, m: _warp(x, [1, 0, -m * x.shape[-1], 0, 1, 0]),
    "TranslateY": lambda x, m: _warp(x, [1, 0, 0, 0, 1, -m * x.shape[-2]]),
    "Rotate": _rotate,
    "Solarize": lambda x, m: torch.where(x < _shaped(m), x, 1 - x),
    "Posterize": _posterize,
    "Contrast": lambda x, m: enhance.adjust_contrast(x, m),
    "Color": _color,
    "Brightness": lambda x, m: enhance.adjust_brightness(x, m),
    "Sharpness": lambda x, m: enhance.sharpness(x, m),
    "AutoContrast": lambda x, m: _auto_contrast(x),
    "Invert": lambda x, m: enhance.invert(x),
    "Equalize": lambda x, m: enhance.equalize(x),
}


def apply(images, samples):
    """Does to each image what was drawn for it, lists of names and magnitudes; images that undergo the same go together."""
    images = images.clone()
    for layer in range(max(map(len, samples), default=0)):
        here = {}
        for at, steps in enumerate(samples):
            if layer < len(steps):
                here.setdefault(steps[layer][0], []).append((at, steps[layer][1] or 0.0))
        for name, members in here.items():
            places = torch.tensor([at for at, _ in members], device=images.device)
            magnitudes = torch.tensor([m for _, m in members], dtype=images.dtype, device=images.device)
            images[places] = OPERATIONS[name](images[places], magnitudes)
    return images
