//! Pages in a real browser, where there is one: Chromium. Elsewhere these tests say that they were skipped.
#![allow(clippy::print_stderr, reason = "what was not checked must be seen")]

use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::tempdir;

use crate::command::{SMALL, succeed};

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// What a page that may have a script tells about itself: images that are broken, all images, and what was asked for.
const PROBE: &str = "<pre id=\"probe\"></pre><script>addEventListener('load', () => {\
    document.querySelectorAll('details').forEach(part => part.open = true);\
    const images = [...document.images];\
    const broken = images.filter(image => !image.complete || image.naturalWidth === 0).length;\
    const asked = performance.getEntriesByType('resource').filter(of => !of.name.startsWith('data:')).length;\
    document.getElementById('probe').textContent = `broken ${broken} of ${images.length}, asked ${asked}`;\
    })</script></main>";

fn browser() -> Option<&'static str> {
    let there = |name: &&str| {
        let version =
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    };
    let found = NAMES.into_iter().find(there);
    if found.is_none() {
        eprintln!("skipped, because there is no Chromium: pages in a browser");
    }
    found
}

/// What the browser makes of a page, and what it complains about.
fn open(browser: &str, profile: &Path, page: &Path) -> (String, String) {
    let output = Command::new(browser)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
        ])
        .args(["--enable-logging=stderr", "--virtual-time-budget=5000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stderr);
    let complaints: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
    (text(&output.stdout), complaints.join("\n"))
}

/// The page with the probe, and what it tells.
fn probed(browser: &str, folder: &Path, page: &str) -> String {
    let start = page.find("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let end = start + page[start..].find('>').unwrap() + 1;
    // Scripts are forbidden in our pages; this copy may have one.
    let copy = format!("{}{}", &page[..start], &page[end..]).replace("</main>", PROBE);
    let path = folder.join("probed.html");
    std::fs::write(&path, copy).unwrap();
    let (shown, _) = open(browser, &folder.join("profile"), &path);
    let (_, rest) = shown.split_once("id=\"probe\">").unwrap();
    rest.split('<').next().unwrap().to_owned()
}

#[test]
fn pages_load_whole_without_complaint_and_ask_for_nothing() {
    let Some(browser) = browser() else { return };
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let budget =
        "--drawings-train 96 --drawings-validation 32 --network WRN-10-1 --batch 16 --epochs 2 --seeds 2";
    succeed(folder, &format!("search {SMALL} --quiet --out search"));
    succeed(folder, &format!("compare --policies standard,search {budget} --quiet --out compare"));
    succeed(folder, "report search compare --out several.html");
    for (page, images) in
        [("search/report.html", 2 * 12 * 9 + 3), ("compare/report.html", 40), ("several.html", 0)]
    {
        let path = folder.join(page);
        let (shown, complaints) = open(browser, &folder.join("profile"), &path);
        assert!(shown.contains("</main>") && complaints.is_empty(), "{page}: {complaints}");
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(probed(browser, folder, &text), format!("broken 0 of {images}, asked 0"), "{page}");
    }

    // What is wrong with a page is noticed.
    let text = std::fs::read_to_string(folder.join("several.html")).unwrap();
    // Nobody listens there any more.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let wrong = format!("</h1><img src=\"http://{nobody}/absent.png\"><script>1</script>");
    let text = text.replace("</h1>", &wrong);
    let path = folder.join("wrong.html");
    std::fs::write(&path, &text).unwrap();
    assert_ne!(open(browser, &folder.join("profile"), &path).1, "");
    assert_eq!(probed(browser, folder, &text), "broken 1 of 1, asked 1");
}
