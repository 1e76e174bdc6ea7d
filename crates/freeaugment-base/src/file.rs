//! Writing files whole or not at all.

use std::io::{self, Write as _};
use std::path::Path;

/// Writes a file whole or not at all, in place of one that is there: a temporary file beside it, then a rename.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, true)
}

/// As [`write_atomically`], but without waiting for the disk, which takes longer than to make a small file: whole or not
/// at all after the process was killed, possibly empty after the power failed.
pub fn write_atomically_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, false)
}

fn replace(path: &Path, bytes: &[u8], synced: bool) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        // A temporary file is private by default; what is written is as readable as any other file of the user's.
        use std::os::unix::fs::PermissionsExt as _;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.prefix(".unfinished-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    if synced {
        file.as_file().sync_all()?;
    }
    file.persist(path)?;
    Ok(())
}
