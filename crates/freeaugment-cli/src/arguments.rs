//! What can be typed.

pub(crate) mod grid;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use freeaugment_baseline::Baseline;

use crate::flags::{ForComparison, ForFind, ForSearch, SettingFlags};

const EXAMPLES: &str = "\
Examples:
  freeaugment find --data photos/              the one command: a policy for your images, and proof that it helps
  freeaugment search                           on built-in drawings: a first look, some minutes
  freeaugment search --data photos/            on your own images, in photos/CLASS/… for instance
  freeaugment search --data photos/ --dry-run  what would be done, and how long it would take
  freeaugment data photos/                     what is recognised there
  freeaugment resume runs/search-1             go on after an interruption, bit for bit
  freeaugment show runs/search-1               the policy as people want to read it
  freeaugment preview runs/search-1 --data photos/
                                               what it does to your images, as one picture
  freeaugment compare --data photos/ --policies standard,trivial-wide,runs/search-1 --seeds 3
                                               whether it helps: classifiers trained under each, one table
  freeaugment apply runs/find-1 photos/ augmented/ --copies 4
                                               augmented copies, for tools that cannot augment on the fly

Exit codes:
  0    done
  1    something unforeseen
  2    arguments that cannot be understood
  3    a configuration that cannot be
  4    data, a policy file or a published policy that cannot be used
  5    a folder that exists, is in use, is no run or plan, is of something else, or must stay as is
  6    the file system: no space, no permission
  7    the training diverged
  8    a cell of a plan that must wait or was taken over, or a table that lacks cells
  130  interrupted; what was done is saved";

const FIND_HELP: &str = "\
Finds a policy for your images and proves that it helps, within a budget of time.

It looks at the data, measures the machine and plans; a search proposes a policy; whole trainings on validation images \
select among it, variations of it and what people use without a search (crop and flip, TrivialAugment-Wide, RandAugment); \
fresh classifiers on test images say what the selected one is worth, with intervals. Where nothing that was learned does \
better than a default, that default is the policy: it is never worse than the best of them, beyond noise.

The policy is the run's policy.json, the verdict its verdict.json. Images in train/, val/ and test/ stay where they are; \
where there are no such folders they are split by seed. With validation and test images from where the classifier will be \
used, it learns what bridges the difference. Test images are touched by the proof alone.";

const FIND_EXAMPLES: &str = "\
Examples:
  freeaugment find --data photos/
  freeaugment find --data photos/ --budget 20m --dry-run   what would be done
  freeaugment find --data photos/ --budget 3h --network WRN-28-2 --size 64 --out runs/photos

Ctrl-C finishes the step and saves; `freeaugment resume RUN` goes on.";

const SEARCH_HELP: &str = "\
Learns a policy: how many transformations to apply, which, in what order and how strongly.

Without --data it searches on built-in drawings whose right policy is known, and shows what it found beside it. All that \
is learned is written into a run folder; the policy is its policy.json.

Settings come from a preset, a TOML file over it and flags over both. Every setting below is also a key of that file, \
with _ for -. What neither says is decided by the preset:
  drawings     the built-in drawings (the default without --data)
  quick        what a CPU does in reasonable time, looking many steps ahead (the default with --data)
  one-step     the same with the paper's method, which looks one step ahead
  cifar10, cifar100, imagenet100, domainnet
               the paper's settings; they want a GPU or patience
  imagenet100-slack, domainnet-slack
               the same with SLACK's recipe for training";

const SEARCH_EXAMPLES: &str = "\
Examples:
  freeaugment search
  freeaugment search --plant Invert --seed 1
  freeaugment search --data photos/ --size 64 --epochs 40 --out runs/photos
  freeaugment search --data cifar-10/ --preset cifar10 --config mine.toml --dry-run

Ctrl-C finishes the step and saves; `freeaugment resume RUN` goes on. A second Ctrl-C ends the program at once.";

const TRAIN_HELP: &str = "\
Trains classifiers from scratch under a policy, one for each seed, and tells their test accuracy with its 95 % confidence \
interval. Weights, curves and results are written into a run folder.

A policy is a file, the run of a search, or one of the names that `freeaugment compare --help` lists. Presets are those of \
`freeaugment search`, with the paper's settings for training.";

const COMPARE_HELP: &str = "\
Trains classifiers under several policies, with the same budget and the same seeds for each, and prints one table: mean \
test accuracy with its 95 % confidence interval, the difference to the baseline with a paired t-test, and the time.

