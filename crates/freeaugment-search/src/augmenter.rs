//! A policy of any kind, and what it drew for one image: learned, a baseline, or one that another search published.

use std::fmt;

use freeaugment::{Chain, ImagesMut, ImagesRef, Motion, Policy, Shape, Step, Strides};
use freeaugment_base::random::{Purpose, Stream};
use freeaugment_baseline::{Action, Augmentation, Moment, Operation};
use freeaugment_data::Picture;

use crate::error::Error;

/// The purpose that actions are drawn for, so that the same key gives the same actions everywhere.
pub(crate) const ACTIONS: Purpose = Purpose::named("training/actions");

/// What augments images.
pub enum Augmenter {
    /// Nothing: crop and flip at most, which are not its affair.
    Nothing,
    /// A learned policy.
    Learned(Box<Policy>),
    /// Operations of PIL on bytes.
    Actions(Box<dyn Augmentation>),
}

impl fmt::Debug for Augmenter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "Nothing",
            Self::Learned(_) => "Learned",
            Self::Actions(_) => "Actions",
        })
    }
}

impl Augmenter {
    /// Draws for one image. The calling thread alone works on it.
    pub fn draw(&self, seed: u64, epoch: u32, index: u32, moment: Moment) -> Drawn {
        match self {
            Self::Nothing => Drawn::Actions(Vec::new()),
            Self::Learned(policy) => Drawn::Chain(policy.chain(seed, epoch, index)),
            Self::Actions(augmentation) => {
                Drawn::Actions(augmentation.actions(&mut Stream::new(seed, ACTIONS, epoch, index), moment))
            }
        }
    }
}

/// The transformations of one image in their order. Shown, it is what people want to read: `Rotate 21.3°; Invert`, or
/// `nothing`.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawn {
    /// Of a learned policy.
    Chain(Chain),
    /// Of a baseline: operations of PIL on bytes.
    Actions(Vec<Action>),
}

impl Drawn {
    /// Does it to one picture. The calling thread alone works on it.
    pub fn apply(&self, picture: &Picture) -> Result<Picture, Error> {
        let mut after = picture.clone();
        match self {
            Self::Chain(chain) => {
                let images = ImagesRef::interleaved(&picture.pixels, picture.shape())?;
                chain.apply_into(images, ImagesMut::interleaved(&mut after.pixels, picture.shape())?)?;
            }
            Self::Actions(actions) => actions.iter().for_each(|action| action.apply(&mut after)),
        }
        Ok(after)
    }

    /// Where it moves things in an image of this size.
    pub fn motion(&self, height: usize, width: usize) -> Motion {
        match self {
            Self::Chain(chain) => Motion::of_chain(chain, height, width),
            Self::Actions(actions) => Action::motion(actions, height, width),
        }
    }

    /// For each pixel of the result, row by row, the number of the one it shows; `u32::MAX` for what lies outside.
    pub fn moved_pixels(&self, height: usize, width: usize) -> Result<Vec<u32>, freeaugment::Error> {
        match self {
            Self::Chain(chain) => {
                let shape = Shape { count: 1, channels: 1, height, width };
                let numbers: Vec<u32> = (0..u32::try_from(shape.plane()).unwrap_or(u32::MAX)).collect();
                let mut moved = vec![0; numbers.len()];
                chain.move_mask(&numbers, shape, Strides::planar(shape), u32::MAX, &mut moved)?;
                Ok(moved)
            }
            Self::Actions(actions) => Ok(Action::moved_pixels(actions, height, width)),
        }
    }

    /// What changes the image, step by step, such as `Rotate 21.3°`.
    pub fn steps(&self) -> Vec<String> {
        match self {
            Self::Chain(chain) => chain.steps().iter().map(step).collect(),
            Self::Actions(actions) => {
                let done = actions.iter().filter(|action| action.operation != Operation::Identity);
                done.map(action).collect()
            }
        }
    }
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = self.steps();
        f.write_str(if steps.is_empty() { "nothing" } else { "" })?;
        f.write_str(&steps.join("; "))
    }
}

fn step(step: &Step) -> String {
    let name = step.transformation.name();
    let (Some(known), Some(value)) = (step.transformation.magnitude(), step.magnitude) else {
        return name.to_owned();
    };
    if known.unit == "degrees" {
        return format!("{name} {}°", number(value.into(), 1, false));
    }
    // What is added to something, rather than multiplied, goes either way.
    format!("{name} {}", number(value.into(), 2, known.identity == 0.0))
}

fn action(action: &Action) -> String {
    let name = action.operation.name();
    let digits = match action.operation.unit() {
        None => return name.to_owned(),
        Some("bits" | "levels") => 0,
        Some("pixels" | "degrees") => 1,
        Some(_) => 2,
    };
    // PIL cuts these off.
    let value = if digits == 0 { action.value.trunc() } else { action.value };
    let text = number(value, digits, action.operation == Operation::SolarizeAdd);
    let sign = if action.operation.unit() == Some("degrees") { "°" } else { "" };
    format!("{name} {text}{sign}")
}

/// A number with so many digits, which is never `-0`.
fn number(value: f64, digits: usize, with_plus: bool) -> String {
    let scale = 10_f64.powi(digits as i32);
    let value = (value * scale).round() / scale + 0.0;
    if with_plus { format!("{value:+.digits$}") } else { format!("{value:.digits$}") }
}

#[cfg(test)]
mod tests {
    use freeaugment::Transformation;

    use super::*;

    #[test]
    fn what_was_drawn_reads_as_people_want_it() {
        let step =
            |name: &str, magnitude| Step { transformation: Transformation::named(name).unwrap(), magnitude };
        let steps = vec![
            step("Rotate", Some(21.26)),
            step("Brightness", Some(0.2)),
            step("Contrast", Some(0.75)),
            step("TranslateX", Some(-0.001)),
            step("Invert", None),
        ];
        let chain = Drawn::Chain(Chain::new(steps).unwrap());
        assert_eq!(
            chain.to_string(),
            "Rotate 21.3°; Brightness +0.20; Contrast 0.75; TranslateX +0.00; Invert"
        );
        let actions = vec![
            Action::new(Operation::Posterize, 4.9),
            Action::new(Operation::SolarizeAdd, 33.3),
            Action::new(Operation::Equalize, 0.0),
            Action::new(Operation::Identity, 0.0),
            Action::new(Operation::Rotate, -9.0),
            Action::new(Operation::Color, 1.3),
        ];
        let actions = Drawn::Actions(actions);
        assert_eq!(actions.to_string(), "Posterize 4; SolarizeAdd +33; Equalize; Rotate -9.0°; Color 1.30");
        assert_eq!(Drawn::Actions(Vec::new()).to_string(), "nothing");
    }
}
