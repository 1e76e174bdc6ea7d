//! ResNet as torchvision defines it, with its parameter names, so that its pretrained weights load.

use crate::pass::{Activation, Convolution, Pass, Window};

/// How many blocks every layer has, and of which kind.
pub(super) struct Plan {
    blocks: [usize; 4],
    bottleneck: bool,
}

pub(super) const RESNET18: Plan = Plan { blocks: [2, 2, 2, 2], bottleneck: false };
pub(super) const RESNET50: Plan = Plan { blocks: [3, 4, 6, 3], bottleneck: true };

pub(super) fn forward<P: Pass>(
    plan: &Plan,
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
    let h = pass.convolve(images, "conv1", convolution(channels, 64, 7, 2));
    let h = pass.normalize(&h, "bn1", activation);
    let mut h = pass.max_pool(&h, Window::centred(3, 2));
    let mut inputs = 64;
    for (layer, &blocks) in plan.blocks.iter().enumerate() {
        let width = 64 << layer;
        let outputs = if plan.bottleneck { 4 * width } else { width };
        for block in 0..blocks {
            let name = |part: &str| format!("layer{}.{block}.{part}", layer + 1);
            let stride = if layer > 0 && block == 0 { 2 } else { 1 };
            // (kernel, stride, outputs) of the block's convolutions; every one but the last is activated.
            let steps: &[(usize, usize, usize)] = if plan.bottleneck {
                &[(1, 1, width), (3, stride, width), (1, 1, outputs)]
            } else {
                &[(3, stride, width), (3, 1, outputs)]
            };
            let mut z = None;
            let mut from = inputs;
            for (i, &(kernel, stride, to)) in steps.iter().enumerate() {
                let conv = name(&format!("conv{}", i + 1));
                let y = pass.convolve(z.as_ref().unwrap_or(&h), &conv, convolution(from, to, kernel, stride));
                let last = i + 1 == steps.len();
                z = Some(pass.normalize(&y, &name(&format!("bn{}", i + 1)), activation.filter(|_| !last)));
                from = to;
            }
            let z = z.expect("a block has convolutions");
            h = if inputs == outputs && stride == 1 {
                pass.add(&z, &h, activation)
            } else {
                let shortcut =
                    pass.convolve(&h, &name("downsample.0"), convolution(inputs, outputs, 1, stride));
                let shortcut = pass.normalize(&shortcut, &name("downsample.1"), None);
                pass.add(&z, &shortcut, activation)
            };
            inputs = outputs;
        }
    }
    let h = pass.mean_pixels(&h);
    pass.linear(&h, "fc", classes)
}
