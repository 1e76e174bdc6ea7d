//! Wide-ResNet: activations come before convolutions, and a block whose shape changes takes its shortcut from the
//! activated input.

use crate::pass::{Activation, Convolution, Pass, Window};

pub(super) fn forward<P: Pass>(
    (depth, width): (usize, usize),
    (channels, classes): (usize, usize),
    pass: &mut P,
    images: &P::Value,
) -> P::Value {
    let activation = Some(Activation::Relu);
    let convolution = |inputs, outputs, kernel, stride| Convolution {
        inputs,
        outputs,
        window: Window::centred(kernel, stride),
    };
    let mut h = pass.convolve(images, "stem", convolution(channels, 16, 3, 1));
    let mut inputs = 16;
    for group in 0..3 {
        let outputs = (16 * width) << group;
        for block in 0..(depth - 4) / 6 {
            let name = |part: &str| format!("group{group}.block{block}.{part}");
            let stride = if group > 0 && block == 0 { 2 } else { 1 };
            let a = pass.normalize(&h, &name("bn1"), activation);
            let z = pass.convolve(&a, &name("conv1"), convolution(inputs, outputs, 3, stride));
            let z = pass.normalize(&z, &name("bn2"), activation);
            let z = pass.convolve(&z, &name("conv2"), convolution(outputs, outputs, 3, 1));
            h = if inputs == outputs && stride == 1 {
                pass.add(&z, &h, None)
            } else {
                let shortcut = pass.convolve(&a, &name("shortcut"), convolution(inputs, outputs, 1, stride));
                pass.add(&z, &shortcut, None)
            };
            inputs = outputs;
        }
    }
    let h = pass.normalize(&h, "bn", activation);
    let h = pass.mean_pixels(&h);
    pass.linear(&h, "fc", classes)
}
