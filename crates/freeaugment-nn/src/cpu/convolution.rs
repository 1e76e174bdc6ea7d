//! One convolution layer: forward, to the input, to the weights; each with the kernel that suits its shape.

use rayon::prelude::*;

use super::direct::{self, Walk};
use super::frame::Frame;
use super::{scratch, winograd};
use crate::pass::Convolution;

/// A convolution on images of a known size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layer {
    pub(crate) convolution: Convolution,
    pub(crate) source: Frame,
    pub(crate) target: Frame,
}

/// What a convolution is computed for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Tangent,
    Backward,
}

/// Below this many input channels the input gradient is scattered.
const FEW: usize = 8;

/// Values (or cotangents) and the weights `[outputs, inputs, kernel, kernel]` they meet.
pub(crate) type Term<'a> = (&'a [f32], &'a [f32]);

impl Layer {
    fn uses_winograd(&self) -> bool {
        let Convolution { inputs, outputs, window } = self.convolution;
        window.kernel == 3 && window.stride == 1 && window.padding == 1 && winograd::fits(inputs, outputs)
    }

    /// `out = values ∗ weight (+ addend)`, rounded as little as a plain sum.
    pub(crate) fn forward(&self, values: &[f32], weight: &[f32], out: &mut [f32], addend: Option<&[f32]>) {
        self.run(&[(values, weight)], out, addend, Way::Forward);
    }

    /// `out = Σ over terms of values ∗ weights (+ addend)`: the tangent of a convolution is that of the input's tangent
    /// with the weights and that of the input with the weights' tangent.
    pub(crate) fn tangent(&self, terms: &[Term], out: &mut [f32], addend: Option<&[f32]>) {
        self.run(terms, out, addend, Way::Tangent);
    }

    /// `out = Σ over terms of the input gradient for (cotangent, weights) (+ addend)`.
    pub(crate) fn backward(&self, terms: &[Term], out: &mut [f32], addend: Option<&[f32]>) {
        self.run(terms, out, addend, Way::Backward);
    }

    fn run(&self, terms: &[Term], out: &mut [f32], addend: Option<&[f32]>, way: Way) {
        let Convolution { inputs, outputs, window } = self.convolution;
        let backward = way == Way::Backward;
        let (from, to) = if backward { (self.target, self.source) } else { (self.source, self.target) };
        if self.uses_winograd() {
            macro_rules! filter {
                ($size:ident) => {{
                    let len = winograd::$size::packed_len(inputs, outputs);
                    scratch::with(terms.len() * len, |packed| {
                        for ((_, weight), packed) in terms.iter().zip(packed.chunks_exact_mut(len)) {
                            winograd::$size::pack(weight, outputs, inputs, backward, packed);
                        }
                        let sources: Vec<_> = terms
                            .iter()
                            .zip(packed.chunks_exact(len))
                            .map(|((values, _), packed)| winograd::$size::Source { values, packed })
                            .collect();
                        winograd::$size::convolve(&sources, from, to, out, addend);
                    });
                }};
            }
            if way == Way::Forward { filter!(two) } else { filter!(four) }
        } else if backward && inputs < FEW {
            direct::scatter(&Walk::forward(window, self.source), terms, outputs, self.source, out, addend);
        } else {
            let walks = if backward {
                Walk::backward(window, self.source)
            } else {
                vec![Walk::forward(window, self.source)]
            };
            let pack = |weight: &[f32]| -> Vec<_> {
                walks
                    .iter()
                    .map(|walk| walk.pack(weight, (outputs, inputs), window.kernel, backward))
                    .collect()
            };
            let packed: Vec<_> = terms.iter().map(|(_, weight)| pack(weight)).collect();
            let sources: Vec<_> = terms
                .iter()
                .zip(&packed)
                .map(|((values, _), packed)| direct::Source { values, packed })
                .collect();
            direct::correlate(&walks, &sources, from, to, out, addend);
        }
    }

