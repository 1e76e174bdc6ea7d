//! A find: its verdict, the proof, the selection, and the search behind them.

use freeaugment_search::{Run, Selection, Standing};

use super::{comparison, search};
use crate::figure::forest;
use crate::page::Page;
use crate::studio::Studio;

/// The page of a find.
pub(crate) fn page(run: &Run, studio: &mut Studio) -> Page {
    let mut page = Page::new(&super::title("A policy for these images", run));
    let verdict = page.try_read(run.verdict()).flatten();
    page.grows = verdict.is_none();
    match &verdict {
        Some(verdict) => {
            let text = verdict.to_string();
            let mut lines = text.lines();
            page.lead(&capital(lines.next().unwrap_or_default()));
            lines.for_each(|line| page.paragraph(&capital(line)));
        }
        None => page.lead("The find has not come to its end; this page shows what is done so far."),
    }
    page.paragraph(&format!("Data: {}.", run.data()));
    let proof = page.try_read(run.proof_of_find()).flatten();
    if let Some(proof) = &proof {
        page.heading("The proof, on test images");
        let trials = page.try_read(proof.trials()).unwrap_or_default();
        if page.grows {
            page.paragraph(&comparison::state(proof, &trials));
        }
        if let Some(summary) = page.try_read(proof.summary()).filter(|summary| !summary.rows.is_empty()) {
            comparison::figures(&mut page, "proof-", &summary, &trials);
            comparison::classes(&mut page, "proof-classes", proof, (&summary, &trials), studio);
        } else {
            page.paragraph("No classifier is trained yet.");
        }
        comparison::pictures(&mut page, proof, &trials, studio);
    }
    match &verdict {
        Some(verdict) => selection(&mut page, &verdict.selection),
        None => selection_so_far(&mut page, run),
    }
    if let Some(part) = page.try_read(run.search_of_find()).flatten() {
        let known = search::Known::read(&mut page, &part);
        page.heading("What the search learned");
        if let Some(learned) = &known.learned {
            page.paragraph(&crate::words::policy(learned));
        }
        if page.grows {
            page.paragraph(&known.state());
        }
        search::results(&mut page, &known);
        search::pictures(&mut page, &part, &known, studio);
        search::dynamics(&mut page, &part, &known);
    }
    super::ground(&mut page, run);
    page
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// How the candidates stand while the selection is not over.
fn selection_so_far(page: &mut Page, run: &Run) {
    let Some(part) = page.try_read(run.selection_of_find()).flatten() else { return };
    let trials = page.try_read(part.trials()).unwrap_or_default();
    page.heading("The selection so far, on validation images");
    page.paragraph(&comparison::state(&part, &trials));
    if let Some(summary) = page.try_read(part.summary()) {
        page.figures(forest::seeds("selection-seeds", &summary, "validation"));
    }
}

/// How the candidates stood, round after round.
fn selection(page: &mut Page, selection: &Selection) {
    page.heading("The selection, on validation images");
    page.paragraph(&format!(
        "Whole trainings, judged by {} images; the better ones went on from round to round. {} won.",
        selection.images, selection.winner
    ));
    let head: Vec<String> = ["policy".to_owned()]
        .into_iter()
        .chain((1..=selection.rounds.len()).map(|round| format!("round {round}, %")))
        .collect();
    let Some(first) = selection.rounds.first() else { return };
    let mut names: Vec<&str> = first.standings.iter().map(|standing| &*standing.name).collect();
    for standing in selection.rounds.iter().flat_map(|round| &round.standings) {
        if !names.contains(&&*standing.name) {
            names.push(&standing.name);
        }
    }
    let rows: Vec<Vec<String>> = (names.iter())
        .map(|name| {
            let of = selection.rounds.iter().map(|round| {
                let standing = round.standings.iter().find(|standing| standing.name == *name);
                standing.map(cell).unwrap_or_default()
            });
            [(*name).to_owned()].into_iter().chain(of).collect()
        })
        .collect();
    page.table(&head, &rows, 1);
    page.html(
        "<p class=\"soft\">Mean probability of the right class, which decides; mean accuracy; and in brackets the number of \
         classifiers.</p>",
    );
}

fn cell(standing: &Standing) -> String {
    let probability = standing.probability.map(|value| format!("{:.2}; ", 100.0 * value)).unwrap_or_default();
    format!("{probability}{:.2} ({})", 100.0 * standing.accuracy, standing.seeds)
}
