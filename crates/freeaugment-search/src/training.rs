//! Training a fresh classifier under a policy that stays as it is.

use std::sync::Arc;

use freeaugment::Policy;
use freeaugment::random::Purpose;
use freeaugment_data::{Loader, Order};
use freeaugment_nn::optimizer::{Cosine, Sgd};
use freeaugment_nn::{Batch, Classifier, CrossEntropy, Device, Network};

use crate::error::Error;
use crate::plan::Plan;
use crate::settings::Settings;

const ORDER: Purpose = Purpose::named("training/order");

/// A classifier trained from scratch on the training images for so many epochs, augmented by `policy` at its
/// evaluation temperature, or by crop, flip and cutout alone. `progress` is told of every step.
pub fn train(
    settings: &Settings,
    plan: &Plan,
    policy: Option<&Policy>,
    epochs: u64,
    progress: &mut dyn FnMut() -> Result<(), Error>,
) -> Result<Classifier, Error> {
    let network = Network::new(settings.network.parse()?, plan.dataset.classes.len(), plan.dataset.channels)?;
    let loss = CrossEntropy::new(settings.label_smoothing as f32)?;
    // Not the seed of the search's classifier: what is judged must not have been fitted to its weights.
    let seed = settings.seed ^ 0x5eed_0f50;
    let mut classifier = Classifier::new(network, &Device::open(&settings.device)?, seed).with_loss(loss);
    let mut sgd = Sgd::new(settings.momentum as f32, true, settings.weight_decay as f32)?;
    let total = epochs * plan.steps;
    let schedule = Cosine::new(settings.learning_rate, 0.0, total)?;
    let order = Arc::new(Order { purpose: ORDER, seed, ..(*plan.training).clone() });
    let mut loader = Loader::new(&plan.dataset, &plan.pipeline, &order, (0, total), settings.workers);
    let side = plan.pipeline.size;
    for step in 0..total {
        let pictures = loader.next_batch()?;
        let images = match policy {
            None => plan.pipeline.after(pictures.images.as_slice(), &pictures.views),
            Some(policy) => {
                let noise = policy.draw(seed, (step / plan.steps) as u32, &pictures.indices);
                let sample = policy.sample(noise, policy.config().evaluation_temperature)?;
                let augmented = policy.apply(&pictures.images, &sample)?;
                plan.pipeline.after(augmented.as_slice(), &pictures.views)
            }
        };
        let batch = Batch { images: &images, labels: &pictures.labels, height: side, width: side };
        let evaluation = classifier.train(batch)?;
        if !evaluation.loss.is_finite() {
            let (epoch, step) = (step / plan.steps + 1, step % plan.steps + 1);
            return Err(Error::Diverged { loss: evaluation.loss, epoch, step });
        }
        sgd.step(classifier.weights_mut(), &evaluation.gradient, schedule.rate(step) as f32)?;
        progress()?;
    }
    Ok(classifier)
}
