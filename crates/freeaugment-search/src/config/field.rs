//! What a setting is: its key, its values, its range; and the words that choices are spelt with.

use freeaugment::{Assignment, Estimator, Place, Sharing};
use serde::{Deserialize, Serialize};

/// What values a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `true` or `false`.
    Switch,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// A text.
    Text,
    /// Texts, with commas between them.
    List,
    /// One of these.
    Choice(&'static [&'static str]),
}

/// A setting, for those who list them.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// What it belongs to.
    pub group: &'static str,
    /// What it does.
    pub help: &'static str,
    /// What values it takes.
    pub kind: ValueKind,
    /// The lowest and the highest number that are allowed, where that is all there is to say.
    pub range: Option<(f64, f64)>,
}

/// What settings are for. Each task has a part of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Learning a policy.
    Search,
    /// Training classifiers under policies that stay as they are, and comparing them.
    Comparison,
    /// Finding a policy that helps, within a budget of time.
    Find,
}

/// What `find` settles by itself: when what is done.
const SETTLED: [&str; 8] = [
    "horizon",
    "warm_up",
    "magnitude_start",
    "type_start",
    "depth_start",
    "proof_epochs",
    "evaluate_every",
    "cycle_batches",
];

impl Task {
    /// The settings it has.
    pub fn fields(self) -> impl Iterator<Item = &'static Field> {
        super::settings::FIELDS.iter().filter(move |field| match self {
            Self::Search => !matches!(field.group, "Training" | "Find"),
            Self::Comparison => {
                !matches!(field.group, "Policy" | "Search" | "Find") && field.name != "validation_share"
            }
            Self::Find => field.group != "Training" && !SETTLED.contains(&field.name),
        })
    }
}

/// A type that a setting can have.
pub(super) trait Setting {
    const KIND: ValueKind;
}

macro_rules! kinds {
    ($($type:ty => $kind:expr),* $(,)?) => { $(impl Setting for $type { const KIND: ValueKind = $kind; })* };
}

/// A choice between words, spelt in kebab case everywhere.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $word)] $variant),* }
        impl Setting for $name { const KIND: ValueKind = ValueKind::Choice(&[$($word),*]); }
    };
}

choice! {
    /// How the number of transformations is decided.
    DepthChoice {
        /// A learned distribution.
        Learned = "learned",
        /// Always the same.
        Fixed = "fixed",
        /// An application probability for each transformation instead.
        Application = "application",
    }
}
choice! {
    /// How types and order are drawn.
    TypesChoice {
        /// Gumbel-Sinkhorn.
        Sinkhorn = "sinkhorn",
        /// An independent Gumbel-Softmax for each layer.
        Softmax = "softmax",
    }
}
choice! {
    /// How magnitudes are drawn.
    MagnitudeChoice {
        /// Uniform between learned bounds.
        Uniform = "uniform",
        /// Normal with learned centre and spread.
        Gaussian = "gaussian",
    }
}
choice! {
    /// How training pictures are cut.
    CropChoice {
        /// By what the data looks like.
        Auto = "auto",
        /// Not at all.
        None = "none",
        /// Padded, then cut.
        Pad = "pad",
        /// A random box, resized.
        Resized = "resized",
    }
}
choice! {
    /// How a trained policy chooses transformations.
    AssignmentChoice {
        /// As its file says.
        Policy = "policy",
        /// By the largest entry of each column.
        ColumnMaximum = "column-maximum",
        /// By the best assignment.
        Exact = "exact",
    }
}
choice! {
    /// How the gradient to the policy is found.
    HypergradientChoice {
        /// Exactly, by reverse over forward.
        Exact = "exact",
        /// By a central difference of two gradients: for comparison only, in a ReLU network it is wrong.
        Difference = "difference",
    }
}

kinds! {
    bool => ValueKind::Switch,
    usize => ValueKind::Whole,
    u64 => ValueKind::Whole,
    f64 => ValueKind::Number,
    String => ValueKind::Text,
    Vec<String> => ValueKind::List,
    Assignment => ValueKind::Choice(&["column-maximum", "exact"]),
    Estimator => ValueKind::Choice(&["straight-through", "soft-backward", "gain"]),
    Sharing => ValueKind::Choice(&["per-image", "per-batch"]),
    Place => ValueKind::Choice(&["first", "after-crop-and-flip"]),
}
