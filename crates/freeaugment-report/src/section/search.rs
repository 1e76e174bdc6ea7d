//! A search: what it found, what that does to images, and how it came about.

use freeaugment::Policy;
use freeaugment_search::{Candidate, Error, Gallery, Learned, Planted, Run, SearchEpoch, Settings};

use crate::figure::range::Plants;
use crate::figure::{Figure, curve, depth, phase, policy, range, types};
use crate::page::Page;
use crate::sheet::{self, Manner};
use crate::studio::Studio;
use crate::words;

const IMAGES: usize = 12;
const SAMPLES: u32 = 8;

/// What is known of a search.
pub(crate) struct Known {
    pub(crate) epochs: Vec<SearchEpoch>,
    pub(crate) settings: Option<Settings>,
    pub(crate) policy: Option<Policy>,
    pub(crate) learned: Option<Learned>,
    plants: Plants,
    planted_depth: Option<usize>,
}

impl Known {
    /// Reads what can be read; the page says what cannot.
    pub(crate) fn read(page: &mut Page, run: &Run) -> Self {
        let epochs = page.try_read(run.epochs()).unwrap_or_default();
        match run.lost_lines() {
            Ok(0) | Err(_) => {}
            Ok(1) => page.miss("a line of the metrics was cut off; that epoch is not shown"),
            Ok(lost) => {
                page.miss(format!("{lost} lines of the metrics cannot be read; those epochs are not shown"));
            }
        }
        let settings = page.try_read(run.settings());
        let policy = page.try_read(run.policy());
        let learned = policy.as_ref().and_then(|policy| page.try_read(Learned::new(policy)));
        let planted = settings.as_ref().zip(learned.as_ref());
        let planted = planted.and_then(|(settings, learned)| Planted::new(settings, learned).ok().flatten());
        let plants =
            planted.iter().flat_map(|planted| planted.transformations.iter().map(|of| (of.name, of.planted)));
        Self {
            plants: plants.collect(),
            planted_depth: planted.as_ref().map(|planted| planted.planted_depth),
            epochs,
            settings,
            policy,
            learned,
        }
    }

    fn done(&self) -> u64 {
        self.epochs.last().map_or(0, |epoch| epoch.epoch)
    }

    fn is_finished(&self) -> bool {
        self.settings.as_ref().is_some_and(|settings| self.done() >= settings.epochs)
    }

    /// Which epoch this is.
    pub(crate) fn state(&self) -> String {
        let total = self.settings.as_ref().map(|settings| format!(" of {}", settings.epochs));
        let state = if self.is_finished() { "" } else { " The search is not finished." };
        format!("This page shows epoch {}{}.{state}", self.done(), total.unwrap_or_default())
    }
}

/// The page of a search.
pub(crate) fn page(run: &Run, studio: &mut Studio) -> Page {
    let mut page = Page::new(&super::title("Search", run));
    let known = Known::read(&mut page, run);
    page.grows = !known.is_finished();
    if let Some(learned) = &known.learned {
        page.lead(&words::policy(learned));
        if let Some(note) = learned.collapse() {
            page.note(&note);
        }
    } else {
        page.lead("There is no policy yet: its first epoch has not ended.");
    }
    page.paragraph(&format!("{} Data: {}.", known.state(), run.data().title));
    if let Some(proof) = page.try_read(run.proof()).flatten() {
        let reached: Vec<String> = (proof.classifiers.iter())
            .map(|judged| format!("{:.1} % {}", 100.0 * judged.accuracy, judged.policy))
            .collect();
        let images = proof.test_images;
        page.paragraph(&format!(
            "Fresh classifiers reach {} on {images} test images, one of each: a hint, no proof.",
            reached.join(", ")
        ));
    }
    results(&mut page, &known);
    pictures(&mut page, run, &known, studio);
    dynamics(&mut page, run, &known);
    super::ground(&mut page, run);
    page
}

/// What the policy is after the last epoch, and the depth on its way there.
pub(crate) fn results(page: &mut Page, known: &Known) {
    let bars =
        known.learned.as_ref().map(|learned| policy::figure("policy", "The policy", learned, &known.plants));
    let depth = depth::figure(&known.epochs, known.planted_depth);
    page.figures(bars.into_iter().chain(depth).chain(types::matrix(&known.epochs)));
}

/// Twelve images and what the policy makes of them.
pub(crate) fn pictures(page: &mut Page, run: &Run, known: &Known, studio: &mut Studio) {
    let (Some(policy), Some(settings), Some(learned)) = (&known.policy, &known.settings, &known.learned)
    else {
        return;
    };
    if studio.is_closed() {
        return;
    }
    let made = policy.to_json().map_err(Error::from).and_then(|of| {
        studio.sheet(run, &of, |studio| drawn(&*studio.gallery(run, IMAGES)?, policy, settings, learned))
    });
    match made {
        Ok(html) => {
            page.heading("What it does to images");
            page.html(&html);
        }
        Err(error) => page.miss(format!("the pictures, because the data cannot be read: {error}")),
    }
}

/// The sheet of a policy.
fn drawn(
    gallery: &Gallery,
    policy: &Policy,
    settings: &Settings,
    learned: &Learned,
) -> Result<String, Error> {
    let candidate = Candidate::policy("learned", policy, settings)?;
    let rows = |manner| sheet::rows(gallery, &candidate, settings.seed, manner, IMAGES, SAMPLES);
    let first = gallery.specimens.first().map(|specimen| &specimen.picture);
    let strips = first.map(|picture| sheet::strips(policy, learned, picture)).transpose()?;
    Ok(format!(
        "<p>Training images, first as they are and then as the network sees them: cut, mirrored, augmented.</p>\n{}\
         <details><summary>The policy alone, without crop, flip and cutout</summary>\n{}</details>\n\
         <details><summary>Each transformation from its lower to its upper learned magnitude</summary>\n{}</details>",
        rows(Manner::Seen)?,
        rows(Manner::Alone)?,
        strips.unwrap_or_default()
    ))
}

/// How the policy came about.
pub(crate) fn dynamics(page: &mut Page, run: &Run, known: &Known) {
    let epochs = &known.epochs;
    if epochs.is_empty() {
        page.miss("all figures over epochs: none has ended");
        return;
    }
    let cores = run.environment().ok().map(|environment| environment.cores);
    page.heading("How it came about");
    let learning: Vec<Figure> = curve::figures(epochs);
    page.figures(learning.into_iter().chain(phase::figure(epochs, cores)));
    let over_time = [
        range::figure(epochs, known.learned.as_ref(), &known.plants),
        types::by_layer(epochs),
        types::by_transformation(epochs),
    ];
    page.figures(over_time.into_iter().flatten());
}
