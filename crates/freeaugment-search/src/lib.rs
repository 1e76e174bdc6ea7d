//! The bilevel search of augmentation policies, and the comparison of what it finds.
//!
//! [`config`](Settings): settings say what to do ([`resolve`]: flag over file over preset). A [`Setup`] is what they mean
//! for the data at hand. A [`Session`] takes steps: a [`Search`] augments a batch, trains the classifier on it, asks a
//! validation batch how that went and pulls the answer back to the policy; a [`Training`] trains a classifier under a
//! policy that stays as it is. One loop, [`drive`], takes all of them to their end. A [`Run`] is the folder where it is
//! written down, so that it can be read by anyone and continued bit for bit ([`RunWriter`]).
//!
//! Whether a policy helps is told by a [`Comparison`] of [`Candidate`]s: every classifier is a [`Trial`], all of them
//! together a [`Report`]. After a search on the built-in drawings,
//! [`prove`] is such a comparison. What any of them does to one image is drawn by its [`Augmenter`]; [`Apply`] does it to a
//! folder of images.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use freeaugment_search::{Patch, RunWriter, Run, Search, Setup, Task, resolve};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path().join("run");
//! let few = "drawings_train = 64\ndrawings_validation = 32\nbatch = 16\nepochs = 1\nlayers = 1";
//! let few = Patch { place: "this example".to_owned(), values: few.parse()? };
//! let settings = resolve(Task::Search, "drawings", &[few])?;
//! let setup = Setup::for_search(&settings, &())?;
//! let mut search = Search::new(settings, setup)?;
//!
//! let run = RunWriter::create(&folder, Task::Search, search.settings(), &search.setup().identity, &[])?;
//! run.search(&mut search, &mut (), &AtomicBool::new(false))?;
//!
//! let run = Run::open(&folder)?;
//! assert_eq!(run.epochs()?.len(), 1);
//! println!("{}", run.policy()?.describe()?);
//! # Ok(())
//! # }
//! ```

mod apply;
mod augmenter;
mod compare;
mod config;
mod describe;
mod error;
mod estimate;
mod find;
mod grid;
mod reproduce;
mod run;
mod session;

pub use apply::{Applied, Apply, ApplyProgress, ApplySeconds, ApplySettings};
pub use augmenter::{Augmenter, Drawn};
pub use compare::{
    Budget, Candidate, Comparison, ComparisonObserver, Example, Judged, Proof, Report, Row, Summary, Trial,
    TrialResult, Under, follow_proof, prove, statistics,
};
pub use config::{
    AssignmentChoice, CropChoice, DepthChoice, FIELDS, Field, HypergradientChoice, MagnitudeChoice, Patch,
    Settings, Task, TypesChoice, ValueKind, preset, resolve,
};
pub use describe::{
    Described, Fixed, Found, Learned, Notes, Overview, Planted, Range, Starts, Unreadable, Usage,
};
pub use error::Error;
pub use estimate::{CandidateEstimate, ComparisonEstimate, SearchEstimate};
pub use find::{
    Cutting, DEFAULTS, Find, FindObserver, Measured, Mirroring, Plan, RELATIVES, Reason, Round, Rung,
    Selection, Setups, Stage, Standing, Verdict, WayToCut,
};
pub use grid::{
    Cell, CellState, CellTask, Claim, Collected, CollectedTable, Cost, Fenced, Grid, GridBuilder, GridRow,
    GridTable, Line, Machine, Missing, Patience, PolicySource, Published, Shows, Source, Speed,
};
pub use reproduce::{EXPERIMENTS, Experiment, Scale, Size, Wanted};
pub use run::{
    CycleSlopes, Effective, Environment, GradientNorms, LayerRanges, Phases, Run, RunState, RunWriter,
    SearchEpoch, Share, StateReader, StateWriter, TrainingEpoch, policy_file,
};
pub use session::{
    Augment, ClassCount, DataIdentity, Gallery, Halt, Model, Native, Observer, Pace, Progress, ReadProgress,
    Score, Search, Session, Setup, Shown, Specimen, Step, Trained, Training, agree, drive, evaluate,
    open_data, probability,
};
