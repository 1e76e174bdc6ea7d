//! Resizing with a bicubic filter that widens when it shrinks, as PIL does.

/// Of the Keys family; PIL's choice.
const A: f64 = -0.5;
/// Half the filter's width at scale 1.
const SUPPORT: f64 = 2.0;

/// A box of an image, in pixels: where to resize from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Window {
    pub(crate) top: f64,
    pub(crate) left: f64,
    pub(crate) height: f64,
    pub(crate) width: f64,
}

/// The weights of one output position and where their inputs begin.
struct Taps {
    first: usize,
    weights: Vec<f32>,
}

fn cubic(x: f64) -> f64 {
    let x = x.abs();
    if x < 1.0 {
        ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0
    } else if x < 2.0 {
        (((x - 5.0) * x + 8.0) * x - 4.0) * A
    } else {
        0.0
    }
}

/// The taps that turn `length` input positions from `start` (of `limit` there are) into `outputs`.
fn taps(start: f64, length: f64, limit: usize, outputs: usize) -> Vec<Taps> {
    let scale = length / outputs as f64;
    let stretch = scale.max(1.0);
    (0..outputs)
        .map(|output| {
            let centre = start + (output as f64 + 0.5) * scale;
            let reach = SUPPORT * stretch;
            let first = ((centre - reach + 0.5).max(0.0) as usize).min(limit - 1);
            let end = ((centre + reach + 0.5) as usize).clamp(first + 1, limit);
            let raw: Vec<f64> = (first..end).map(|at| cubic((at as f64 - centre + 0.5) / stretch)).collect();
            let sum: f64 = raw.iter().sum();
            let weights = if sum.abs() < 1e-12 {
                vec![1.0 / raw.len() as f32; raw.len()]
            } else {
                raw.iter().map(|weight| (weight / sum) as f32).collect()
            };
            Taps { first, weights }
        })
        .collect()
}

/// Resizes a window of planes `[channel, height, width]` to `[channel, size.0, size.1]`; values stay in [0, 1].
pub(crate) fn resize(
    planes: &[f32],
    (height, width): (usize, usize),
    window: Window,
    size: (usize, usize),
) -> Vec<f32> {
    let columns = taps(window.left, window.width, width, size.1);
    let rows = taps(window.top, window.height, height, size.0);
    let channels = planes.len() / (height * width);
    let mut out = Vec::with_capacity(channels * size.0 * size.1);
    let mut narrow = vec![0.0_f32; height * size.1];
    for plane in planes.chunks_exact(height * width) {
        // Rows that no output needs are left alone.
        let needed = rows.first().map_or(0, |row| row.first)
            ..rows.iter().map(|row| row.first + row.weights.len()).max().unwrap_or(0);
        for y in needed {
            let line = &plane[y * width..][..width];
            for (x, taps) in columns.iter().enumerate() {
                let inputs = &line[taps.first..][..taps.weights.len()];
                narrow[y * size.1 + x] = inputs.iter().zip(&taps.weights).map(|(v, w)| v * w).sum();
            }
        }
        for taps in &rows {
            for x in 0..size.1 {
                let sum: f32 = taps
                    .weights
                    .iter()
                    .enumerate()
                    .map(|(at, weight)| weight * narrow[(taps.first + at) * size.1 + x])
                    .sum();
                out.push(sum.clamp(0.0, 1.0));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(height: usize, width: usize) -> Window {
        Window { top: 0.0, left: 0.0, height: height as f64, width: width as f64 }
    }

    #[test]
    fn the_same_size_gives_the_same_image() {
        let planes: Vec<f32> = (0..3 * 5 * 7).map(|i| (i * 37 % 101) as f32 / 100.0).collect();
        let same = resize(&planes, (5, 7), whole(5, 7), (5, 7));
        assert!(planes.iter().zip(&same).all(|(a, b)| (a - b).abs() < 1e-6));
    }

    #[test]
    fn numbers_are_those_of_pil() {
        // PIL.Image.fromarray(np.arange(36, dtype=np.float32).reshape(6, 6) / 35).resize((4, 3), BICUBIC)
        let planes: Vec<f32> = (0..36).map(|i| i as f32 / 35.0).collect();
        let small = resize(&planes, (6, 6), whole(6, 6), (3, 4));
        for (found, wanted) in small.iter().zip(PIL) {
            assert!((found - wanted).abs() < 2e-6, "{found} in place of {wanted}");
        }
        // The same with box=(1, 2, 5, 6) to (2, 2).
        let window = Window { top: 2.0, left: 1.0, height: 4.0, width: 4.0 };
        for (found, wanted) in resize(&planes, (6, 6), window, (2, 2)).iter().zip(PIL_BOX) {
            assert!((found - wanted).abs() < 2e-6, "{found} in place of {wanted}");
        }
    }

    const PIL: [f32; 12] = [
        0.101_475,
        0.142_075_2,
        0.187_273_2,
        0.227_873_5,
        0.436_800_7,
        0.477_401,
        0.522_599,
        0.563_199_3,
        0.772_126_5,
        0.812_726_7,
        0.857_924_8,
        0.898_525,
    ];
    const PIL_BOX: [f32; 4] = [0.467_910_5, 0.532_089_6, 0.803_236_2, 0.867_415_3];
}
