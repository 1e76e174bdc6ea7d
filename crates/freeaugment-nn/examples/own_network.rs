//! A network of one's own: written once over `Pass`, trained, and asked for the gradient that a search needs.
//!
//!     cargo run --release -p freeaugment-nn --example own_network
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use freeaugment_nn::optimizer::Sgd;
use freeaugment_nn::pass::{Activation, Convolution, Pass, Window};
use freeaugment_nn::{Batch, Classifier, Device, Error, Network};

const SIZE: usize = 16;
const COUNT: usize = 32;

/// Two convolutions, each with batch norm, and a block that adds its input.
fn forward<P: Pass>(pass: &mut P, images: &P::Value) -> P::Value {
    let relu = Some(Activation::Relu);
    let stem = Convolution { inputs: 1, outputs: 16, window: Window::centred(3, 2) };
    let h = pass.convolve(images, "stem", stem);
    let h = pass.normalize(&h, "stem_norm", relu);
    let block = Convolution { inputs: 16, outputs: 16, window: Window::centred(3, 1) };
    let z = pass.convolve(&h, "block", block);
    let z = pass.normalize(&z, "block_norm", None);
    let h = pass.add(&z, &h, relu);
    let h = pass.mean_pixels(&h);
    pass.linear(&h, "head", 2)
}

/// Gray stripes, along rows or along columns: the label says which.
fn stripes(phase: usize) -> (Vec<f32>, Vec<u32>) {
    let labels: Vec<u32> = (0..COUNT as u32).map(|image| image % 2).collect();
    let mut images = Vec::new();
    for (image, label) in labels.iter().enumerate() {
        for (y, x) in (0..SIZE).flat_map(|y| (0..SIZE).map(move |x| (y, x))) {
            let along = if *label == 0 { y } else { x };
            images.push(((along + image + phase) as f32 * 1.3).sin());
        }
    }
    (images, labels)
}

fn main() -> Result<(), Error> {
    let network = Network::record("stripes", 2, 1, forward)?;
    println!("{}: {} parameters", network.name(), network.layout().parameters());
    let mut classifier = Classifier::new(network, &Device::cpu(), 1);
    let mut sgd = Sgd::new(0.9, true, 5e-4)?;
    let (images, labels) = stripes(0);
    let (held_out, _) = stripes(3);
    let training = Batch { images: &images, labels: &labels, height: SIZE, width: SIZE };
    let validation = Batch { images: &held_out, ..training };
    for step in 1..=20 {
        let (evaluation, record) = classifier.train_and_keep(training)?;
        sgd.step(classifier.weights_mut(), &evaluation.gradient, 0.05)?;
        // How the validation loss would change with every pixel of the training images, through the step just taken.
        let v = classifier.gradient(validation)?;
        let found = record.hypergradient(&v.gradient)?;
        if step % 5 == 0 {
            let largest = found.q.iter().fold(0.0_f32, |largest, q| largest.max(q.abs()));
            println!(
                "step {step:2}: training loss {:.4}, validation loss {:.4}, largest entry of q {largest:.1e}",
                evaluation.loss, v.loss
            );
        }
    }
    Ok(())
}
