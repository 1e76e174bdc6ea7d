//! A whole search step, timed: data, policy, training, validation, hypergradient, pullback, Adam. One line of JSON with
//! milliseconds per step.
//!
//!     cargo bench --workspace --bench search_step -- --net WRN-16-1 --batch 128 --steps 10
//!
//! `--device flex` (with `--features freeaugment-search/flex`) takes another device than the CPU. `scripts/compare-search`
//! runs it beside its peer.
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::time::Instant;

use freeaugment_search::{CropChoice, Search, Session as _, Settings, Setup};
use serde_json::json;

fn argument(name: &str, default: &str) -> String {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1).unwrap_or_else(|| default.to_owned())
}

/// Resident memory of this process, in MiB; 0 where the system does not say.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn main() {
    let batch: usize = argument("--batch", "128").parse().expect("--batch takes a number");
    let steps: usize = argument("--steps", "10").parse().expect("--steps takes a number");
    // The paper's pipeline and policy; drawings in place of CIFAR, from which they do not differ in cost.
    let settings = Settings {
        images: 0,
        drawings_train: batch * (steps + 2),
        drawings_validation: batch * (steps + 2),
        size: 32,
        crop: CropChoice::Pad,
        network: argument("--net", "WRN-16-1"),
        device: argument("--device", "cpu"),
        batch,
        epochs: 1,
        warm_up: false,
        ..Settings::default()
    };
    let setup = Setup::for_search(&settings, &()).expect("drawings can be read");
    let mut search = Search::new(settings, setup).expect("a search");
    search.step().expect("a step");
    let (before, first) = (search.phases(), memory());
    let mut times = Vec::new();
    for _ in 0..steps {
        let start = Instant::now();
        search.step().expect("a step");
        times.push(1e3 * start.elapsed().as_secs_f64());
    }
    let after = search.phases();
    times.sort_by(f64::total_cmp);
    let mean = |after: f64, before: f64| 1e3 * (after - before) / steps as f64;
    let result = json!({
        "step": times[times.len() / 2],
        "data": mean(after.data, before.data),
        "policy": mean(after.policy, before.policy),
        "training": mean(after.training, before.training),
        "validation": mean(after.validation, before.validation),
        "hypergradient": mean(after.hypergradient, before.hypergradient),
        "pullback": mean(after.pullback, before.pullback),
        "memory_mib": [first, memory()],
    });
    println!("{result}");
}
