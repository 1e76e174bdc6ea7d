//! Bad input gets one clear line and a documented exit code.

use std::path::Path;
use std::process::Command;

use tempfile::tempdir;

use crate::command::{Ended, SMALL, command, finish, run, start, succeed, wait_until, without_numbers};

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

/// What the user sees: the command, the code, the message.
fn refused(folder: &Path, arguments: &str) -> String {
    let ended = run(folder, arguments);
    assert_eq!(ended.stdout, "");
    shown(folder, arguments, &ended)
}

fn shown(folder: &Path, arguments: &str, ended: &Ended) -> String {
    let code = ended.code.unwrap();
    let message = ended.stderr.replace(&folder.display().to_string(), "FOLDER");
    let arguments = arguments.replace(SMALL, "…");
    format!("$ freeaugment {arguments}\n{message}[{code}]\n\n")
}

#[test]
fn configurations_that_cannot_be() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    write(folder, "unknown.toml", "epoch = 3\n");
    write(folder, "kind.toml", "epochs = 'many'\n");
    write(folder, "preset.toml", "preset = 3\n");
    write(folder, "wrong.toml", "epochs = = 3\n");
    let cases = [
        "search --transformations Rotate,Invert --layers 3",
        "search --transformations Rotat",
        "search --network WRN-11-1",
        "search --device abacus",
        "search --batch 1",
        "search --plant Rotate:5",
        "search --preset cifar",
        "search --config unknown.toml",
        "search --config kind.toml",
        "search --config preset.toml",
        "search --config wrong.toml",
        "search --config missing.toml",
    ];
    insta::assert_snapshot!(cases.map(|arguments| refused(folder, arguments)).concat());
    assert!(!folder.join("runs").exists(), "nothing is left behind");
}

#[test]
fn arguments_that_cannot_be_understood() {
    let folder = tempdir().unwrap();
    let cases = [
        "search --epoch 3",
        "search --epochs many",
        "search --types sinkhorm",
        "search --threads 0",
        "searched",
        "resume",
        "show policy.json --full --json",
    ];
    insta::assert_snapshot!(cases.map(|arguments| refused(folder.path(), arguments)).concat());
}

#[test]
fn data_that_cannot_be_used() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("empty")).unwrap();
    write(folder, "cut.json", "{\"format\": \"freeaugment-policy\", \"version\":");
    write(folder, "other.json", "{}");
    let cases = [
        "search --data missing",
        "search --data empty",
        "data missing",
        "search --batch 16 --drawings-validation 8 --drawings-train 64",
        "show missing.json",
        "show cut.json",
        "show other.json",
    ];
    insta::assert_snapshot!(cases.map(|arguments| refused(folder, arguments)).concat());
    assert!(!folder.join("runs").exists(), "nothing is left behind");
}

#[test]
fn files_of_baselines_that_cannot_be_used() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let file = |name: &str, version: u64, keys: &str| {
        let text = format!("{{\"format\": \"freeaugment-baseline\", \"version\": {version}{keys}}}");
        write(folder, name, &text);
    };
    file("spelling.json", 1, ", \"baseline\": \"trival-wide\"");
    file("numbers.json", 1, ", \"baseline\": \"rand:2:31\"");
    file("version.json", 2, ", \"baseline\": \"none\", \"more\": 1");
    file("missing.json", 1, "");
    file("extra.json", 1, ", \"baseline\": \"none\", \"more\": 1");
    let cases = ["spelling", "numbers", "version", "missing", "extra"];
    let shown = cases.map(|name| refused(folder, &format!("show {name}.json")));
    // Whoever trains under it hears the same.
    let trained = refused(folder, "train --policy spelling.json");
    insta::assert_snapshot!(shown.concat() + &trained);
    assert!(!folder.join("runs").exists(), "nothing is left behind");
}

#[test]
fn run_folders_that_cannot_be_used() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("empty")).unwrap();
    succeed(folder, &format!("search {SMALL} --epochs 1 --quiet --out done"));
    let mut seen = String::new();
    seen += &refused(folder, &format!("search {SMALL} --out done"));
    seen += &refused(folder, "resume missing");
    seen += &refused(folder, "resume empty");
    seen += &refused(folder, "show empty");

    let configuration = std::fs::read_to_string(folder.join("done/config.toml")).unwrap();
    write(folder, "done/config.toml", &configuration.replace("momentum = 0.9\n", "momentum = 0.8\n"));
    seen += &refused(folder, "resume done");
    write(folder, "done/config.toml", &configuration.replace("\nmomentum", "\nmomentun"));
    seen += &refused(folder, "resume done");
    write(folder, "done/config.toml", &configuration);

    let checkpoint = folder.join("done/checkpoint.safetensors");
    let bytes = std::fs::read(&checkpoint).unwrap();
    std::fs::write(&checkpoint, &bytes[..bytes.len() / 2]).unwrap();
    seen += &refused(folder, "resume done");
    insta::assert_snapshot!(seen);
    std::fs::write(&checkpoint, &bytes).unwrap();
    succeed(folder, "resume done");
}

