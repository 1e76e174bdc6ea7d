//! Which machine this is, and whether a process on it still lives.

use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};

use freeaugment_base::simd::instruction_set;

/// The name of the machine; empty where the system does not tell.
pub(super) fn name() -> String {
    let told = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
    let variable = |key: &str| std::env::var(key).ok();
    told("/proc/sys/kernel/hostname")
        .or_else(|| told("/etc/hostname"))
        .or_else(|| variable("HOSTNAME"))
        .or_else(|| variable("COMPUTERNAME"))
        .unwrap_or_default()
}

/// What two processes have in common that can see each other: the boot of the system and the namespace of process numbers.
/// Two containers may have one name, and a machine that was started again has other processes. Empty where the system does
/// not tell, and then no two processes have it in common.
pub(super) fn processes() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace =
        fs::read_link("/proc/self/ns/pid").map(|link| link.display().to_string()).unwrap_or_default();
    if boot.is_empty() || namespace.is_empty() {
        String::new()
    } else {
        format!("{} {namespace}", boot.trim())
    }
}

/// When a process began, in ticks of its system; none where there is no such process, or where it has ended and nobody has
/// asked how. Process numbers are used again, so that a number alone says little.
pub(super) fn began(process: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program stands in parentheses and may hold anything.
    let mut words = text.rsplit_once(')')?.1.split_whitespace();
    let state = words.next()?;
    if matches!(state, "Z" | "X") { None } else { words.nth(18)?.parse().ok() }
}

/// What the bits of a classifier depend on.
pub(super) fn instructions() -> String {
    format!("{} {:?}", std::env::consts::ARCH, instruction_set())
}

/// A word that no other process comes up with.
pub(super) fn token() -> String {
    let random = || std::collections::hash_map::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_there_while_it_lives_and_no_longer() {
        assert!(began(std::process::id()).is_some());
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(began(child.id()).is_some());
        child.kill().unwrap();
        // Dead, but not yet waited for: a moment may pass before the system says so.
        while began(child.id()).is_some() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert_eq!(began(child.id()), None);
        assert!(!processes().is_empty());
        assert_ne!(token(), token());
    }
}