A policy is a policy file, the run of a search, a file of `freeaugment import`, or one of these:
BASELINES

Every cell (policy and seed) is written down when it is finished and never trained again: the same command with the same \
--out goes on where it was, also with more policies or more seeds.";

/// The help of `compare`, with the baselines that there are.
fn compare_help() -> String {
    let rows = Baseline::all().map(|baseline| (baseline.family(), baseline.description()));
    let own = [("uniform-free", "FreeAugment's own policy before it learns; :K for up to K layers (7)")];
    let rows: Vec<String> =
        rows.chain(own).map(|(name, description)| format!("  {name:25} {description}")).collect();
    COMPARE_HELP.replace("BASELINES", &rows.join("\n"))
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  freeaugment compare --data photos/ --policies standard,trivial-wide,runs/search-1 --seeds 3
  freeaugment compare --data cifar-10/ --policies none,standard,rand:2:14 --images 5000 --epochs 60 --dry-run

Ctrl-C finishes the step and saves; `freeaugment resume RUN` goes on.";

const IMPORT_HELP: &str = "\
Reads a policy that the authors of another search released and writes it as a file for `freeaugment compare`; also as a \
policy file of this program where that can hold it.

Kinds of files:
  slack             SLACK's checkpoints (*.ckpt)
  deepaa            DeepAA's policies (*.npz)
  dada              DADA's genotype.py
  fast-autoaugment  Fast AutoAugment's archive.py
  dra               DRA's policy.py
  pba               PBA's schedules (*.txt)";

const EXPORT_HELP: &str = "\
Writes a learned policy as one file of Python that needs the framework and nothing of this program: it draws from the same \
distribution and applies what it drew with the framework's operations. Its class `FreeAugment` is a transform there.";

const REPORT_HELP: &str = "\
Writes report.html into the folder of a run: one page that needs no network and no script, with the policy in words, \
pictures of what it does, the figures of a search or of a comparison, and what all of it rests on. Beside it report/ holds \
every figure as SVG and PNG and its numbers as CSV. Several runs are shown beside each other on one page.

A run that is not finished, or of which something is missing, is shown as far as it can be; the page says what is missing.";

const PREVIEW_HELP: &str = "\
Draws what a policy does to images into one PNG file: each image beside its samples, and beneath each sample what was done \
to it. A terminal that can show images (kitty, iTerm2 and their like) shows it too.

A policy is a policy file, the run of a search or a find, a file of `freeaugment import`, or one of the names that \
`freeaugment compare --help` lists. Without --data and --image it is shown on built-in drawings. It is the policy alone: \
crop, flip and cutout of a training are left out.

A file that exists is replaced if it is a PNG file, and never one of the images that are shown.";

const PREVIEW_EXAMPLES: &str = "\
Examples:
  freeaugment preview trivial-wide
  freeaugment preview runs/find-1 --data photos/ --grid 6x8
  freeaugment preview runs/search-1 --image cat.jpg dog.jpg --strips --out pets.png
  freeaugment preview rand:2:9 --data photos/ --seed 1   the same images as above, to compare two policies";

const APPLY_HELP: &str = "\
Writes augmented copies of a folder of images, for tools that cannot augment on the fly: IN/cat/1.jpg becomes \
OUT/cat/1.aug1.jpg, OUT/cat/1.aug2.jpg… Where a tool can, let it augment: every epoch then sees new images.

A policy is a policy file, the run of a search or of a find, a file of `freeaugment import`, or one of the names that \
`freeaugment compare --help` lists. The policy alone is applied, no crop and no mirroring.

Images may have any size. Format (JPEG, PNG, WebP, BMP), grey, transparency and colour profile stay; an orientation in the \
EXIF data is applied, its other entries are not taken over; of 16 bits a channel 8 are kept. WebP is written without loss.

What is done to an image depends on the seed, its name and the number of the copy, on nothing else, and stands in \
OUT/manifest.csv. The same command goes on where it was interrupted. Nothing is written into IN, and nothing into a folder \
with files of others.";

const APPLY_EXAMPLES: &str = "\
Examples:
  freeaugment apply runs/find-1 photos/train augmented --copies 4 --include-originals
  freeaugment apply trivial-wide photos/train augmented --seed 7 --quality 90

Ctrl-C finishes the images under way; the same command goes on.";

/// Learns which augmentations your images and your network want: how many, which, in what order and how strongly.
#[derive(Debug, Parser)]
#[command(name = "freeaugment", bin_name = "freeaugment", version, after_long_help = EXAMPLES, max_term_width = 110)]
#[command(disable_help_subcommand = true, args_override_self = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find a policy for your images, and prove that it helps
    #[command(long_about = FIND_HELP, after_long_help = FIND_EXAMPLES)]
    Find(Box<FindArguments>),
    /// Learn a policy
    #[command(long_about = SEARCH_HELP, after_long_help = SEARCH_EXAMPLES)]
    Search(Box<SearchArguments>),
    /// Train classifiers under a policy
    #[command(long_about = TRAIN_HELP)]
    Train(Box<TrainArguments>),
    /// Train classifiers under several policies and compare them
    #[command(long_about = compare_help(), after_long_help = COMPARE_EXAMPLES)]
    Compare(Box<CompareArguments>),
    /// Write a plan of many searches and trainings, for any number of machines
    #[command(long_about = grid::PLAN_HELP, after_long_help = grid::PLAN_EXAMPLES)]
    Plan(Box<grid::PlanArguments>),
    /// Work on one cell of a plan
    #[command(long_about = grid::CELL_HELP)]
    Cell(grid::CellArguments),
    /// Make the tables of a plan from what is finished
    #[command(long_about = grid::COLLECT_HELP)]
    Collect(grid::CollectArguments),
    /// Measure a table or a figure of the paper
    #[command(long_about = grid::REPRODUCE_HELP)]
    Reproduce(grid::ReproduceArguments),
    /// Read a policy that another search published
    #[command(long_about = IMPORT_HELP)]
    Import(ImportArguments),
    /// Write a policy as a Python file for a framework
    #[command(long_about = EXPORT_HELP)]
    Export(ExportArguments),
    /// Write augmented copies of a folder of images
    #[command(long_about = APPLY_HELP, after_long_help = APPLY_EXAMPLES)]
    Apply(ApplyArguments),
    /// Go on with what was interrupted: a find, a search, a training or a comparison
    Resume(ResumeArguments),
    /// Show what a policy does, or what a comparison found
    Show(ShowArguments),
    /// Show what a policy does to images, as one picture
    #[command(long_about = PREVIEW_HELP, after_long_help = PREVIEW_EXAMPLES)]
    Preview(PreviewArguments),
    /// Write a page with figures and pictures of a run, or of several
    #[command(long_about = REPORT_HELP)]
    Report(ReportArguments),
    /// Show what is recognised in a folder of images
    Data(DataArguments),
}

