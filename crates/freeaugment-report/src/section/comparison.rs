//! A comparison or a training: what each policy is worth, and how sure that is.

use std::fmt::Write as _;

use freeaugment_base::duration;
use freeaugment_search::{Candidate, Row, Run, Summary, Trial, statistics};

use crate::escape::escape;
use crate::figure::training::Trained;
use crate::figure::{class, forest, training};
use crate::page::Page;
use crate::sheet::{self, Manner};
use crate::studio::Studio;

const IMAGES: usize = 4;
const SAMPLES: u32 = 4;

/// The page of a comparison.
pub(crate) fn page(run: &Run, studio: &mut Studio) -> Page {
    let mut page = Page::new(&super::title("Comparison", run));
    let trials = page.try_read(run.trials()).unwrap_or_default();
    let done = trials.iter().filter(|trial| matches!(trial.result(), Ok(Some(_)))).count();
    page.grows = done < trials.len();
    let summary = page.try_read(run.summary());
    match summary.as_ref().filter(|summary| !summary.rows.is_empty()) {
        Some(summary) => page.lead(&in_words(summary)),
        None => page.lead("No classifier is trained yet."),
    }
    page.paragraph(&format!("{} Data: {}.", state(run, &trials), run.data().title));
    if let Some(summary) = &summary {
        figures(&mut page, "", summary, &trials);
        classes(&mut page, "classes", run, (summary, &trials), studio);
    }
    pictures(&mut page, run, &trials, studio);
    super::ground(&mut page, run);
    page
}

/// How far a comparison is.
pub(crate) fn state(run: &Run, trials: &[Trial]) -> String {
    let is_done = |trial: &&Trial| matches!(trial.result(), Ok(Some(_)));
    let done = trials.iter().filter(is_done).count();
    let mut text = format!("This page shows {done} of {} classifiers.", trials.len());
    if done == trials.len() {
        return text;
    }
    let begun = trials.iter().filter(|trial| !is_done(trial)).find_map(|trial| {
        let epochs = trial.epochs().ok().filter(|epochs| !epochs.is_empty())?.len();
        Some(format!(
            " and {epochs}{} epochs of one more, {}, seed {}",
            of_all(run),
            trial.candidate().name(),
            trial.seed()
        ))
    });
    text.insert_str(text.len() - 1, &begun.unwrap_or_default());
    text + " It is not finished."
}

fn of_all(run: &Run) -> String {
    run.settings().map(|settings| format!(" of {}", settings.epochs)).unwrap_or_default()
}

/// What a comparison came to.
fn in_words(summary: &Summary) -> String {
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let best = summary.rows.iter().max_by(|a, b| a.accuracy.total_cmp(&b.accuracy));
    let Some(best) = best else { return String::new() };
    let reached = format!("{} reaches {} on the test images", best.name, percent(best.accuracy));
    let Some(difference) = best.difference else {
        let most = if summary.rows.len() > 1 { ", the most of all that were compared" } else { "" };
        return format!("{reached}{most}.");
    };
    let against = points(difference, best.difference_interval);
    let sure = match best.difference_interval {
        Some(half) if difference.abs() > half => "beyond noise",
        Some(_) => "which may be noise",
        None => "with one seed, which may be noise",
    };
    format!("{reached}: {against} points against {}, {sure}.", summary.baseline)
}

/// A difference in points of a percent, with half of its interval where that is known.
fn points(difference: f64, interval: Option<f64>) -> String {
    let half = interval.map(|half| format!(" ± {:.2}", 100.0 * half)).unwrap_or_default();
    format!("{:+.2}{half}", 100.0 * difference).replace('-', "−")
}

