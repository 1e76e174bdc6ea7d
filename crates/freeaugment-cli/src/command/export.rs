//! `freeaugment export`

use std::path::PathBuf;

use freeaugment::Policy;
use freeaugment_baseline::BaselineFile;
use freeaugment_search::{Error, policy_file};

use crate::arguments::{ExportArguments, Framework};
use crate::exit::{Ending, Failure};
use crate::output::print;

/// Drawing from a policy, for every framework.
const SAMPLE: &str = include_str!("../export/sample.py");
/// What Kornia does to a batch of which it is known what was drawn; the Python package has no other.
pub(crate) const KORNIA_OPERATIONS: &str = include_str!("../export/kornia_operations.py");

pub(crate) fn run(arguments: &ExportArguments) -> Result<Ending, Failure> {
    let path = policy_file(&arguments.policy)?;
    if std::fs::read(&path).is_ok_and(|text| BaselineFile::recognises(&text)) {
        let reason = "is a baseline, and frameworks have those of their own: learned policies are exported";
        return Err(Error::NotARun { path, reason: reason.to_owned() }.into());
    }
    let policy = Policy::load(&path).map_err(Error::from)?;
    let out = arguments.out.clone().unwrap_or_else(|| file_name(arguments.to));
    let text = export(policy, arguments.to)?;
    freeaugment_base::write_atomically(&out, text.as_bytes())
        .map_err(|source| Error::Io { path: out.clone(), source })?;
    let module = out.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    print(&format!("{}: from {module} import FreeAugment", out.display()))?;
    Ok(Ending::Done)
}

fn file_name(framework: Framework) -> PathBuf {
    format!("freeaugment_{}.py", name(framework)).into()
}

fn name(framework: Framework) -> &'static str {
    match framework {
        Framework::Torchvision => "torchvision",
        Framework::Albumentations => "albumentations",
        Framework::Kornia => "kornia",
    }
}

/// One file of Python that needs nothing but the framework.
fn export(mut policy: Policy, framework: Framework) -> Result<String, Error> {
    let operations = match framework {
        Framework::Torchvision => include_str!("../export/torchvision.py").to_owned(),
        Framework::Albumentations => include_str!("../export/albumentations.py").to_owned(),
        Framework::Kornia => format!("{KORNIA_OPERATIONS}\n\n{}", include_str!("../export/kornia.py")),
    };
    // Texts of others do not belong into a program.
    policy.provenance_mut().clear();
    let document = policy.to_json()?;
    let head = format!(
        "\"\"\"A learned augmentation policy for {}, written by freeaugment {}: use `FreeAugment`.\"\"\"\n\n",
        name(framework),
        env!("CARGO_PKG_VERSION")
    );
    // Imports come first, as in every file.
    let (imports, rest): (Vec<&str>, Vec<&str>) =
        operations.lines().partition(|line| line.starts_with("import ") || line.starts_with("from "));
    let sample = SAMPLE.replace("@POLICY@", document.trim());
    let (own, body) = sample.split_once("\n\nPOLICY").expect("the sample has a policy");
    let rest = rest.join("\n");
    Ok(format!("{head}{own}\n{}\n\nPOLICY{body}\n\n{}\n", imports.join("\n"), rest.trim()))
}
