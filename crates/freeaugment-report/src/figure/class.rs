//! Which classes gain and lose most against the baseline.

use freeaugment_search::statistics::mean;
use freeaugment_search::{Trial, TrialResult};

use super::Figure;
use crate::axis::{Scale, extent, number};
use crate::escape::shortened;
use crate::svg::Svg;
use freeaugment_base::csv::{Csv, cell};

/// Classes that are shown at either end.
const ENDS: usize = 6;
/// What is less is rounding: a single image more or less is far more than this.
const ROUNDING: f64 = 1e-9;
const WIDTH: f64 = 400.0;
const LEFT: f64 = 150.0;
const TOP: f64 = 26.0;
const ROW: f64 = 20.0;
/// Letters of a class.
const NAME: usize = 23;

/// What became of a class under a policy: shares from 0 to 1.
#[derive(Clone, Debug)]
struct Change {
    class: usize,
    images: u32,
    before: f64,
    difference: f64,
    interval: Option<f64>,
}

/// Results of one policy after the other, with their seeds.
fn results<'a>(trials: &'a [Trial], name: &'a str) -> impl Iterator<Item = TrialResult> + 'a {
    let of = trials.iter().filter(move |trial| trial.candidate().name() == name);
    of.filter_map(|trial| trial.result().ok().flatten()).filter(|result| !result.classes.is_empty())
}

/// Class by class, the mean difference between results with the same seed. Classes without images are left out.
fn changes(policy: &[TrialResult], baseline: &[TrialResult]) -> Vec<Change> {
    let pairs: Vec<(&TrialResult, &TrialResult)> = (policy.iter())
        .filter_map(|of| Some((of, baseline.iter().find(|other| other.seed == of.seed)?)))
        .collect();
    let Some((first, _)) = pairs.first() else { return Vec::new() };
    let share = |result: &TrialResult, class: usize| {
        let count = result.classes.get(class).copied().unwrap_or_default();
        f64::from(count.right) / f64::from(count.images.max(1))
    };
    let with_images = (0..first.classes.len()).filter(|&class| first.classes[class].images > 0);
    with_images
        .map(|class| {
            let before: Vec<f64> = pairs.iter().map(|(_, other)| share(other, class)).collect();
            let differences: Vec<f64> =
                pairs.iter().map(|(of, other)| share(of, class) - share(other, class)).collect();
            let difference = mean(&differences);
            Change {
                class,
                images: first.classes[class].images,
                before: mean(&before).value,
                difference: difference.value,
                interval: difference.interval,
            }
        })
        .collect()
}

/// The first of these policies that differs from the baseline in any class; the numbers of all of them. None where results
/// hold no classes, or none differs.
pub(crate) fn figure(
    id: &str,
    trials: &[Trial],
    (names, baseline): (&[&str], &str),
    classes: &[String],
) -> Option<Figure> {
    let reference: Vec<TrialResult> = results(trials, baseline).collect();
    let called = |class: usize| classes.get(class).cloned().unwrap_or_else(|| format!("class {}", class + 1));
    let mut csv =
        Csv::new(["policy", "class", "images", "accuracy of the baseline", "difference", "interval"]);
    let (mut drawn, mut shown) = (Vec::new(), "");
    for name in names.iter().filter(|name| **name != baseline) {
        let found = changes(&results(trials, name).collect::<Vec<_>>(), &reference);
        for of in &found {
            csv.row([
                (*name).to_owned(),
                called(of.class),
                of.images.to_string(),
                cell(Some(of.before)),
                cell(Some(of.difference)),
                cell(of.interval),
            ]);
        }
        if drawn.is_empty() && found.iter().any(|of| of.difference.abs() > ROUNDING) {
            (drawn, shown) = (found, *name);
        }
    }
    if drawn.is_empty() {
        return None;
    }
    drawn.sort_by(|a, b| b.difference.total_cmp(&a.difference).then(a.class.cmp(&b.class)));
    let all = drawn.len();
    let gains = drawn.iter().filter(|of| of.difference > ROUNDING).count().min(ENDS);
    let losses = drawn.iter().filter(|of| of.difference < -ROUNDING).count().min(ENDS);
    drawn.drain(gains..all - losses);
    let left_out = all - drawn.len();
    let title = format!("{} against {}, class by class", shortened(shown, 20), shortened(baseline, 20));
    let between = if left_out > 0 {
        format!(
            " The other {left_out} {} in the numbers behind this figure.",
            if left_out == 1 { "is" } else { "are" }
        )
    } else {
        String::new()
    };
    Some(Figure {
        id: id.to_owned(),
        caption: format!(
            "Classes that gain and lose most, with 95 % intervals where there are several seeds. Of many classes a few \
             differ by chance.{between}"
        ),
        panels: vec![draw(&title, &drawn, (gains, left_out), &called)],
        title,
        csv,
    })
}

fn draw(
    title: &str,
    drawn: &[Change],
    (gains, left_out): (usize, usize),
    called: &dyn Fn(usize) -> String,
) -> Svg {
    let points = |share: f64| 100.0 * share;
    // With few seeds intervals of single classes are far wider than any difference: they end where the figure does.
    let (low, high) = extent(drawn.iter().map(|of| points(of.difference)).chain([0.0]));
    let room = 0.15 * (high - low).max(1.0);
    let right = WIDTH - 50.0;
    let across = Scale::new((low - room, high + room), (LEFT, right));
    let gap = if left_out > 0 { 0.7 * ROW } else { 0.0 };
    let bottom = TOP + ROW * drawn.len() as f64 + gap;
    let words: Vec<String> =
        drawn.iter().map(|of| format!("{} {:+.1}", called(of.class), points(of.difference))).collect();
    let mut svg = Svg::new(WIDTH, bottom + 34.0, &format!("{title}: {}", words.join(", ")));
    svg.text((4.0, 14.0), "t", title);
    for tick in across.ticks(5) {
        svg.line((across.at(tick), TOP), (across.at(tick), bottom), "grid");
        svg.text((across.at(tick), bottom + 14.0), "m s", &number(tick));
    }
    svg.line((across.at(0.0), TOP), (across.at(0.0), bottom), "axis");
    svg.text((right, bottom + 29.0), "e s", "points of accuracy");
    if left_out > 0 {
        let y = TOP + ROW * gains as f64 + 0.5 * gap;
        svg.text(
            (LEFT - 6.0, y + 4.0),
            "e s",
            &format!("{left_out} {}", if left_out == 1 { "other" } else { "others" }),
        );
    }
    for (at, of) in drawn.iter().enumerate() {
        let after_gap = left_out > 0 && at >= gains;
        let y = TOP + ROW * (at as f64 + 0.5) + if after_gap { gap } else { 0.0 };
        let (name, value) = (called(of.class), points(of.difference));
        let half = of.interval.map(points);
        let interval = half.map(|half| format!(" ± {half:.1}")).unwrap_or_default();
        let about = format!(
            "{name}: {value:+.1}{interval} points, from {:.1} % of {} images",
            points(of.before),
            of.images
        );
        let colour = usize::from(value < 0.0);
        svg.text((LEFT - 6.0, y + 4.0), "e", &shortened(&name, NAME));
        let (from, to) = (across.at(value.min(0.0)), across.at(value.max(0.0)));
        svg.rect((from, y - 6.0), ((to - from).max(1.0), 12.0), &format!("f{colour}"), 0.75, &about);
        if let Some(half) = half {
            svg.line((across.at(value - half), y), (across.at(value + half), y), "axis");
        }
        svg.text((right + 8.0, y + 4.0), "", &format!("{value:+.1}").replace('-', "−"));
    }
    svg
}