    /// The gradient to the weights, `[outputs, inputs, kernel, kernel]`.
    pub(crate) fn weights(&self, input: &[f32], cotangent: &[f32], gradient: &mut [f32]) {
        let Convolution { inputs, outputs, window } = self.convolution;
        if self.uses_winograd() {
            winograd::convolve_weights(input, self.source, cotangent, outputs, gradient);
            return;
        }
        let walk = Walk::forward(window, self.source);
        let sums = direct::correlate_weights(&walk, input, self.source, cotangent, outputs);
        let places = window.kernel * window.kernel;
        gradient.par_chunks_exact_mut(inputs * places).enumerate().for_each(|(output, row)| {
            for (index, value) in row.iter_mut().enumerate() {
                *value = sums[(index % places * inputs + index / places) * outputs + output];
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, noise};
    use super::*;
    use crate::pass::Window;

    /// Calls `visit(input index, weight index, output index)` for every product of the convolution.
    fn plain(layer: &Layer, batch: usize, mut visit: impl FnMut(usize, usize, usize)) {
        let Convolution { inputs, outputs, window } = layer.convolution;
        let (source, target) = (layer.source, layer.target);
        for image in 0..batch {
            for (oy, ox) in (0..target.height).flat_map(|y| (0..target.width).map(move |x| (y, x))) {
                for (ky, kx) in (0..window.kernel).flat_map(|y| (0..window.kernel).map(move |x| (y, x))) {
                    let y = (oy * window.stride + ky).wrapping_sub(window.padding);
                    let x = (ox * window.stride + kx).wrapping_sub(window.padding);
                    if y >= source.height || x >= source.width {
                        continue;
                    }
                    for (o, i) in (0..outputs).flat_map(|o| (0..inputs).map(move |i| (o, i))) {
                        visit(
                            ((image * source.height + y) * source.width + x) * inputs + i,
                            ((o * inputs + i) * window.kernel + ky) * window.kernel + kx,
                            ((image * target.height + oy) * target.width + ox) * outputs + o,
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn every_kernel_agrees_with_a_plain_loop_on_odd_shapes() {
        for (kernel, stride) in [(3, 1), (3, 2), (1, 1), (1, 2), (7, 2), (5, 1), (3, 3)] {
            for (height, width) in [(8, 8), (5, 7), (9, 6), (1, 3), (2, 13)] {
                for (inputs, outputs) in [(16, 16), (32, 48), (3, 16), (16, 10), (1, 5)] {
                    check(Window::centred(kernel, stride), (height, width), inputs, outputs);
                }
            }
        }
        // Windows that no built-in network has, but one of one's own may: even sides, every padding below the side.
        for (kernel, stride, padding) in [
            (3, 1, 0),
            (3, 1, 2),
            (2, 2, 0),
            (2, 1, 0),
            (2, 1, 1),
            (4, 2, 1),
            (4, 3, 3),
            (5, 3, 0),
            (2, 3, 1),
        ] {
            for (inputs, outputs) in [(16, 16), (4, 16), (3, 5)] {
                check(Window { kernel, stride, padding }, (6, 7), inputs, outputs);
            }
        }
    }

    fn check(window: Window, (height, width): (usize, usize), inputs: usize, outputs: usize) {
        const BATCH: usize = 3;
        let source = Frame { height, width, channels: inputs };
        let target =
            Frame { height: window.positions(height), width: window.positions(width), channels: outputs };
        let layer = Layer { convolution: Convolution { inputs, outputs, window }, source, target };
        let name = format!("{window:?} {height}x{width} {inputs}->{outputs}");
        let weight = noise(1, outputs * inputs * window.kernel * window.kernel);
        let other_weight = noise(2, weight.len());
        let input = noise(3, BATCH * source.len());
        let other_input = noise(4, input.len());
        let cotangent = noise(5, BATCH * target.len());
        let other_cotangent = noise(6, cotangent.len());

        let mut wanted: Vec<f64> = cotangent.iter().map(|&v| f64::from(v)).collect();
        let product = |a: f32, b: f32| f64::from(a) * f64::from(b);
        plain(&layer, BATCH, |i, w, o| {
            wanted[o] += product(input[i], weight[w]) + product(other_input[i], other_weight[w]);
        });
        let mut out = vec![f32::NAN; cotangent.len()];
        layer.tangent(&[(&input, &weight), (&other_input, &other_weight)], &mut out, Some(&cotangent));
        assert_close(&out, &wanted, 2e-5, &format!("tangent {name}"));

        let mut wanted: Vec<f64> = cotangent.iter().map(|&v| f64::from(v)).collect();
        plain(&layer, BATCH, |i, w, o| wanted[o] += product(input[i], weight[w]));
        layer.forward(&input, &weight, &mut out, Some(&cotangent));
        assert_close(&out, &wanted, 5e-6, &format!("forward {name}"));

        let mut wanted: Vec<f64> = input.iter().map(|&v| f64::from(v)).collect();
        plain(&layer, BATCH, |i, w, o| {
            wanted[i] += product(cotangent[o], weight[w]) + product(other_cotangent[o], other_weight[w]);
        });
        let mut out = vec![f32::NAN; input.len()];
        layer.backward(&[(&cotangent, &weight), (&other_cotangent, &other_weight)], &mut out, Some(&input));
        assert_close(&out, &wanted, 2e-5, &format!("backward {name}"));

        let mut wanted = vec![0.0; weight.len()];
        plain(&layer, BATCH, |i, w, o| wanted[w] += product(input[i], cotangent[o]));
        let mut out = vec![f32::NAN; weight.len()];
        layer.weights(&input, &cotangent, &mut out);
        assert_close(&out, &wanted, 2e-5, &format!("weights {name}"));
    }

    #[test]
    fn the_number_of_threads_does_not_change_a_bit() {
        let window = Window::centred(3, 1);
        let source = Frame { height: 9, width: 9, channels: 16 };
        for stride in [1, 2] {
            let window = Window { stride, ..window };
            let target = Frame { height: window.positions(9), width: window.positions(9), channels: 32 };
            let layer =
                Layer { convolution: Convolution { inputs: 16, outputs: 32, window }, source, target };
            let (input, weight) = (noise(1, 13 * source.len()), noise(2, 32 * 16 * 9));
            let run = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let mut out = vec![0.0; 13 * target.len()];
                    layer.forward(&input, &weight, &mut out, None);
                    let mut back = vec![0.0; input.len()];
                    layer.backward(&[(&out, &weight)], &mut back, None);
                    let mut gradient = vec![0.0; weight.len()];
                    layer.weights(&input, &out, &mut gradient);
                    [out, back, gradient]
                })
            };
            assert_eq!(run(1), run(3));
        }
    }
}