#[derive(Debug, Args)]
pub(crate) struct FindArguments {
    /// Do what the plan.json of another run says, whatever this machine is and however long it takes
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) manner: Manner,
    #[command(flatten)]
    pub(crate) settings: SettingFlags<ForFind>,
}

#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) manner: Manner,
    #[command(flatten)]
    pub(crate) settings: SettingFlags<ForSearch>,
}

/// Where settings come from, and where the run goes.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// The preset: settings with a name
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// A TOML file of settings, over the preset and under the flags; it may name the preset
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The folder of the run; a new one must not exist or be empty [default: the next free one in runs/]
    #[arg(long, value_name = "RUN")]
    pub(crate) out: Option<PathBuf>,
    /// Tell the plan and, after timing a few steps, how long it will take; write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TrainArguments {
    /// The policy to train under
    #[arg(long, value_name = "POLICY")]
    pub(crate) policy: String,
    #[command(flatten)]
    pub(crate) trials: Trials,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// The policies to compare
    #[arg(long, value_name = "A,B…", value_delimiter = ',', required = true)]
    pub(crate) policies: Vec<String>,
    /// The one that the others are compared with [default: standard, or the first]
    #[arg(long, value_name = "POLICY")]
    pub(crate) baseline: Option<String>,
    /// Train nothing: write a plan of the cells into this folder, for any number of machines
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    pub(crate) plan: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) trials: Trials,
}

