//! Pages of real, small runs: whole, damaged, and with names that want to be markup.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use freeaugment_report::{Files, Live, PAGE, Pictures, write};
use freeaugment_search::{Observer, Patch, Run, RunWriter, Search, SearchEpoch, Setup, Task, resolve};
use tempfile::{TempDir, tempdir};

const EVIL: &str = "<script>alert(1)</script>";

/// A search of two epochs at its beginning.
fn begin(folder: &Path, more: &str) -> (Search, RunWriter, PathBuf) {
    let few = "drawings_train = 32\ndrawings_validation = 16\nbatch = 16\nepochs = 2\nproof_epochs = 0\n\
               transformations = [\"Rotate\", \"Brightness\", \"Invert\"]\n";
    let patch = Patch { place: "a test".to_owned(), values: format!("{few}{more}").parse().unwrap() };
    let preset = if more.contains("data =") { "one-step" } else { "drawings" };
    let settings = resolve(Task::Search, preset, &[patch]).unwrap();
    let setup = Setup::for_search(&settings, &()).unwrap();
    let search = Search::new(settings, setup).unwrap();
    let path = folder.join("run");
    let data = search.setup().identity.clone();
    let run = RunWriter::create(&path, Task::Search, search.settings(), &data, &[]).unwrap();
    (search, run, path)
}

/// A search of two epochs.
fn search(folder: &Path, more: &str) -> PathBuf {
    let (mut search, run, path) = begin(folder, more);
    run.search(&mut search, &mut (), &AtomicBool::new(false)).unwrap();
    path
}

fn page(run: &Path, pictures: Pictures) -> String {
    let path = run.join("report.html");
    write(&[Run::open(run).unwrap()], &path, pictures, Files::With).unwrap();
    std::fs::read_to_string(path).unwrap()
}

/// The elements of a drawing and their classes, without numbers.
fn structure(svg: &str) -> String {
    let tags = svg.split('<').skip(1).filter(|tag| !tag.starts_with('/') && !tag.starts_with("style"));
    let short = tags.map(|tag| {
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        let class = tag.split_once("class=\"").and_then(|(_, rest)| rest.split('"').next());
        class.map_or(name.clone(), |class| format!("{name}.{}", class.replace(" i", "").replace(' ', ".")))
    });
    let mut lines: Vec<(String, usize)> = Vec::new();
    for tag in short {
        match lines.last_mut() {
            Some((last, count)) if *last == tag => *count += 1,
            _ => lines.push((tag, 1)),
        }
    }
    let lines: Vec<String> = lines.into_iter().map(|(tag, count)| format!("{count} {tag}")).collect();
    lines.join("\n")
}

#[test]
fn a_search_has_a_page_of_its_own() {
    let folder = tempdir().unwrap();
    let run = search(folder.path(), "layers = 2");
    let text = page(&run, Pictures::With);
    for part in
        ["This page shows epoch 2 of 2.", "What it does to images", "What this rests on", "drawings_train"]
    {
        assert!(text.contains(part), "{part}");
    }
    for other in ["<script", "http://", "https://", "What is missing", "http-equiv=\"refresh\""] {
        assert!(!text.contains(other), "{other}");
    }
    assert!(text.len() < 3 << 20);
    assert_eq!(text, page(&run, Pictures::With), "the same run gives the same bytes");
    let drawn = std::fs::read_to_string(run.join("report/types.svg")).unwrap();
    insta::assert_snapshot!("types", structure(&drawn));
    let drawn = std::fs::read_to_string(run.join("report/depth.svg")).unwrap();
    insta::assert_snapshot!("depth", structure(&drawn));
    let numbers = std::fs::read_to_string(run.join("report/types.csv")).unwrap();
    assert_eq!(numbers.lines().count(), 1 + 3 * 2);
}

