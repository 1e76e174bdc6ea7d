//! A search around a model that lives in Python: its settings, its folder, its end.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use freeaugment::{Estimator, Policy};
use freeaugment_search::{
    DataIdentity, FIELDS, Halt, Observer, Patch, Run, RunWriter, Search, SearchEpoch, Session as _, Settings,
    Step, Task, resolve,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::PolicyError;
use crate::guest::{Guest, to_python};

/// What the optimiser and the loaders decide, in place of settings.
#[derive(FromPyObject)]
pub(crate) struct Around {
    network: String,
    batch: usize,
    learning_rate: f64,
    momentum: f64,
    weight_decay: f64,
}

/// Settings that are a matter of whoever brings a model, a loader and an optimiser.
fn is_open(name: &str, group: &str) -> bool {
    match group {
        "Policy" => true,
        "Search" => name != "proof_epochs",
        _ => matches!(name, "seed" | "epochs" | "evaluate_every"),
    }
}

/// What a policy that is given has decided already.
fn is_of_policy(name: &str, group: &str) -> bool {
    group == "Policy" && !matches!(name, "estimator" | "frozen")
}

/// The settings of a search: a preset, what was given, and what the model brings with it.
#[pyclass(frozen, name = "SearchSettings", module = "freeaugment._native")]
pub(crate) struct NativeSettings {
    settings: Settings,
    policy: Policy,
}

#[pymethods]
impl NativeSettings {
    /// `given` are settings as JSON, `policy` the text of a policy file to begin with.
    #[new]
    fn new(preset: &str, given: &str, policy: Option<&str>, around: Around) -> PyResult<Self> {
        let refused = |message: String| PyValueError::new_err(message);
        let values: toml::Table = serde_json::from_str(given).map_err(|error| refused(error.to_string()))?;
        for name in values.keys() {
            let Some(field) = FIELDS.iter().find(|field| field.name == name) else { continue };
            if !is_open(field.name, field.group) {
                let reason = "is decided by your model, your loaders and your optimizer";
                return Err(refused(format!("`{name}` {reason}")));
            }
            if policy.is_some() && is_of_policy(field.name, field.group) {
                return Err(refused(format!("`{name}` is decided by the policy that was given")));
            }
        }
        let patch = Patch { place: "freeaugment.torch.Search".to_owned(), values };
        let settings = resolve(Task::Search, preset, &[patch]).map_err(to_python)?;
        let settings = Settings {
            network: format!("own:{}", around.network),
            data: "own".to_owned(),
            images: 0,
            cutout: 0,
            device: "cpu".to_owned(),
            batch: around.batch,
            learning_rate: around.learning_rate,
            momentum: around.momentum,
            weight_decay: around.weight_decay,
            proof_epochs: 0,
            ..settings
        };
        let policy = policy
            .map(|text| Policy::from_json(text.as_bytes()))
            .transpose()
            .map_err(|error| PolicyError::new_err(error.to_string()))?;
        let settings = match &policy {
            Some(policy) => settings.with_policy(policy.config()),
            None => settings,
        };
        settings.check().map_err(to_python)?;
        let config = settings.policy_config().map_err(to_python)?;
        let policy = match policy {
            Some(policy) => Policy::new(config, policy.parameters().clone()),
            None => config.init(),
        };
        Ok(Self { settings, policy: policy.map_err(|error| PyValueError::new_err(error.to_string()))? })
    }

    #[getter]
    fn horizon(&self) -> u64 {
        self.settings.horizon
    }

    #[getter]
    fn horizon_mib(&self) -> u64 {
        self.settings.horizon_mib
    }

    #[getter]
    fn cycle_batches(&self) -> usize {
        self.settings.cycle_batches
    }

    #[getter]
    fn epochs(&self) -> u64 {
        self.settings.epochs
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.settings.seed
    }

    #[getter]
    fn validation_momentum(&self) -> f64 {
        self.settings.validation_momentum
    }

    /// Whether the gradient is a difference in place of the exact one.
    #[getter]
    fn differs(&self) -> bool {
        self.settings.hypergradient == freeaugment_search::HypergradientChoice::Difference
    }

    /// Whether every image's own loss is needed.
    #[getter]
    fn needs_parts(&self) -> bool {
        self.settings.estimator == Estimator::Gain
    }

    /// Takes all steps that are left of the run in this folder, a new one where there is none. Returns whether it came to its
    /// end; if not, someone stopped it and it is saved.
    fn run(
        &self,
        py: Python<'_>,
        model: Py<PyAny>,
        folder: PathBuf,
        data: (String, usize, usize),
        per_epoch: u64,
        command: Vec<String>,
    ) -> PyResult<bool> {
        let (title, training, validation) = data;
        // Loaders show images only while they change them: what the images are cannot be told from them.
        let fingerprint = "unknown".to_owned();
        let data = DataIdentity { title, training, validation, test: 0, fingerprint };
        let stop = AtomicBool::new(false);
        let mut watch = Watch { model: model.clone_ref(py), stop: &stop };
        py.detach(|| {
            let guest = Guest::new(model, &self.settings, data.clone(), per_epoch)?;
            let mut search = Search::with_model(self.settings.clone(), guest, self.policy.clone())?;
            let run = if Run::open(&folder).is_ok() {
                let run = RunWriter::open(&folder)?;
                run.require(Task::Search)?;
                run.require_data(&data)?;
                if let Some((key, own, others)) = self.settings.difference(Task::Search, &run.settings()?) {
                    return Err(freeaugment_search::Error::OtherSettings { path: folder, key, own, others });
                }
                run.restore(&mut search)?;
                run
            } else {
                RunWriter::create(&folder, Task::Search, &self.settings, &data, &command)?
            };
            if search.progress().is_finished() {
                return Ok(true);
            }
            let halt = run.search(&mut search, &mut watch, &stop)?;
            Ok(halt == Halt::Finished)
        })
        .map_err(to_python)
    }
}

/// Whom the search tells what happens: Python, which may want it to stop.
struct Watch<'a> {
    model: Py<PyAny>,
    stop: &'a AtomicBool,
}

impl Observer<Search<Guest>> for Watch<'_> {
    fn step(&mut self, _: &Search<Guest>, _: &Step) {
        let wanted = Python::attach(|py| self.model.getattr(py, "is_stopped")?.extract(py));
        self.stop.store(wanted.unwrap_or(true), Ordering::Relaxed);
    }

    fn epoch(&mut self, search: &Search<Guest>, epoch: &SearchEpoch) {
        let line = serde_json::to_string(epoch).unwrap_or_default();
        let epochs = search.settings().epochs;
        // What cannot be shown is no reason to end a search.
        let _ = Python::attach(|py| self.model.call_method1(py, "told", (line, epochs)));
    }
}

/// The first free name for a search among the runs of a folder.
#[pyfunction]
pub(crate) fn free_run(parent: PathBuf) -> PathBuf {
    RunWriter::free_name(&parent, "search")
}