/// What `train` and `compare` have in common.
#[derive(Debug, Args)]
pub(crate) struct Trials {
    /// Classifiers for each policy; they have the seeds 1, 2, 3…
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    #[command(flatten)]
    pub(crate) source: Source,
    #[command(flatten)]
    pub(crate) manner: Manner,
    #[command(flatten)]
    pub(crate) settings: SettingFlags<ForComparison>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Whose file it is
    pub(crate) kind: String,
    /// The file
    pub(crate) file: PathBuf,
    /// Which of its policies, where it holds several
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The file to write; the policy file, where there is one, is written beside it [default: its name, in this folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The policy file, or the run of a search
    pub(crate) policy: PathBuf,
    /// The framework
    #[arg(long, value_name = "FRAMEWORK")]
    pub(crate) to: Framework,
    /// The file to write [default: freeaugment_FRAMEWORK.py, in this folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Frameworks that policies are written for.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Framework {
    Torchvision,
    Albumentations,
    Kornia,
}

#[derive(Debug, Args)]
pub(crate) struct ApplyArguments {
    /// A policy file, the run of a search or of a find, or the name of a policy
    pub(crate) policy: String,
    /// The folder of images, with folders in it or not
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The folder to write: a new one, an empty one, or one that the same command began
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Augmented copies of each image
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) copies: u32,
    /// Copy the images themselves too, byte for byte
    #[arg(long)]
    pub(crate) include_originals: bool,
    /// The seed: another one, other copies
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// The quality of JPEG files, 1 to 100
    #[arg(long, value_name = "Q", default_value_t = 95, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) quality: u8,
    /// How many images may be unreadable (they are named and skipped)
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) max_unreadable: usize,
    /// Threads that compute; the result does not depend on them [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print one JSON object for the outcome, and no table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ResumeArguments {
    /// The folder of the run
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) manner: Manner,
}

/// How work is carried out, whatever it is; nothing of this changes its result.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Manner {
    /// Threads that compute; the result does not depend on them [default: as many as there are cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    #[command(flatten)]
    pub(crate) record: Record,
    /// Say nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Print one JSON object per epoch and one for the outcome, and no tables
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is written of a run for people to look at.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Record {
    /// Write no page: else report.html in the run shows how far it is, and at the end what came of it
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Also write event files for TensorBoard into the run; a run that has them goes on with them
    #[arg(long)]
    pub(crate) tensorboard: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// A policy file, or the folder of a run: of a find its verdict, of a search its policy, of a comparison its table
    pub(crate) policy: PathBuf,
    /// Every number of every layer of a policy
    #[arg(long, conflicts_with = "json")]
    pub(crate) full: bool,
    /// Print one JSON object and no tables
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The folders of runs: searches, comparisons, trainings, finds
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// The page to write [default: report.html in the run, or in this folder for several runs]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// No pictures: the data is not read
    #[arg(long)]
    pub(crate) no_pictures: bool,
    /// Also write event files for TensorBoard into the runs
    #[arg(long)]
    pub(crate) tensorboard: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PreviewArguments {
    /// What is shown: a policy file, a run, or the name of a baseline
    pub(crate) policy: String,
    /// A folder or file with images, of which a few are shown
    #[arg(long, value_name = "FOLDER", conflicts_with = "image")]
    pub(crate) data: Option<PathBuf>,
    /// Images to show
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) image: Vec<PathBuf>,
    /// The file to write [default: preview-POLICY.png, in this folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How many images, and how many samples of each [default: 4x6; with --image a row for each]
    #[arg(long, value_name = "ROWSxCOLUMNS")]
    pub(crate) grid: Option<Grid>,
    /// The seed of the samples
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Also each transformation of a learned policy, from its lower to its upper magnitude
    #[arg(long)]
    pub(crate) strips: bool,
    /// Images are made smaller until their longer side has so many pixels, before the policy
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) size: u16,
}

/// Rows and columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) rows: usize,
    pub(crate) columns: u32,
}

impl std::str::FromStr for Grid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const MOST: u32 = 50;
        let number = |text: &str| text.parse().ok().filter(|number| (1..=MOST).contains(number));
        let pair = text.split_once(['x', '×']).and_then(|(a, b)| Some((number(a)?, number(b)?)));
        let (rows, columns) =
            pair.ok_or_else(|| format!("write rows and columns as in `4x6`, each from 1 to {MOST}"))?;
        Ok(Self { rows: rows as usize, columns })
    }
}

#[derive(Debug, Args)]
pub(crate) struct DataArguments {
    /// A folder or file with images; the built-in drawings where there is none
    pub(crate) folder: Option<PathBuf>,
    /// All classes, however many there are
    #[arg(long)]
    pub(crate) full: bool,
    /// Draw a few images of each class, training above validation or test, into this PNG file
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// Print one JSON object and no tables
    #[arg(long)]
    pub(crate) json: bool,
}
