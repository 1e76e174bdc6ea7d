//! Folders of runs, made in no time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use freeaugment_search::{Comparison, Patch, Run, RunWriter, Search, Settings, Setup, Task, resolve};

/// One step of the smallest network on a few drawings.
const FEW: &str =
    "drawings_train = 32\ndrawings_validation = 16\nbatch = 16\nepochs = 1\nnetwork = \"WRN-10-1\"\n";

fn settings(task: Task, folder: &Path) -> Settings {
    let path = folder.join("few.toml");
    let layers = if task == Task::Search { "layers = 1\n" } else { "" };
    fs::write(&path, format!("{FEW}{layers}")).expect("a file can be written");
    let few = Patch::read(&path).expect("it is TOML");
    resolve(task, "drawings", &[few]).expect("sound settings")
}

/// A search at its beginning.
pub fn small_search() -> Search {
    let folder = std::env::temp_dir().join(format!("freeaugment-fuzz-settings-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder can be made");
    let settings = settings(Task::Search, &folder);
    let _ = fs::remove_dir_all(&folder);
    let setup = Setup::for_search(&settings, &()).expect("drawings need no files");
    Search::new(settings, setup).expect("sound settings")
}

/// A finished search and a finished comparison, file by file.
pub struct Runs {
    /// Every file: the folder of its run, where it is, and what it holds.
    pub files: Vec<(PathBuf, PathBuf, Vec<u8>)>,
}

impl Runs {
    /// Makes both in a folder for temporary files, or in place of those that an earlier process of this number left.
    pub fn make() -> Self {
        let root = std::env::temp_dir().join(format!("freeaugment-fuzz-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).expect("a folder can be made");
        let (search, comparison) = (root.join("search"), root.join("comparison"));
        let go_on = AtomicBool::new(false);

        let mut session = small_search();
        let run =
            RunWriter::create(&search, Task::Search, session.settings(), &session.setup().identity, &[])
                .expect("a run can be written");
        run.search(&mut session, &mut (), &go_on).expect("a search of one epoch");

        let settings = settings(Task::Comparison, &root);
        let setup = Setup::for_training(&settings, &()).expect("drawings need no files");
        let names = ["standard".to_owned(), search.join("policy.json").display().to_string()];
        let all = Comparison::new(&names, None, 1, &settings).expect("sound candidates");
        let run = all.create(&comparison, &settings, &setup, &[]).expect("a run can be written");
        all.run(&run, &settings, &setup, &mut (), &go_on).expect("trainings of one epoch");

        let mut files = Vec::new();
        for run in [search, comparison] {
            gather(&run, &run, &mut files);
        }
        files.sort();
        Self { files }
    }

    /// The state that the search ended with.
    pub fn checkpoint(&self) -> &[u8] {
        let is_checkpoint = |path: &Path| path.ends_with("search/checkpoint.safetensors");
        &self.files.iter().find(|(_, path, _)| is_checkpoint(path)).expect("a search leaves its state").2
    }
}

fn gather(run: &Path, folder: &Path, files: &mut Vec<(PathBuf, PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            gather(run, &path, files);
        } else if !matches!(&*name, "lock" | "log.txt" | "result.md")
            && !name.ends_with("weights.safetensors")
        {
            let bytes = fs::read(&path).expect("it was written");
            files.push((run.to_owned(), path, bytes));
        }
    }
}

/// The header of a checkpoint, without its length, and its numbers.
pub fn split_checkpoint(file: &[u8]) -> (&[u8], &[u8]) {
    let (length, rest) = file.split_first_chunk().expect("a sound checkpoint");
    rest.split_at(u64::from_le_bytes(*length) as usize)
}

/// Reads one file of a run through the reader that is for it, whatever is wrong with it. Other files are sound, so reading
/// them each time would find nothing.
pub fn read_file(folder: &Path, file: &Path) {
    let Ok(run) = Run::open(folder) else { return };
    let is_own = file.parent() == Some(folder);
    match file.file_name().and_then(|name| name.to_str()).unwrap_or_default() {
        "run.json" => {}
        "config.toml" => drop(run.settings()),
        "environment.json" => drop(run.environment()),
        "checkpoint.safetensors" => drop(run.state()),
        "metrics.jsonl" if is_own => drop(run.epochs()),
        "policy.json" if is_own => drop(run.policy()),
        "result.json" if is_own => drop(run.report()),
        "proof.json" => drop(run.proof()),
        name if name.starts_with("epoch-") => drop(run.policies()),
        // The list of candidates, their policies, and what their trainings left.
        _ => {
            let Ok(comparison) = run.comparison() else { return };
            let _ = comparison.summary(&run);
            for trial in comparison.trials(&run).iter().take(8) {
                drop(trial.epochs());
            }
        }
    }
}
