//! Plans of cells, and who may write to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use freeaugment_search::{
    CellState, Claim, ComparisonObserver, Cost, Error, Fenced, Grid, GridBuilder, GridRow, GridTable, Patch,
    PolicySource, Setup, Shows, Step, Task, Training, Trial, resolve,
};
use tempfile::tempdir;

const NOTHING: Cost = Cost { seconds: 0.0, mib: 0 };

/// A plan of one training on the drawings.
fn one_training(folder: &Path) -> Grid {
    let few = "drawings_train = 64\ndrawings_validation = 16\nbatch = 16\nepochs = 6\nevaluate_every = 0";
    let few = Patch { place: "this test".to_owned(), values: few.parse().unwrap() };
    let settings = resolve(Task::Comparison, "drawings", &[few]).unwrap();
    let mut builder = GridBuilder::new("a test");
    let cell = builder.train(&settings, &PolicySource::Name("trivial".to_owned()), 1, None, NOTHING);
    let row = GridRow { name: "trivial".to_owned(), published: None, cells: vec![cell] };
    let title = "accuracy".to_owned();
    builder.table(GridTable { title, shows: Shows::Accuracy, baseline: None, rows: vec![row] });
    builder.write(folder, None).unwrap()
}

fn claim(grid: &Grid) -> Result<Option<Claim>, Error> {
    grid.claim(&grid.cells()[0], &mut |_, _| (), &AtomicBool::new(false))
}

/// All files below a folder with what is in them.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), std::fs::read(path).unwrap());
        }
    }
    found
}

/// After so many steps another process takes the cell over.
struct Usurper<'a> {
    grid: &'a Grid,
    steps: usize,
    left: Option<BTreeMap<PathBuf, Vec<u8>>>,
}

impl ComparisonObserver for Usurper<'_> {
    fn step(&mut self, _number: usize, _trial: &Trial, _training: &Training, _step: &Step) {
        self.steps += 1;
        if self.steps == 10 {
            let claims = self.grid.folder().join("claims");
            let name = &self.grid.cells()[0].name;
            std::fs::copy(claims.join(format!("{name}.1.json")), claims.join(format!("{name}.2.json")))
                .unwrap();
            self.left = Some(files(&self.grid.folder_of(&self.grid.cells()[0])));
        }
    }
}

#[test]
fn whoever_has_lost_its_claim_writes_nothing_more() {
    let folder = tempdir().unwrap();
    let grid = one_training(&folder.path().join("plan"));
    let cell = &grid.cells()[0];
    let settings = grid.settings(cell, None).unwrap();
    let setup = Setup::for_training(&settings, &()).unwrap();
    let held = claim(&grid).unwrap().unwrap();
    let (comparison, run) = grid.training(cell, &held, &settings, &setup, &[]).unwrap();
    let mut usurper = Usurper { grid: &grid, steps: 0, left: None };
    let mut fenced = Fenced { claim: &held, observer: &mut usurper };
    let error = comparison.run(&run, &settings, &setup, &mut fenced, &AtomicBool::new(false)).unwrap_err();
    assert!(matches!(error, Error::ClaimLost { .. }), "{error}");
    // Four steps are an epoch: the third epoch, in which it was taken over, is not written down.
    assert_eq!(usurper.steps, 12);
    let left = usurper.left.unwrap();
    assert!(left.keys().any(|path| path.ends_with("metrics.jsonl")));
    assert_eq!(files(&grid.folder_of(cell)), left);
    assert!(matches!(held.release().unwrap_err(), Error::ClaimLost { .. }));
}

#[test]
fn of_many_who_want_a_cell_one_has_it() {
    let folder = tempdir().unwrap();
    let grid = one_training(&folder.path().join("plan"));
    for round in 1..=20 {
        let found: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| claim(&grid))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let (mut held, mut refused) = (Vec::new(), 0);
        for found in found {
            match found {
                Ok(found) => held.extend(found),
                Err(Error::CellTaken { .. }) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!((held.len(), refused), (1, 7), "round {round}");
        held.pop().unwrap().release().unwrap();
    }
}

#[test]
fn a_claim_that_was_dropped_holds_as_long_as_its_process_lives() {
    let folder = tempdir().unwrap();
    let grid = one_training(&folder.path().join("plan"));
    assert_eq!(grid.state(&grid.cells()[0]).unwrap(), CellState::New);
    drop(claim(&grid).unwrap());
    // This process is there, so that its claim is not dead.
    if cfg!(target_os = "linux") {
        assert!(matches!(claim(&grid), Err(Error::CellTaken { .. })));
    }
}
