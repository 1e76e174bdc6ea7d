//! How long one image takes: `cargo test --release -p freeaugment-baseline --test speed -- --ignored --nocapture`.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::Instant;

use freeaugment_base::random::{Purpose, Stream};
use freeaugment_baseline::{Action, Baseline, Moment, Operation};
use freeaugment_data::Picture;

const ROUNDS: u32 = 20_000;

fn picture() -> Picture {
    let pixels = (0..32 * 32 * 3_u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    Picture { height: 32, width: 32, channels: 3, pixels }
}

fn microseconds(mut work: impl FnMut(u32)) -> f64 {
    let start = Instant::now();
    (0..ROUNDS).for_each(&mut work);
    start.elapsed().as_secs_f64() * 1e6 / f64::from(ROUNDS)
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    let original = picture();
    let mut work = original.clone();
    for operation in Operation::ALL {
        let action = Action::new(operation, if operation == Operation::Rotate { 17.0 } else { 0.4 });
        let time = microseconds(|_| {
            work.pixels.copy_from_slice(&original.pixels);
            black_box(action).apply(black_box(&mut work));
        });
        println!("{time:8.2} µs  {}", operation.name());
    }
    let moment = Moment { height: 32, width: 32, progress: 0.0 };
    for baseline in Baseline::all() {
        let Some(augmentation) = baseline.augmentation() else { continue };
        let time = microseconds(|index| {
            work.pixels.copy_from_slice(&original.pixels);
            let mut stream = Stream::new(1, Purpose::named("speed"), 0, index);
            for action in augmentation.actions(&mut stream, moment) {
                action.apply(black_box(&mut work));
            }
        });
        println!("{time:8.2} µs  {baseline}");
    }
}
