//! What can be typed for plans of many cells.

use std::path::PathBuf;

use clap::Args;
use freeaugment_search::Scale;

use super::{Manner, Trials};

pub(crate) const PLAN_HELP: &str = "\
Writes a plan: a folder with a list of cells, each a search or a training that any machine can take up. Nothing is trained. \
With --search every seed has a search of its own, and the classifier of that seed is trained under what it learned as well.

Cells count from 0, searches first. `freeaugment cell PLAN INDEX` works on one, here or on any machine that sees the folder; \
`freeaugment collect PLAN` makes the table.";

pub(crate) const PLAN_EXAMPLES: &str = "\
Examples:
  freeaugment plan --data photos/ --policies standard,trivial-wide --search --seeds 5 --out grids/photos
  freeaugment cell grids/photos 0
  freeaugment collect grids/photos";

pub(crate) const CELL_HELP: &str = "\
Works on one cell of a plan until it is finished. A cell that is finished is left as it is; one that was begun goes on where \
it was saved, here or on another machine, and ends with the same bytes; one that another process works on is left to it.

Without INDEX it is that of a job array: SLURM_ARRAY_TASK_ID or JOB_COMPLETION_INDEX. Both, as INDEX, count from 0.

Ctrl-C, SIGTERM and SIGHUP finish the step and save; the same command goes on.";

pub(crate) const COLLECT_HELP: &str = "\
Makes the tables of a plan from the cells that are finished: result.md, result.csv and result.json in its folder, and printed; \
and a figure of each in its figures/, as SVG and PNG with the numbers as CSV. \
What is missing is named, and the exit code is then 8.";

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    /// The policies to compare
    #[arg(long, value_name = "A,B…", value_delimiter = ',', required = true)]
    pub(crate) policies: Vec<String>,
    /// The one that the others are compared with [default: standard, or the first]
    #[arg(long, value_name = "POLICY")]
    pub(crate) baseline: Option<String>,
    /// Also a search for every seed, and a training under what it learned
    #[arg(long)]
    pub(crate) search: bool,
    /// A TOML file of settings for the searches; data, pipeline, network and device are those of the trainings
    #[arg(long, value_name = "FILE", requires = "search")]
    pub(crate) search_config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) trials: Trials,
}

#[derive(Debug, Args)]
pub(crate) struct CellArguments {
    /// The folder of the plan
    pub(crate) plan: PathBuf,
    /// The index of the cell, from 0
    pub(crate) index: Option<u64>,
    /// Added to the index: for job arrays that count from 0 and are for later cells
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,
    /// The folder of the data, where it lies elsewhere than the plan says
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) manner: Manner,
}

#[derive(Debug, Args)]
pub(crate) struct CollectArguments {
    /// The folder of the plan
    pub(crate) plan: PathBuf,
    /// Print one JSON object and no tables
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) const REPRODUCE_HELP: &str = "\
Measures a table or a figure of the FreeAugment paper: every row with what was published and with what is measured here. \
`freeaugment reproduce list` shows which there are and what they take.

Scales:
  paper  the paper's settings; for many machines, or patience
  small  500 images (or 10 of each class), WRN-10-1, 200 epochs, 3 seeds: what two cores manage, and where policies differ
  tiny   seconds on the built-in drawings: it proves that the plumbing holds, and nothing about any policy

It is a plan (see `freeaugment plan --help`) whose cells are worked on one after the other. The same command goes on where it \
was. With --plan-only nothing is trained, and any number of machines can work on the cells.";

#[derive(Debug, Args)]
pub(crate) struct ReproduceArguments {
    /// The name of the table or figure, or `list`
    pub(crate) name: String,
    /// The folder with the data sets, as docs/reproduce.md says
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// How large
    #[arg(long, value_name = "paper|small|tiny", default_value = "paper", value_parser = scale)]
    pub(crate) scale: Scale,
    /// Write the plan and train nothing
    #[arg(long)]
    pub(crate) plan_only: bool,
    /// The folder of the plan; one that holds the same plan is gone on with [default: runs/NAME-SCALE]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Seeds of every row [default: the paper's 5 or 4; small: 3; tiny: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: Option<u64>,
    /// The preset of searches [default: the paper's; small: one-step]
    #[arg(long, value_name = "NAME")]
    pub(crate) search_preset: Option<String>,
    /// A published policy for one of the rows, or for a row of its own, such as SLACK=slack.json
    #[arg(long, value_name = "ROW=FILE")]
    pub(crate) policy: Vec<String>,
    /// Where classifiers are computed
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    pub(crate) device: String,
    #[command(flatten)]
    pub(crate) manner: Manner,
}

fn scale(text: &str) -> Result<Scale, String> {
    let found = Scale::ALL.into_iter().find(|scale| scale.name() == text);
    found.ok_or_else(|| "there are paper, small and tiny".to_owned())
}