/// Forest plot, seeds, table, curves.
pub(crate) fn figures(page: &mut Page, prefix: &str, summary: &Summary, trials: &[Trial]) {
    let first = [
        forest::differences(&format!("{prefix}differences"), summary),
        forest::seeds(&format!("{prefix}seeds"), summary, "test"),
    ];
    page.figures(first.into_iter().flatten());
    let head = ["policy", "accuracy, %", "difference, points", "p", "seeds", "training accuracy, %", "time"];
    let rows: Vec<Vec<String>> = (summary.rows.iter())
        .map(|row| {
            vec![
                row.name.clone(),
                points(row.accuracy, row.interval).replace('+', ""),
                row.difference.map(|value| points(value, row.difference_interval)).unwrap_or_default(),
                row.p.map(statistics::p_value).unwrap_or_default(),
                row.seeds.len().to_string(),
                format!("{:.2}", 100.0 * row.training_accuracy),
                duration(row.seconds),
            ]
        })
        .collect();
    page.table(&head.map(str::to_owned), &rows, 1);
    page.html("<p class=\"soft\">Behind ± is half of a 95 % confidence interval.</p>");
    let trained = trained(page, trials);
    page.heading("How the classifiers learned");
    page.figures(training::figures(prefix, &trained));
}

/// Which classes gain and lose most under the best policy.
pub(crate) fn classes(
    page: &mut Page,
    id: &str,
    run: &Run,
    (summary, trials): (&Summary, &[Trial]),
    studio: &mut Studio,
) {
    let mut others: Vec<&Row> = summary.rows.iter().filter(|row| row.difference.is_some()).collect();
    if others.is_empty() {
        return;
    }
    others.sort_by(|a, b| b.accuracy.total_cmp(&a.accuracy));
    let has_classes = |trial: &Trial| trial.result().ok().flatten().is_some_and(|of| !of.classes.is_empty());
    if !trials.iter().any(has_classes) {
        page.miss("which classes gain and lose most: the run is of a version that did not count them");
        return;
    }
    // Names are those of the data as it is now; without it classes have numbers.
    let gallery = if studio.is_closed() { None } else { studio.gallery(run, IMAGES).ok() };
    let called = gallery.as_ref().map(|gallery| &*gallery.classes).unwrap_or_default();
    let names: Vec<&str> = others.iter().map(|row| &*row.name).collect();
    let of = (&*names, &*summary.baseline);
    if let Some(figure) = class::figure(id, trials, of, called) {
        page.heading("Which classes gain and lose most");
        page.figures([figure]);
    }
}

fn trained(page: &mut Page, trials: &[Trial]) -> Vec<Trained> {
    let mut trained: Vec<Trained> = Vec::new();
    for trial in trials {
        let epochs = page.try_read(trial.epochs()).unwrap_or_default();
        if epochs.is_empty() {
            continue;
        }
        let name = trial.candidate().name();
        let classifier = (trial.seed(), epochs);
        match trained.iter_mut().find(|of| of.name == name) {
            Some(of) => of.classifiers.push(classifier),
            None => trained.push(Trained { name: name.to_owned(), classifiers: vec![classifier] }),
        }
    }
    trained
}

/// What each policy does to the same images.
pub(crate) fn pictures(page: &mut Page, run: &Run, trials: &[Trial], studio: &mut Studio) {
    if studio.is_closed() || trials.is_empty() {
        return;
    }
    let mut candidates: Vec<&Candidate> = Vec::new();
    for candidate in trials.iter().map(|trial| &**trial.candidate()) {
        if !candidates.iter().any(|known| known.name() == candidate.name()) {
            candidates.push(candidate);
        }
    }
    // What candidates are does not change within a run; there may be more of them.
    let names: Vec<&str> = candidates.iter().map(|candidate| candidate.name()).collect();
    let made = studio.sheet(run, &names.join("\n"), |studio| {
        let (gallery, seed) = (studio.gallery(run, IMAGES)?, run.settings()?.seed);
        let mut html = String::new();
        for candidate in &candidates {
            let _ = writeln!(html, "<h3>{}</h3>", escape(candidate.name()));
            let rows = sheet::rows(&gallery, candidate, seed, Manner::Seen, IMAGES, SAMPLES)?;
            let _ = writeln!(html, "<div class=\"rows\">{rows}</div>");
        }
        Ok(html)
    });
    match made {
        Ok(html) => {
            page.heading("What each policy does to the same images");
            page.html(&html);
        }
        Err(error) => page.miss(format!("the pictures, because the data cannot be read: {error}")),
    }
}
