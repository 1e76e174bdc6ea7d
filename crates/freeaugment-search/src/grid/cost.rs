//! What a cell takes, roughly: multiplications counted, and the speed of a few of them measured.

use std::time::Instant;

use freeaugment::Groups;
use freeaugment_nn::pass::{Activation, Convolution, Pass, Window};
use freeaugment_nn::{Architecture, Batch, Classifier, Device, Network};

use crate::config::{Settings, Task};
use crate::error::Error;

/// How many multiplications a second this machine does when it trains.
#[derive(Clone, Copy, Debug)]
pub struct Speed(f64);

/// What a cell takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Seconds.
    pub seconds: f64,
    /// Memory.
    pub mib: u64,
}

/// Forward, and back to weights and images.
const TRAINING: f64 = 3.0;
/// A step that asks validation images as well, in parts of a training step: measured on the built-in drawings, 109 ms
/// against 37 ms (docs/commands.md); one that goes back through a cycle takes about one training step more.
const LEARNING: f64 = 3.0;
const LOOKING_BACK: f64 = 4.0;

impl Speed {
    /// Times a few gradients of a small network.
    pub fn measure() -> Result<Self, Error> {
        const SIDE: usize = 32;
        const BATCH: usize = 32;
        const TIMES: u32 = 4;
        let network = Network::new(Architecture::WideResNet { depth: 10, width: 1 }, 10, 3)?;
        let work = Count::of(&network, SIDE).multiplications * TRAINING * BATCH as f64;
        let classifier = Classifier::new(network, &Device::cpu(), 0);
        let images = vec![0.5; BATCH * 3 * SIDE * SIDE];
        let labels: Vec<u32> = (0..BATCH as u32).map(|index| index % 10).collect();
        let batch = Batch { images: &images, labels: &labels, height: SIDE, width: SIDE };
        // The first finds nothing prepared.
        classifier.gradient(batch)?;
        let began = Instant::now();
        for _ in 0..TIMES {
            classifier.gradient(batch)?;
        }
        Ok(Self(f64::from(TIMES) * work / began.elapsed().as_secs_f64()))
    }

    /// What settings take with so many images for training, for judging and so many classes.
    pub fn cost(
        self,
        task: Task,
        settings: &Settings,
        [training, judging, classes]: [usize; 3],
    ) -> Result<Cost, Error> {
        let architecture: Architecture = settings.network.parse()?;
        let network = Network::new(architecture, classes.max(2), 3)?;
        let side = if settings.size == 0 { 32 } else { settings.size };
        let count = Count::of(&network, side);
        let frozen = settings.policy_config()?.frozen;
        let learns = |epoch: &u64| task == Task::Search && settings.learning(*epoch, frozen) != Groups::NONE;
        let learning = (0..settings.epochs).filter(learns).count() as f64;
        let factor = if settings.horizon > 1 { LOOKING_BACK } else { LEARNING };
        let evaluations = match settings.evaluate_every {
            0 => 1,
            every => settings.epochs.div_ceil(every),
        };
        let passes = (settings.epochs as f64 - learning) + learning * factor;
        let work = count.multiplications
            * (TRAINING * passes * training as f64 + (evaluations * judging as u64) as f64);
        // Values and their gradients, and in a search their tangents too; weights, momentum and gradients likewise.
        let copies = if task == Task::Search { 4.0 } else { 2.0 };
        let values = count.values * settings.batch as f64 * copies;
        let weights = network.layout().parameters() as f64 * 2.0 * copies;
        let pictures = ((training + judging) * side * side * 3) as f64;
        let cached = pictures.min((settings.cache_mib << 20) as f64);
        let bytes = 4.0 * (values + weights) + cached;
        Ok(Cost { seconds: (work / self.0).ceil(), mib: (bytes / f64::from(1 << 20)).ceil() as u64 })
    }
}

/// What one image takes on its way through a network.
#[derive(Default)]
struct Count {
    multiplications: f64,
    values: f64,
}

/// Channels, rows and columns.
type Shape = [usize; 3];

impl Count {
    fn of(network: &Network, side: usize) -> Self {
        let mut count = Self::default();
        network.forward(&mut count, &[network.channels(), side, side]);
        count
    }

    fn keep(&mut self, shape: Shape) -> Shape {
        self.values += shape.iter().product::<usize>() as f64;
        shape
    }
}

impl Pass for Count {
    type Value = Shape;

    fn convolve(
        &mut self,
        x: &Shape,
        _: &str,
        Convolution { inputs, outputs, window }: Convolution,
    ) -> Shape {
        let shape = [outputs, window.positions(x[1]), window.positions(x[2])];
        let each = inputs * window.kernel * window.kernel;
        self.multiplications += (each * shape.iter().product::<usize>()) as f64;
        self.keep(shape)
    }

    fn normalize(&mut self, x: &Shape, _: &str, _: Option<Activation>) -> Shape {
        self.keep(*x)
    }

    fn add(&mut self, a: &Shape, _: &Shape, _: Option<Activation>) -> Shape {
        self.keep(*a)
    }

    fn max_pool(&mut self, x: &Shape, window: Window) -> Shape {
        self.keep([x[0], window.positions(x[1]), window.positions(x[2])])
    }

    fn mean_pixels(&mut self, x: &Shape) -> Shape {
        self.keep([x[0], 1, 1])
    }

    fn linear(&mut self, x: &Shape, _: &str, outputs: usize) -> Shape {
        self.multiplications += (x[0] * outputs) as f64;
        self.keep([outputs, 1, 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplications_are_those_that_others_count() {
        // ResNet-18 and ResNet-50 on 224 x 224: 1.8 and 4.1 thousand million (torchvision's tables: 1.81, 4.09).
        for (architecture, known) in [(Architecture::ResNet18, 1.81e9), (Architecture::ResNet50, 4.09e9)] {
            let network = Network::new(architecture, 1000, 3).unwrap();
            let counted = Count::of(&network, 224).multiplications;
            assert!((counted / known - 1.0).abs() < 0.01, "{architecture:?}: {counted}");
        }
    }
}
