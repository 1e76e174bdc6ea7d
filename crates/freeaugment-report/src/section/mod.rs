//! The parts of a page, by what a run is.

pub(crate) mod comparison;
pub(crate) mod find;
pub(crate) mod search;
pub(crate) mod several;

use freeaugment_search::Run;

use crate::page::Page;

/// What a page is called: what the run is, and the name of its folder, by which tabs of a browser are told apart.
pub(crate) fn title(what: &str, run: &Run) -> String {
    let folder = run.folder().canonicalize().unwrap_or_else(|_| run.folder().to_owned());
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    name.map_or_else(|| what.to_owned(), |name| format!("{what}: {name}"))
}

/// Settings, data and machine: what all of it rests on.
pub(crate) fn ground(page: &mut Page, run: &Run) {
    page.heading("What this rests on");
    let mut rows = vec![vec!["run".to_owned(), run.folder().display().to_string()]];
    rows.push(vec!["data".to_owned(), run.data().to_string()]);
    let environment = run.environment();
    if let Some(environment) = page.try_read(environment) {
        let machine =
            format!("{} cores, {} on {}", environment.cores, environment.architecture, environment.system);
        rows.push(vec!["program".to_owned(), environment.program]);
        rows.push(vec!["begun".to_owned(), environment.begun]);
        rows.push(vec!["machine".to_owned(), machine]);
        if !environment.command.is_empty() {
            rows.push(vec!["command".to_owned(), environment.command.join(" ")]);
        }
    }
    page.table(&[], &rows, usize::MAX);
    let settings = run.settings();
    if let Some(settings) = page.try_read(settings) {
        let listed = settings.listed(run.task());
        let rows: Vec<Vec<String>> =
            listed.into_iter().map(|(key, value)| vec![key.to_owned(), value]).collect();
        page.html("<details><summary>All settings</summary>");
        page.table(&[], &rows, usize::MAX);
        page.html("</details>");
    }
}
