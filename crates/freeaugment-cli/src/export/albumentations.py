import albumentations
import cv2
from albumentations.augmentations.geometric import functional as geometric
from albumentations.augmentations.pixel import functional as pixel


def _warp(image, matrix):
    """`matrix` says where pixels come from: x and y, of x, y and 1."""
    whole = numpy.linalg.inv(numpy.vstack([matrix, [0.0, 0.0, 1.0]]))
    return geometric.warp_affine(image, whole, cv2.INTER_LINEAR, 0, cv2.BORDER_CONSTANT, image.shape[:2])


def _rotate(image, degrees):
    (height, width), (c, s) = image.shape[:2], (f(math.radians(degrees)) for f in (math.cos, math.sin))
    x, y = (width - 1) / 2, (height - 1) / 2
    return _warp(image, [[c, -s, x - c * x + s * y], [s, c, y - s * x - c * y]])


def _sharpness(image, m):
    blur = cv2.filter2D(image, -1, numpy.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]]) / 13)
    blur = blur.reshape(image.shape)
    inner = (slice(1, -1), slice(1, -1))
    result = image.copy()
    result[inner] = blur[inner] + m * (image[inner] - blur[inner])
    return result.clip(0, 1)


def _in_bytes(operation, image):
    return operation((image * 255).astype(numpy.uint8)).reshape(image.shape).astype(numpy.float32) / 255


def _auto_contrast(image):
    low, high = image.min((0, 1)), image.max((0, 1))
    return numpy.where(high > low, (image - low) / (high - low + 1e-6), image)


def _equalize(image):
    # The one of Albumentations is some levels off PIL's, which the policy was learned with.
    result = image.copy()
    for channel in range(image.shape[-1]):
        values = image[..., channel]
        counts = numpy.bincount(values.ravel(), minlength=256)
        step = int(values.size - counts[counts.nonzero()[0][-1]]) // 255
        if step:
            table = (counts.cumsum() - counts + step // 2) // step
            result[..., channel] = table.clip(0, 255)[values]
    return result


#: Of an image [height, width, channel], float32 in [0, 1], and a magnitude.
OPERATIONS = {
    "ShearX": lambda x, m: _warp(x, [[1, -m, 0], [0, 1, 0]]),
    "ShearY": lambda x, m: _warp(x, [[1, 0, 0], [-m, 1, 0]]),
    "TranslateX": lambda x, m: _warp(x, [[1, 0, -m * x.shape[1]], [0, 1, 0]]),
    "TranslateY": lambda x, m: _warp(x, [[1, 0, 0], [0, 1, -m * x.shape[0]]]),
    "Rotate": _rotate,
    "Solarize": lambda x, m: pixel.solarize(x, m),
    "Posterize": lambda x, m: x if round(m) == 8 else _in_bytes(lambda y: pixel.posterize(y, round(m)), x),
    "Contrast": lambda x, m: (x * m).clip(0, 1),
    "Color": lambda x, m: x if x.shape[-1] == 1 else (m * x + (1 - m) * x.mean(-1, keepdims=True)).clip(0, 1),
    "Brightness": lambda x, m: (x + m).clip(0, 1),
    "Sharpness": _sharpness,
    "AutoContrast": lambda x, m: _auto_contrast(x),
    "Invert": lambda x, m: pixel.invert(x),
    "Equalize": lambda x, m: _in_bytes(_equalize, x),
}


class FreeAugment(albumentations.ImageOnlyTransform):
    """The policy for images, uint8 or float32 in [0, 1]. Put it after crop and flip, before normalisation."""

    def get_params(self):
        return {"steps": sample(lambda *shape: self.random_generator.random(shape))}

    def apply(self, img, steps=(), **params):
        result = img if img.ndim == 3 else img[..., None]
        for name, magnitude in steps:
            is_bytes = result.dtype == numpy.uint8
            floats = result.astype(numpy.float32) / 255 if is_bytes else result
            floats = OPERATIONS[name](floats, magnitude).reshape(result.shape).astype(numpy.float32)
            # Bytes stay bytes between operations.
            result = (floats * 255).round().astype(numpy.uint8) if is_bytes else floats
        return result.reshape(img.shape)

    def get_transform_init_args_names(self):
        return ()
