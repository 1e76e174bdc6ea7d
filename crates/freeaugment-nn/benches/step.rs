//! The classifier part of a search step, timed: one line of JSON with median milliseconds.
//!
//!     cargo bench -p freeaugment-nn --bench step -- --net WRN-40-2 --batch 32 --size 32 --steps 5
//!
//! `--device flex` (with `--features flex`) takes another device than the CPU. `scripts/bench_engine.py` runs it beside its
//! peer.
#![allow(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::time::Instant;

use freeaugment_base::random::{Purpose, Stream};
use freeaugment_nn::optimizer::Sgd;
use freeaugment_nn::{Batch, Classifier, Device, Network};

fn argument(name: &str, default: &str) -> String {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1).unwrap_or_else(|| default.to_owned())
}

fn number(name: &str, default: &str) -> usize {
    argument(name, default).parse().unwrap_or_else(|_| panic!("{name} takes a number"))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Peak resident memory of this process, in MiB; 0 where the system does not say.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB"))
        .and_then(|kib| kib.trim().parse::<u64>().ok())
        .unwrap_or(0)
        / 1024
}

fn main() {
    let name = argument("--net", "WRN-16-1");
    let (count, size, steps) = (number("--batch", "32"), number("--size", "32"), number("--steps", "5"));
    let network =
        Network::new(name.parse().expect("a network's name"), number("--classes", "10"), 3).unwrap();
    let device = Device::open(&argument("--device", "cpu")).unwrap_or_else(|error| panic!("{error}"));
    let mut classifier = Classifier::new(network, &device, 1);
    let mut sgd = Sgd::new(0.9, true, 5e-4).unwrap();
    let mut images = vec![0.0; 2 * count * 3 * size * size];
    Stream::new(1, Purpose::named("bench/images"), 0, 0).normal(&mut images);
    let labels: Vec<u32> = (0..count as u32).map(|i| i % 10).collect();
    let (training, validation) = images.split_at(images.len() / 2);
    let training = Batch { images: training, labels: &labels, height: size, width: size };
    let validation = Batch { images: validation, ..training };
    let (mut plain, mut stepped, mut parts) = (Vec::new(), Vec::new(), [const { Vec::new() }; 4]);
    let clock = |times: &mut Vec<f64>, start: Instant| times.push(1e3 * start.elapsed().as_secs_f64());
    for step in 0..=steps {
        if step == 1 {
            // The first round only warms up.
            plain.clear();
            stepped.clear();
            parts = [const { Vec::new() }; 4];
        }
        let start = Instant::now();
        let evaluation = classifier.train(training).unwrap();
        clock(&mut plain, start);
        sgd.step(classifier.weights_mut(), &evaluation.gradient, 0.01).unwrap();
        clock(&mut stepped, start);

        let start = Instant::now();
        let (evaluation, record) = classifier.train_and_keep(training).unwrap();
        clock(&mut parts[0], start);
        sgd.step(classifier.weights_mut(), &evaluation.gradient, 0.01).unwrap();
        let middle = Instant::now();
        let v = classifier.gradient(validation).unwrap().gradient;
        clock(&mut parts[1], middle);
        let middle = Instant::now();
        let q = record.hypergradient(&v).unwrap().q;
        assert!(q.iter().all(|q| q.is_finite()));
        clock(&mut parts[2], middle);
        drop(record);
        clock(&mut parts[3], start);
    }
    let [kept, validation, q, whole] = parts.map(median);
    println!(
        "{{\"net\": \"{name}\", \"device\": \"{device}\", \"batch\": {count}, \"size\": {size}, \"train\": {:.2}, \
         \"train_and_sgd\": {:.2}, \"train_and_keep\": {kept:.2}, \"validation\": {validation:.2}, \"q\": {q:.2}, \
         \"classifier\": {whole:.2}, \"peak_mib\": {}}}",
        median(plain),
        median(stepped),
        peak_memory()
    );
}
