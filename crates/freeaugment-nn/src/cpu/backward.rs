//! The backward pass: cotangents of all values and gradients of the weights; and its tangent, which ends in `q`.
//!
//! `q` is the gradient of ⟨∇loss, direction⟩ with respect to the input. Reverse mode over the (value, tangent) pass
//! gives every value two adjoints: that of its tangent, which is the ordinary cotangent the backward pass has already
//! computed, and that of the value itself, which is how the ordinary cotangent moves along the direction. So with the
//! cotangents kept, only the second has to be computed: two convolutions per layer forward, two backward.

use std::ops::Range;
use std::sync::Arc;

use super::forward::{Context, Shared, TangentTrace, Trace};
use super::frame::Frame;
use super::graph::{Id, Node, Operation};
use super::normalization::{self, Affine, Cotangent};
use super::share::Sums;
use super::{linear, pooling, sum};
use crate::parameter::Weights;

/// What the backward pass computed.
#[derive(Debug)]
pub(crate) struct Adjoint {
    pub(crate) cotangents: Vec<Option<Shared>>,
    pub(crate) norms: Vec<Option<Cotangent>>,
}

/// What a backward pass is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    /// Gradients of the weights.
    pub(crate) weights: bool,
    /// The cotangent of the input.
    pub(crate) input: bool,
    /// All cotangents stay, for the tangent of this pass.
    pub(crate) keep: bool,
}

