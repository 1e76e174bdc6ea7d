import torch
from torchvision import tv_tensors
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F


def _affine(image, shear=(0.0, 0.0), translate=(0.0, 0.0)):
    # Shears leave the first pixel where it is; its centre is at one half here.
    shear = [-math.degrees(math.atan(slope)) for slope in shear]
    bilinear = v2.InterpolationMode.BILINEAR
    return F.affine(image, 0.0, list(translate), 1.0, shear, interpolation=bilinear, center=[0.5, 0.5])


def _in_bytes(operation, image):
    return operation((image * 255).to(torch.uint8)).to(image.dtype) / 255


#: Of an image [channel, height, width] in [0, 1] and a magnitude.
OPERATIONS = {
    "ShearX": lambda x, m: _affine(x, shear=(m, 0.0)),
    "ShearY": lambda x, m: _affine(x, shear=(0.0, m)),
    "TranslateX": lambda x, m: _affine(x, translate=(m * x.shape[-1], 0.0)),
    "TranslateY": lambda x, m: _affine(x, translate=(0.0, m * x.shape[-2])),
    "Rotate": lambda x, m: F.rotate(x, m, interpolation=v2.InterpolationMode.BILINEAR),
    "Solarize": lambda x, m: F.solarize(x, m),
    "Posterize": lambda x, m: x if round(m) == 8 else _in_bytes(lambda y: F.posterize(y, round(m)), x),
    "Contrast": lambda x, m: F.adjust_brightness(x, m),
    "Color": lambda x, m: x if x.shape[-3] == 1 else (m * x + (1 - m) * x.mean(-3, keepdim=True)).clamp(0, 1),
    "Brightness": lambda x, m: (x + m).clamp(0, 1),
    "Sharpness": lambda x, m: F.adjust_sharpness(x, m),
    "AutoContrast": lambda x, m: F.autocontrast(x),
    "Invert": lambda x, m: F.invert(x),
    "Equalize": lambda x, m: _in_bytes(F.equalize, x),
}


class FreeAugment(v2.Transform):
    """The policy for images: PIL, or tensors in bytes or in floats of [0, 1]. Put it after crop and flip, before normalisation."""

    def make_params(self, flat_inputs):
        return {"steps": sample(lambda *shape: torch.rand(shape, dtype=torch.float64).numpy())}

    def transform(self, inpt, params):
        if isinstance(inpt, tv_tensors.TVTensor) and not isinstance(inpt, (tv_tensors.Image, tv_tensors.Video)):
            raise TypeError(f"this file augments images and videos and moves no {type(inpt).__name__} with them")
        if not torch.is_tensor(inpt):
            return F.to_pil_image(self.transform(F.pil_to_tensor(inpt), params))
        image = inpt.as_subclass(torch.Tensor)
        for name, magnitude in params["steps"]:
            if image.dtype is torch.uint8:
                # Bytes stay bytes between operations.
                image = (OPERATIONS[name](image / 255, magnitude) * 255).round().to(torch.uint8)
            else:
                image = OPERATIONS[name](image, magnitude)
        return image.as_subclass(type(inpt))
