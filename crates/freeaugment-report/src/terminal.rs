//! Pictures in terminals that can show them.

use crate::picture::base64;

/// How a terminal wants pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminal {
    /// The graphics protocol of kitty, which Ghostty, Konsole and WezTerm know too.
    Kitty,
    /// The one of iTerm2, which VS Code's terminal and mintty know too.
    Iterm,
}

/// Letters that kitty takes at once.
const CHUNK: usize = 4096;

impl Terminal {
    /// The terminal that the variables of the environment speak of; none where it is not known to show pictures.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let of = |name| variable(name).unwrap_or_default();
        let (term, program) = (of("TERM"), of("TERM_PROGRAM"));
        // What runs inside of these reaches the terminal changed.
        if term.starts_with("screen") || term.starts_with("tmux") || program == "tmux" {
            return None;
        }
        if !of("KITTY_WINDOW_ID").is_empty() || term == "xterm-kitty" || term == "xterm-ghostty" {
            return Some(Self::Kitty);
        }
        match &*program {
            "ghostty" | "WezTerm" => Some(Self::Kitty),
            "iTerm.app" | "mintty" => Some(Self::Iterm),
            _ => None,
        }
    }

    /// What to print so that a PNG file is seen.
    pub fn show(self, png: &[u8]) -> String {
        let letters = base64(png);
        match self {
            Self::Iterm => format!("\x1b]1337;File=inline=1;size={}:{letters}\x07", png.len()),
            Self::Kitty => {
                let chunks: Vec<&str> =
                    letters.as_bytes().chunks(CHUNK).filter_map(|chunk| str::from_utf8(chunk).ok()).collect();
                let last = chunks.len().saturating_sub(1);
                let one = |(at, chunk): (usize, &&str)| {
                    let first = if at == 0 { "a=T,f=100," } else { "" };
                    format!("\x1b_G{first}m={};{chunk}\x1b\\", u8::from(at < last))
                };
                chunks.iter().enumerate().map(one).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_are_known_by_their_variables() {
        let detect = |pairs: &[(&str, &str)]| {
            Terminal::detect(|name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(detect(&[("TERM", "xterm-kitty")]), Some(Terminal::Kitty));
        assert_eq!(detect(&[("TERM", "xterm-256color"), ("KITTY_WINDOW_ID", "1")]), Some(Terminal::Kitty));
        assert_eq!(detect(&[("TERM_PROGRAM", "iTerm.app")]), Some(Terminal::Iterm));
        assert_eq!(detect(&[("TERM", "xterm-256color")]), None);
        assert_eq!(detect(&[("TERM", "screen-256color"), ("TERM_PROGRAM", "iTerm.app")]), None);
    }

    #[test]
    fn a_picture_goes_through_in_pieces_and_is_whole() {
        let png: Vec<u8> = (0..7000_u32).map(|at| (at % 251) as u8).collect();
        let shown = Terminal::Kitty.show(&png);
        let pieces: Vec<&str> = shown.split("\x1b_G").skip(1).collect();
        assert_eq!(pieces.len(), 3);
        assert!(pieces[0].starts_with("a=T,f=100,m=1;") && pieces[1].starts_with("m=1;"));
        assert!(pieces[2].starts_with("m=0;"));
        let letters: String =
            pieces.iter().map(|piece| piece.split(';').nth(1).unwrap().trim_end_matches("\x1b\\")).collect();
        assert_eq!(letters, base64(&png));
        assert!(Terminal::Iterm.show(b"abc").ends_with("size=3:YWJj\x07"));
    }
}