impl Context<'_> {
    /// Cotangents from the logits' one; gradients are written to `gradient` where they are wanted.
    ///
    /// Unless all is to be kept, a value is released as soon as nothing reads it any more.
    pub(crate) fn backward(
        &self,
        trace: &mut Trace,
        logits: Shared,
        wanted: Wanted,
        gradient: &mut Sums,
    ) -> Adjoint {
        let count = self.graph.nodes.len();
        let mut adjoint = Adjoint { cotangents: vec![None; count], norms: vec![None; count] };
        adjoint.cotangents[count - 1] = Some(logits);
        for id in (1..count).rev() {
            let cotangent = adjoint.cotangents[id].clone().expect("every value reaches the logits");
            self.pull_back(id, trace, &cotangent, wanted, gradient, &mut adjoint);
            if !wanted.keep {
                trace.values[id] = None;
                adjoint.cotangents[id] = None;
            }
        }
        adjoint
    }

    fn pull_back(
        &self,
        id: Id,
        trace: &Trace,
        cotangent: &Shared,
        wanted: Wanted,
        gradient: &mut Sums,
        adjoint: &mut Adjoint,
    ) {
        let Node { operation, input, frame } = self.graph.nodes[id];
        let source = self.graph.nodes[input].frame;
        let x = trace.value(input);
        let len = trace.batch * source.len();
        let [of_x, of_cotangent] = [source, frame].map(Images);
        match operation {
            Operation::Input => {}
            Operation::Convolve { layer, weight, addend } => {
                if let Some(addend) = addend {
                    self.share(&mut adjoint.cotangents, addend, cotangent);
                }
                if wanted.weights {
                    gradient.add(weight, |piece, out| {
                        layer.weights(of_x.cut(x, &piece), of_cotangent.cut(cotangent, &piece), out);
                    });
                }
                if input != 0 || wanted.input {
                    self.collect(&mut adjoint.cotangents, input, len, |out, addend| {
                        layer.backward(&[(cotangent, self.weights.at(weight))], out, addend);
                    });
                }
            }
            Operation::Normalize { scale, shift, activation, .. } => {
                let moments = trace.moments[id].as_ref().expect("every norm has moments");
                let affine = self.affine(scale, shift);
                let left = self.collect(&mut adjoint.cotangents, input, len, |out, addend| {
                    normalization::backward(
                        self.share, x, moments, affine, activation, cotangent, out, addend,
                    )
                });
                let pixels = (self.share.total() * frame.pixels()) as f32;
                for (target, means) in [(scale, &left.mean_product), (shift, &left.mean)] {
                    for (gradient, mean) in gradient.whole(target).iter_mut().zip(means) {
                        *gradient = mean * pixels;
                    }
                }
                adjoint.norms[id] = Some(left);
            }
            Operation::Add { other, activation } => {
                let mut z = self.pool.take(len);
                sum::linearize(x, trace.value(other), activation, cotangent, &mut z);
                let z = Arc::new(z);
                self.share(&mut adjoint.cotangents, input, &z);
                self.share(&mut adjoint.cotangents, other, &z);
            }
            Operation::MaxPool { .. } => self.collect(&mut adjoint.cotangents, input, len, |out, addend| {
                pooling::max_backward(cotangent, source, frame, &trace.picks[id], out, addend);
            }),
            Operation::MeanPixels => self.collect(&mut adjoint.cotangents, input, len, |out, addend| {
                pooling::mean_backward(cotangent, source, out, addend);
            }),
            Operation::Linear { weight, bias } => {
                if wanted.weights {
                    gradient.add(weight, |piece, out| {
                        let cotangent = of_cotangent.cut(cotangent, &piece);
                        linear::weights(of_x.cut(x, &piece), cotangent, frame.channels, out);
                    });
                    gradient.add(bias, |piece, out| linear::bias(of_cotangent.cut(cotangent, &piece), out));
                }
                self.collect(&mut adjoint.cotangents, input, len, |out, addend| {
                    linear::backward(&[(cotangent, self.weights.at(weight))], frame.channels, out, addend);
                });
            }
        }
    }

    /// Adds a cotangent that is already there to a value's; the first is shared, not copied.
    fn share(&self, cotangents: &mut [Option<Shared>], id: Id, cotangent: &Shared) {
        let total = match cotangents[id].take() {
            None => Arc::clone(cotangent),
            Some(earlier) => {
                let mut total = self.pool.take(earlier.len());
                sum::forward(&earlier, cotangent, None, &mut total);
                Arc::new(total)
            }
        };
        cotangents[id] = Some(total);
    }

    /// Lets `write` compute a value's cotangent on top of what has already arrived there.
    fn collect<R>(
        &self,
        cotangents: &mut [Option<Shared>],
        id: Id,
        len: usize,
        write: impl FnOnce(&mut [f32], Option<&[f32]>) -> R,
    ) -> R {
        let mut out = self.pool.take(len);
        let earlier = cotangents[id].take();
        let result = write(&mut out, earlier.as_deref().map(|earlier| &earlier[..]));
        cotangents[id] = Some(Arc::new(out));
        result
    }

    /// The tangent of [`Self::backward`] down to the input: `q`, `[batch, height, width, channel]`. Where it is asked for,
    /// how the gradient of the weights moves is written to `product`: the Hessian times the direction.
    ///
    /// `logits` is how the logits' cotangent moves.
    pub(crate) fn backward_tangent(
        &self,
        trace: &Trace,
        adjoint: &Adjoint,
        direction: &Weights,
        mut moved: TangentTrace,
        logits: Shared,
        mut product: Option<&mut Sums>,
    ) -> Shared {
        let count = self.graph.nodes.len();
        let mut seconds: Vec<Option<Shared>> = vec![None; count];
        seconds[count - 1] = Some(logits);
        for id in (1..count).rev() {
            let second = seconds[id].take().expect("every value reaches the logits");
            let product = product.as_deref_mut();
            self.pull_back_tangent(id, trace, adjoint, direction, &moved, &second, &mut seconds, product);
            moved.tangents[id] = None;
        }
        seconds[0].take().expect("every network reads its input")
    }

    #[allow(clippy::too_many_arguments)]
    fn pull_back_tangent(
        &self,
        id: Id,
        trace: &Trace,
        adjoint: &Adjoint,
        direction: &Weights,
        moved: &TangentTrace,
        second: &Shared,
        seconds: &mut [Option<Shared>],
        product: Option<&mut Sums>,
    ) {
        let Node { operation, input, frame } = self.graph.nodes[id];
        let source = self.graph.nodes[input].frame;
        let len = trace.batch * source.len();
        let cotangent = adjoint.cotangents[id].as_ref().expect("all cotangents were kept");
        let [of_x, of_cotangent] = [source, frame].map(Images);
        match operation {
            Operation::Input => {}
            Operation::Convolve { layer, weight, addend } => {
                if let Some(addend) = addend {
                    self.share(seconds, addend, second);
                }
                if let Some(product) = product {
                    let (x, dx) = (trace.value(input), moved.tangents[input].as_deref());
                    product.add(weight, |piece, out| {
                        layer.weights(of_x.cut(x, &piece), of_cotangent.cut(second, &piece), out);
                        // Only the network's input may have no tangent: it stays.
                        if let Some(dx) = dx {
                            let mut more = self.pool.take(out.len());
                            layer.weights(
                                of_x.cut(dx, &piece),
                                of_cotangent.cut(cotangent, &piece),
                                &mut more,
                            );
                            add(out, &more);
                        }
                    });
                }
                let terms = [(&second[..], self.weights.at(weight)), (cotangent, direction.at(weight))];
                self.collect(seconds, input, len, |out, addend| layer.backward(&terms, out, addend));
            }
            Operation::Normalize { scale, shift, activation, .. } => {
                let moments = trace.moments[id].as_ref().expect("every norm has moments");
                let affine = self.affine(scale, shift);
                let affine_tangent = Affine { scale: direction.at(scale), shift: direction.at(shift) };
                let left = adjoint.norms[id].as_ref().expect("every norm was pulled back");
                let tangent = moved.norms[id].as_ref().expect("every norm has a tangent");
                let means = self.collect(seconds, input, len, |out, addend| {
                    normalization::backward_tangent(
                        self.share,
                        trace.value(input),
                        moved.tangent(input),
                        (moments, affine, affine_tangent),
                        activation,
                        (cotangent, left),
                        (second, tangent),
                        out,
                        addend,
                    )
                });
                if let Some(product) = product {
                    let pixels = (self.share.total() * frame.pixels()) as f32;
                    for (target, means) in [(shift, &means[0]), (scale, &means[1])] {
                        for (product, mean) in product.whole(target).iter_mut().zip(means) {
                            *product = mean * pixels;
                        }
                    }
                }
            }
            Operation::Add { other, activation } => {
                let (a, b) = (trace.value(input), trace.value(other));
                let mut z = self.pool.take(len);
                sum::linearize(a, b, activation, second, &mut z);
                if activation.is_some() {
                    let mut change = self.pool.take(len);
                    sum::forward(moved.tangent(input), moved.tangent(other), None, &mut change);
                    sum::add_bend(a, b, activation, cotangent, &change, &mut z);
                }
                let z = Arc::new(z);
                self.share(seconds, input, &z);
                self.share(seconds, other, &z);
            }
            Operation::MaxPool { .. } => self.collect(seconds, input, len, |out, addend| {
                pooling::max_backward(second, source, frame, &trace.picks[id], out, addend);
            }),
            Operation::MeanPixels => self.collect(seconds, input, len, |out, addend| {
                pooling::mean_backward(second, source, out, addend);
            }),
            Operation::Linear { weight, bias } => {
                if let Some(product) = product {
                    let (x, dx) = (trace.value(input), moved.tangent(input));
                    product.add(weight, |piece, out| {
                        let second = of_cotangent.cut(second, &piece);
                        linear::weights(of_x.cut(x, &piece), second, frame.channels, out);
                        let mut more = self.pool.take(out.len());
                        let cotangent = of_cotangent.cut(cotangent, &piece);
                        linear::weights(of_x.cut(dx, &piece), cotangent, frame.channels, &mut more);
                        add(out, &more);
                    });
                    // How the input moves is no matter of the bias.
                    product.add(bias, |piece, out| linear::bias(of_cotangent.cut(second, &piece), out));
                }
                let terms = [(&second[..], self.weights.at(weight)), (cotangent, direction.at(weight))];
                self.collect(seconds, input, len, |out, addend| {
                    linear::backward(&terms, frame.channels, out, addend);
                });
            }
        }
    }
}

/// The images of values whose images have this frame.
#[derive(Clone, Copy)]
struct Images(Frame);

impl Images {
    fn cut<'a>(self, values: &'a [f32], images: &Range<usize>) -> &'a [f32] {
        &values[images.start * self.0.len()..images.end * self.0.len()]
    }
}

fn add(total: &mut [f32], more: &[f32]) {
    for (total, more) in total.iter_mut().zip(more) {
        *total += more;
    }
}
