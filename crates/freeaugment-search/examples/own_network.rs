//! A search with a network of one's own, on a few of the built-in drawings.
//!
//!     cargo run --release -p freeaugment-search --example own_network
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::atomic::AtomicBool;

use freeaugment_nn::pass::{Activation, Convolution, Pass, Window};
use freeaugment_nn::{Classifier, Device, Network};
use freeaugment_search::{Learned, Observer, Patch, RunWriter, Search, SearchEpoch, Setup, Task, resolve};

/// Three convolutions, each with batch norm and half the size of the one before.
fn forward<P: Pass>(pass: &mut P, images: &P::Value, classes: usize) -> P::Value {
    let mut h = None;
    for (layer, (inputs, outputs)) in [(3, 16), (16, 32), (32, 64)].into_iter().enumerate() {
        let convolution = Convolution { inputs, outputs, window: Window::centred(3, 2) };
        let z = pass.convolve(h.as_ref().unwrap_or(images), &format!("layer{layer}"), convolution);
        h = Some(pass.normalize(&z, &format!("norm{layer}"), Some(Activation::Relu)));
    }
    let h = pass.mean_pixels(h.as_ref().unwrap_or(images));
    pass.linear(&h, "head", classes)
}

/// Tells of every epoch.
struct Told;

impl Observer<Search> for Told {
    fn epoch(&mut self, _: &Search, epoch: &SearchEpoch) {
        println!("epoch {}: loss {:.3}, accuracy {:.1} %", epoch.epoch, epoch.loss, 100.0 * epoch.accuracy);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let few = "drawings_train = 512\ndrawings_validation = 256\nepochs = 5\nproof_epochs = 0";
    let few = Patch { place: "this example".to_owned(), values: few.parse()? };
    let settings = resolve(Task::Search, "drawings", &[few])?;
    let setup = Setup::for_search(&settings, &())?;
    let (classes, channels) = (setup.dataset.classes.len(), setup.dataset.channels);
    let network =
        Network::record("three-layers", classes, channels, |pass, images| forward(pass, images, classes))?;
    let classifier = Classifier::new(network, &Device::cpu(), settings.seed);
    let mut search = Search::with_classifier(settings, setup, classifier)?;

    let folder = tempfile::tempdir()?;
    let data = &search.setup().identity;
    let run = RunWriter::create(&folder.path().join("run"), Task::Search, search.settings(), data, &[])?;
    run.search(&mut search, &mut Told, &AtomicBool::new(false))?;
    println!("\n{}", Learned::new(&run.policy()?)?);
    Ok(())
}