#[test]
fn a_run_in_use_is_left_alone() {
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let mut child = start(folder, &format!("search {SMALL} --epochs 100000 --quiet --out run"));
    wait_until("the run has begun", || folder.join("run/config.toml").exists());
    let seen = refused(folder, "resume run");
    child.kill().unwrap();
    child.wait().unwrap();
    insta::assert_snapshot!(seen);
}

#[test]
fn a_training_that_diverges_is_told_with_its_step() {
    let folder = tempdir().unwrap();
    let arguments = format!("search {SMALL} --quiet --learning-rate 1000 --weight-decay 5 --epochs 8");
    let ended = run(folder.path(), &arguments);
    assert_eq!(ended.code, Some(7));
    insta::assert_snapshot!(without_numbers(&ended.stderr));
}

/// As someone who may not write here: whoever runs the tests may be allowed everything.
#[cfg(unix)]
#[test]
fn a_folder_without_permission() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
    use std::os::unix::process::CommandExt as _;

    const NOBODY: u32 = 65_534;
    let folder = tempdir().unwrap();
    let locked = folder.path().join("locked");
    std::fs::create_dir(&locked).unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o555)).unwrap();
    let is_root = std::fs::metadata(&locked).unwrap().uid() == 0;
    let as_nobody = |arguments: &str| {
        let mut command = command(folder.path(), arguments);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    if !as_nobody("--version").output().is_ok_and(|output| output.status.success()) {
        return; // Nobody else may run the program where it lies.
    }
    let arguments = format!("search {SMALL} --out locked/run");
    let ended = finish(as_nobody(&arguments));
    insta::assert_snapshot!(shown(folder.path(), &arguments, &ended));
}

/// In a file system of 64 KiB, where the system lets us make one.
#[cfg(target_os = "linux")]
#[test]
fn no_space_on_disk() {
    let folder = tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tiny")).unwrap();
    let in_tiny_disk = |words: &[&str]| {
        let mut command = Command::new("unshare");
        let script = "mount -t tmpfs -o size=64k none tiny && exec \"$@\"";
        command.args(["-rm", "sh", "-c", script, "sh"]).args(words).current_dir(folder.path());
        command.env_remove("CARGO");
        command
    };
    if !in_tiny_disk(&["true"]).output().is_ok_and(|output| output.status.success()) {
        return;
    }
    let arguments = format!("search {SMALL} --quiet --out tiny/run");
    let words: Vec<&str> =
        [env!("CARGO_BIN_EXE_freeaugment")].into_iter().chain(arguments.split_whitespace()).collect();
    let mut ended = finish(in_tiny_disk(&words));
    // The name of the temporary file is random.
    let end = ended.stderr.find(" at path").expect("the file is named");
    ended.stderr.replace_range(end.., "\n");
    insta::assert_snapshot!(shown(folder.path(), &arguments, &ended));
}

/// With the feature, MPI is asked; `scripts/test-mpi` does that.
#[cfg(not(feature = "mpi"))]
#[test]
fn several_processes_without_the_feature_for_them_are_refused_by_the_first() {
    let folder = tempdir().unwrap();
    let told = |rank: &str, arguments: &str| {
        let mut command = command(folder.path(), arguments);
        command.env("OMPI_COMM_WORLD_SIZE", "4").env("OMPI_COMM_WORLD_RANK", rank);
        finish(command)
    };
    let first = told("0", &format!("search {SMALL} --out run"));
    let wanted = "error: this is one of 4 processes (OMPI_COMM_WORLD_SIZE), and this program is built without the cargo \
                  feature `mpi`: build it with `--features mpi`, or start it once\n";
    assert_eq!((first.code, &*first.stderr), (Some(3), wanted));
    let other = told("1", "train --policy standard --out run");
    assert_eq!((other.code, &*other.stderr), (Some(3), ""));
    assert!(!folder.path().join("run").exists());
    // Whoever writes nothing is let alone.
    assert_eq!(told("2", "data").code, Some(0));
}
