//! All that changes while a search runs, in one safetensors file.

use std::path::Path;

use freeaugment::Parameters;

use crate::error::Error;
use crate::metric::Tally;
use crate::search::Search;
use crate::settings::{Settings, Task};
use crate::state::{Reader, Writer, broken};

/// Names of the groups of the policy's optimiser, in its order.
const GROUPS: [&str; 3] = ["depth", "types", "magnitudes"];

/// Writes a checkpoint: whole or not at all.
pub(crate) fn save(search: &Search, path: &Path) -> Result<(), Error> {
    let mut file = Writer::default();
    file.classifier(&search.classifier, &search.sgd);
    let parameters = search.policy.parameters();
    file.singles("policy.depth", parameters.depth());
    file.singles("policy.types", parameters.types());
    for (name, values) in ["policy.magnitudes.0", "policy.magnitudes.1"].iter().zip(parameters.magnitudes()) {
        file.singles(name, values);
    }
    if let Some(direction) = &search.direction {
        file.singles("direction", direction.values());
    }
    file.entry("settings", search.settings.to_toml(Task::Search));
    file.entry("data", format!("{:016x}", search.plan.fingerprint));
    file.entry("step", search.step.to_string());
    file.entry("tally", serde_json::to_string(&search.tally).expect("a tally is plain numbers"));
    for (group, name) in GROUPS.iter().enumerate() {
        let (steps, first, second) = search.adam.state(group).expect("three groups");
        file.entry(&format!("adam.{name}.steps"), steps.to_string());
        for (moment, values) in [("first", first), ("second", second)] {
            file.doubles(&format!("adam.{name}.{moment}"), values);
        }
    }
    file.write(path)
}

/// Puts a search at its beginning where the checkpoint was; refuses one of another configuration or of other data.
pub(crate) fn load(search: &mut Search, path: &Path) -> Result<(), Error> {
    let bytes = std::fs::read(path).map_err(Error::io(path))?;
    let file = Reader::new(path, &bytes)?;
    let settings = Settings::from_toml(Task::Search, file.entry("settings")?)
        .map_err(|reason| broken(path, &format!("its settings: {reason}")))?;
    if let Some((key, own, others)) = search.settings.difference(Task::Search, &settings) {
        let reason = format!(
            "belongs to another configuration: `{key}` is {own} in the run's configuration, but {others} here"
        );
        return Err(Error::Checkpoint { path: path.to_owned(), reason });
    }
    if file.entry("data")? != format!("{:016x}", search.plan.fingerprint) {
        let reason = "the data has changed since this run began: put it back as it was, or begin a new run";
        return Err(Error::Checkpoint { path: path.to_owned(), reason: reason.to_owned() });
    }
    let step: u64 = file.number("step")?;
    if step > search.steps_total() {
        return Err(broken(path, &format!("step {step} lies beyond the end of the run")));
    }
    let tally: Tally = serde_json::from_str(file.entry("tally")?)
        .map_err(|error| broken(path, &format!("its tally: {error}")))?;

    file.classifier(&mut search.classifier, &mut search.sgd)?;
    let parameters: &mut Parameters = search.policy.parameters_mut();
    file.singles("policy.depth", parameters.depth_mut())?;
    file.singles("policy.types", parameters.types_mut())?;
    let [first, second] = parameters.magnitudes_mut();
    file.singles("policy.magnitudes.0", first)?;
    file.singles("policy.magnitudes.1", second)?;
    for (group, name) in GROUPS.iter().enumerate() {
        let steps = file.number(&format!("adam.{name}.steps"))?;
        let moments = ["first", "second"].map(|moment| file.doubles(&format!("adam.{name}.{moment}")));
        let [first, second] = moments;
        search.adam.set_state(group, steps, &first?, &second?)?;
    }
    search.direction = file.weights("direction", &search.classifier)?;
    (search.step, search.tally) = (step, tally);
    Ok(())
}