#[test]
fn what_is_cut_off_or_gone_is_named_and_the_rest_is_shown() {
    let folder = tempdir().unwrap();
    let run = search(folder.path(), "layers = 1");
    let metrics = run.join("metrics.jsonl");
    let text = std::fs::read_to_string(&metrics).unwrap();
    std::fs::write(&metrics, &text[..text.len() - 100]).unwrap();
    let shown = page(&run, Pictures::Without);
    assert!(shown.contains("This page shows epoch 1 of 2. The search is not finished."));
    assert!(shown.contains("a line of the metrics was cut off"));
    assert!(shown.contains("id=\"depth\""));
    for name in ["metrics.jsonl", "policy.json", "environment.json"] {
        std::fs::remove_file(run.join(name)).unwrap();
    }
    let shown = page(&run, Pictures::With);
    assert!(shown.contains("There is no policy yet") && shown.contains("environment.json"));
}

/// Keeps what the page says after every epoch.
struct Follower(Live, PathBuf, Vec<String>);

impl Observer<Search> for Follower {
    fn epoch(&mut self, _search: &Search, _epoch: &SearchEpoch) {
        if self.0.epoch().unwrap() {
            self.2.push(std::fs::read_to_string(self.1.join(PAGE)).unwrap());
        }
    }
}

#[test]
fn a_page_follows_a_running_search_as_often_as_it_may() {
    // The first page is due at once; the second only after twenty times as long as the first took.
    for (every, followed) in [(Duration::ZERO, true), (Duration::from_hours(1), false)] {
        let folder = tempdir().unwrap();
        let (mut search, run, path) = begin(folder.path(), "layers = 1");
        let live = Live::new(&path).every(every);
        let mut follower = Follower(live, path.clone(), Vec::new());
        run.search(&mut search, &mut follower, &AtomicBool::new(false)).unwrap();
        let Follower(mut live, _, seen) = follower;
        assert_eq!(!seen.is_empty(), followed);
        if let Some(first) = seen.first() {
            assert!(first.contains("This page shows epoch 1 of 2. The search is not finished."));
            assert!(first.contains("http-equiv=\"refresh\"") && first.contains("What it does to images"));
            assert!(!path.join("report").exists(), "figures are written at the end");
        }
        live.end().unwrap();
        let last = std::fs::read_to_string(path.join(PAGE)).unwrap();
        assert!(last.contains("This page shows epoch 2 of 2.") && path.join("report/depth.svg").is_file());
        assert_eq!(last, page(&path, Pictures::With), "what is kept between pages does not show");
    }
}

/// A folder of two classes, one of which wants to be markup.
fn hostile_folder() -> TempDir {
    let folder = tempdir().unwrap();
    for (grey, class) in [(40, EVIL.replace('/', "∕")), (200, "\"quoted\" 'class'".to_owned())] {
        let path = folder.path().join("it's \"here\"").join(class);
        std::fs::create_dir_all(&path).unwrap();
        for number in 0..60_u8 {
            let image = image::GrayImage::from_pixel(16, 16, [grey + number % 40].into());
            image.save(path.join(format!("{number}.png"))).unwrap();
        }
    }
    folder
}

#[test]
#[cfg(unix)]
fn names_of_classes_and_folders_are_text() {
    let images = hostile_folder();
    let folder = tempdir().unwrap();
    let data = images.path().join("it's \"here\"");
    let run = search(
        folder.path(),
        &format!("layers = 1\nvalidation_share = 0.5\ndata = '''{}'''", data.display()),
    );
    let text = page(&run, Pictures::With);
    assert!(!text.contains("<script") && text.contains("&lt;script&gt;alert(1)&lt;∕script&gt;"));
    assert!(text.contains("&quot;quoted&quot; &#39;class&#39;") && text.contains("it&#39;s"));
    // The data moves: figures stay, pictures go.
    drop(images);
    let text = page(&run, Pictures::With);
    assert!(text.contains("the pictures, because the data cannot be read") && text.contains("id=\"depth\""));
}
