//! A policy in a sentence.

use freeaugment_base::percent;
use freeaugment_search::Learned;

/// So many of all images are most.
const MOST: f64 = 0.6;
/// Transformations that are named.
const NAMED: usize = 5;

/// What a policy does, such as `most images (79 %) get one or two of Rotate −28..28 degrees (24.0 %), …`.
pub(crate) fn policy(learned: &Learned) -> String {
    let uniform = learned.uniform();
    let often = learned.transformations.iter().filter(|of| of.share >= uniform).take(NAMED);
    let named: Vec<String> = often
        .map(|of| {
            let range =
                of.range.map(|range| format!(" {range} {}", of.unit.unwrap_or_default())).unwrap_or_default();
            format!("{}{} ({})", of.name, range.trim_end().replace('-', "−"), percent(of.share))
        })
        .collect();
    let more = learned.transformations.len().saturating_sub(named.len());
    let others = if more > 0 { format!(", or less often one of {more} others") } else { String::new() };
    format!("{} of {}{others}.", how_many(&learned.depth), named.join(", "))
}

fn how_many(depth: &[f64]) -> String {
    let mut order: Vec<usize> = (0..depth.len()).collect();
    order.sort_by(|&a, &b| depth[b].total_cmp(&depth[a]));
    let (mut together, mut taken) = (0.0, Vec::new());
    for at in order {
        if together >= MOST {
            break;
        }
        together += depth[at];
        taken.push(at);
    }
    // A longer list says less than the mean.
    if taken.len() > 3 {
        let mean: f64 = depth.iter().enumerate().map(|(at, share)| at as f64 * share).sum();
        return format!("Images get none to {}, {mean:.1} on average,", number(depth.len() - 1));
    }
    taken.sort_unstable();
    let words: Vec<String> = taken.iter().map(|&depth| number(depth)).collect();
    let list = match &words[..] {
        [] => "none".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    };
    if together > 0.995 {
        format!("Every image gets {list}")
    } else {
        format!("Most images ({}) get {list}", percent(together))
    }
}

fn number(depth: usize) -> String {
    const WORDS: [&str; 8] = ["none", "one", "two", "three", "four", "five", "six", "seven"];
    WORDS.get(depth).map_or_else(|| depth.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_told_by_the_likeliest() {
        assert_eq!(how_many(&[0.1, 0.45, 0.4, 0.05]), "Most images (85.0 %) get one or two");
        assert_eq!(how_many(&[0.0, 0.0, 1.0]), "Every image gets two");
        assert_eq!(how_many(&[0.25; 4]), "Most images (75.0 %) get none, one or two");
        assert_eq!(how_many(&[0.125; 8]), "Images get none to seven, 3.5 on average,");
        assert_eq!(how_many(&[]), "Most images (0.0 %) get none");
    }
}
