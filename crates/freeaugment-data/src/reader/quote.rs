//! What a file says, in a message.

/// The beginning of a text in backquotes, on one line whatever it holds.
pub(super) fn quote(text: &str) -> String {
    let printable = |letter: char| if letter.is_control() { char::REPLACEMENT_CHARACTER } else { letter };
    let mut letters = text.trim().chars().map(printable);
    let shown: String = letters.by_ref().take(80).collect();
    format!("`{shown}{}`", if letters.next().is_some() { "…" } else { "" })
}
