//! Names that are nearly right.

/// The known name that a misspelt one may mean: the same letters but for case and signs, or nearly so.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = |s: &str| -> Vec<char> {
        s.chars().filter(|c| c.is_alphanumeric()).take(40).map(|c| c.to_ascii_lowercase()).collect()
    };
    let distance = |known: &&str| edit_distance(&letters(name), &letters(known));
    let best = known.min_by_key(distance)?;
    (distance(&best) <= best.len().div_ceil(4)).then_some(best)
}

/// Insertions, deletions and substitutions between two words.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}
