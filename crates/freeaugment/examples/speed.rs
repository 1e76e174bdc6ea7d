//! Images per second of a whole policy, in the words of the peers' benchmark: see `scripts/compare-speed`.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use freeaugment::{Error, Estimator, Groups, Images, PolicyConfig, Shape};
use freeaugment_base::random::{Purpose, Stream};
use freeaugment_base::simd;

/// Repetitions of which the median counts.
const ROUNDS: usize = 15;

fn main() -> Result<(), Error> {
    if std::env::var_os("FREEAUGMENT_PORTABLE").is_some() {
        simd::force_portable();
    }
    println!("{:?} instructions, {} threads", simd::instruction_set(), rayon::current_num_threads());
    for (size, count) in [(32, 128), (224, 16)] {
        let shape = Shape { count, channels: 3, height: size, width: size };
        let mut data = vec![0.0; count * shape.image()];
        Stream::new(0, Purpose::named("speed/images"), 0, 0).uniform(&mut data);
        let images = Images::new(data, shape)?;
        let mut cotangent = vec![0.0; images.as_slice().len()];
        Stream::new(0, Purpose::named("speed/cotangent"), 0, 0).normal(&mut cotangent);
        let indices: Vec<u32> = (0..count as u32).collect();
        let mut out = images.clone();
        for (name, estimator) in
            [("straight-through", Estimator::StraightThrough), ("soft backward", Estimator::SoftBackward)]
        {
            let policy = PolicyConfig { estimator, ..PolicyConfig::default() }.init()?;
            let seconds = median(|epoch| {
                let sample = policy.sample(policy.draw(0, epoch, &indices), 1.0)?;
                policy.apply_into(&images, &sample, &mut out)?;
                policy.pullback(&images, &sample, &cotangent, Groups::ALL).map(drop)
            })?;
            report(&format!("sample, apply, pull back, {name}"), shape, seconds);
        }
        let policy = PolicyConfig::default().init()?;
        let seconds = median(|epoch| {
            let sample = policy.sample(policy.draw(0, epoch, &indices), 0.1)?;
            policy.apply_into(&images, &sample, &mut out)
        })?;
        report("sample at t = 0.1, apply", shape, seconds);
    }
    Ok(())
}

/// The median time of a round, in seconds, after a few to warm up.
fn median(mut round: impl FnMut(u32) -> Result<(), Error>) -> Result<f64, Error> {
    let mut times = Vec::new();
    for epoch in 0..ROUNDS + 3 {
        let start = Instant::now();
        round(epoch as u32)?;
        times.push(start.elapsed().as_secs_f64());
    }
    let times = &mut times[3..];
    times.sort_unstable_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn report(what: &str, shape: Shape, seconds: f64) {
    let Shape { count, height, width, .. } = shape;
    println!("  {what:42} {height}x{width} batch {count:4}: {:9.0} images/s", count as f64 / seconds);
}
