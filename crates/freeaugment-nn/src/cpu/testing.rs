//! Helpers of the kernels' tests.

use freeaugment_base::random::{Purpose, Stream};

/// Standard normal noise, the same for the same seed.
pub(crate) fn noise(seed: u64, len: usize) -> Vec<f32> {
    let mut values = vec![0.0; len];
    Stream::new(seed, Purpose::named("test/noise"), 0, 0).normal(&mut values);
    values
}

/// Fails where a value is further from the wanted one than `tolerance` of the largest wanted one.
pub(crate) fn assert_close(found: &[f32], wanted: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), wanted.len(), "{what}");
    let scale = wanted.iter().fold(f64::MIN_POSITIVE, |scale, value| scale.max(value.abs()));
    for (index, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let error = (f64::from(*found) - wanted).abs() / scale;
        assert!(error <= tolerance, "{what}: {found} in place of {wanted} at {index} (error {error:.1e})");
    }
}
