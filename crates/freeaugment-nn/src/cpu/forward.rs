//! The forward pass: values, and in a second run their tangents.

use std::sync::Arc;

use super::buffer::{Buffer, Pool};
use super::graph::{Graph, Id, Node, Operation};
use super::normalization::{self, Affine, Moments, Tangent};
use super::share::Share;
use super::{linear, pooling, sum};
use crate::parameter::{Statistics, Weights};

/// A value that several places may hold.
pub(crate) type Shared = Arc<Buffer>;

/// What the forward pass computed and the later passes need.
#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) batch: usize,
    pub(crate) values: Vec<Option<Shared>>,
    pub(crate) moments: Vec<Option<Moments>>,
    /// The winners of max pooling.
    pub(crate) picks: Vec<Vec<u32>>,
}

impl Trace {
    /// The value of a node that is still held.
    pub(crate) fn value(&self, id: Id) -> &[f32] {
        self.values[id].as_ref().expect("a value is held until its last use")
    }
}

/// Which statistics batch norm uses.
#[derive(Clone, Copy)]
pub(crate) enum Norms<'a> {
    /// Those of the batch: training.
    Batch,
    /// The running ones: inference.
    Running(&'a Statistics),
}

/// A network with its weights, the pool that values come from, and who has which images.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) weights: &'a Weights,
    pub(crate) pool: &'a Arc<Pool>,
    pub(crate) share: &'a Share,
}

impl<'a> Context<'a> {
    pub(crate) fn affine(&self, scale: usize, shift: usize) -> Affine<'a> {
        Affine { scale: self.weights.at(scale), shift: self.weights.at(shift) }
    }

    /// Runs all nodes on `input`, `[batch, height, width, channel]`. Inference holds a value only until its last use.
    pub(crate) fn forward(&self, input: Buffer, norms: Norms) -> Trace {
        let nodes = &self.graph.nodes;
        let mut trace = Trace {
            batch: input.len() / nodes[0].frame.len(),
            values: vec![None; nodes.len()],
            moments: vec![None; nodes.len()],
            picks: vec![Vec::new(); nodes.len()],
        };
        trace.values[0] = Some(Arc::new(input));
        for id in 1..nodes.len() {
            let out = self.compute(id, &mut trace, norms);
            trace.values[id] = Some(Arc::new(out));
            if matches!(norms, Norms::Running(_)) {
                for earlier in 0..id {
                    if self.graph.last_use[earlier] == id {
                        trace.values[earlier] = None;
                    }
                }
            }
        }
        trace
    }

    fn compute(&self, id: Id, trace: &mut Trace, norms: Norms) -> Buffer {
        let Node { operation, input, frame } = self.graph.nodes[id];
        let mut out = self.pool.take(trace.batch * frame.len());
        let x = trace.values[input].clone().expect("operations are in order");
        match operation {
            Operation::Input => unreachable!("the input is not computed"),
            Operation::Convolve { layer, weight, addend } => {
                let addend = addend.map(|addend| trace.value(addend));
                layer.forward(&x, self.weights.at(weight), &mut out, addend);
            }
            Operation::Normalize { scale, shift, norm, activation } => {
                let moments = match norms {
                    Norms::Batch => Moments::of_batch(&x, frame.channels, self.share),
                    Norms::Running(statistics) => {
                        let range = statistics.layout().norms()[norm].range();
                        let (mean, variance) =
                            (&statistics.mean()[range.clone()], &statistics.variance()[range]);
                        Moments::new(mean.to_vec(), variance.to_vec())
                    }
                };
                normalization::forward(&x, &moments, self.affine(scale, shift), activation, &mut out);
                trace.moments[id] = Some(moments);
            }
            Operation::Add { other, activation } => {
                sum::forward(&x, trace.value(other), activation, &mut out);
            }
            Operation::MaxPool { window } => {
                let mut picks = vec![0; out.len()];
                pooling::max(&x, self.graph.nodes[input].frame, frame, window, &mut out, &mut picks);
                trace.picks[id] = picks;
            }
            Operation::MeanPixels => pooling::mean(&x, self.graph.nodes[input].frame, &mut out),
            Operation::Linear { weight, bias } => {
                linear::forward(&[(&x, self.weights.at(weight))], self.weights.at(bias), &mut out);
            }
        }
        out
    }
}

/// What the tangent pass computed and the tangent of the backward pass needs.
pub(crate) struct TangentTrace {
    /// Only the tangents that batch norms and activated sums read are still held, and the logits'; or all of them.
    pub(crate) tangents: Vec<Option<Shared>>,
    pub(crate) norms: Vec<Option<Tangent>>,
}

impl TangentTrace {
    pub(crate) fn tangent(&self, id: Id) -> &[f32] {
        self.tangents[id].as_ref().expect("a tangent is held until its last use")
    }
}

impl Context<'_> {
    /// How every value of `trace` moves when the weights move along `direction` and the input stays. Unless all is to be
    /// kept, which a Hessian-vector product needs, a tangent is released as soon as nothing reads it any more.
    pub(crate) fn tangent(&self, trace: &Trace, direction: &Weights, keep: bool) -> TangentTrace {
        let nodes = &self.graph.nodes;
        let mut out = TangentTrace { tangents: vec![None; nodes.len()], norms: vec![None; nodes.len()] };
        let mut needed = vec![keep; nodes.len()];
        for node in nodes {
            match node.operation {
                Operation::Normalize { .. } => needed[node.input] = true,
                Operation::Add { other, activation: Some(_) } => {
                    needed[node.input] = true;
                    needed[other] = true;
                }
                _ => {}
            }
        }
        // Convolutions know that the input stays; whatever else reads it is told so in numbers.
        let reads_input = |node: &Node| match node.operation {
            Operation::Convolve { addend, .. } => addend == Some(0),
            _ => node.reads().any(|read| read == 0),
        };
        if nodes.iter().any(reads_input) {
            let mut still = self.pool.take(trace.batch * nodes[0].frame.len());
            still.fill(0.0);
            out.tangents[0] = Some(Arc::new(still));
        }
        for id in 1..nodes.len() {
            let tangent = self.compute_tangent(id, trace, direction, &mut out);
            out.tangents[id] = Some(Arc::new(tangent));
            for (earlier, needed) in needed.iter().enumerate().take(id) {
                if self.graph.last_use[earlier] == id && !needed {
                    out.tangents[earlier] = None;
                }
            }
        }
        out
    }

    fn compute_tangent(
        &self,
        id: Id,
        trace: &Trace,
        direction: &Weights,
        found: &mut TangentTrace,
    ) -> Buffer {
        let Node { operation, input, frame } = self.graph.nodes[id];
        let mut out = self.pool.take(trace.batch * frame.len());
        let x = trace.value(input);
        // Only the network's input may have no tangent, and only convolutions read it then.
        let dx = found.tangents[input].clone();
        let moving = || dx.as_deref().expect("operations are in order");
        match operation {
            Operation::Input => unreachable!("the input is not computed"),
            Operation::Convolve { layer, weight, addend } => {
                let addend = addend.map(|addend| found.tangent(addend));
                let by_weight = (x, direction.at(weight));
                match &dx {
                    Some(dx) => layer.tangent(&[(dx, self.weights.at(weight)), by_weight], &mut out, addend),
                    None => layer.tangent(&[by_weight], &mut out, addend),
                }
            }
            Operation::Normalize { scale, shift, activation, .. } => {
                let moments = trace.moments[id].as_ref().expect("every norm has moments");
                let affine = self.affine(scale, shift);
                let moved = Affine { scale: direction.at(scale), shift: direction.at(shift) };
                let left = normalization::tangent(
                    self.share,
                    x,
                    moments,
                    affine,
                    activation,
                    moving(),
                    moved,
                    &mut out,
                );
                found.norms[id] = Some(left);
            }
            Operation::Add { other, activation } => {
                let mut change = self.pool.take(out.len());
                sum::forward(moving(), found.tangent(other), None, &mut change);
                sum::linearize(x, trace.value(other), activation, &change, &mut out);
            }
            Operation::MaxPool { .. } => {
                pooling::max_tangent(
                    moving(),
                    self.graph.nodes[input].frame,
                    frame,
                    &trace.picks[id],
                    &mut out,
                );
            }
            Operation::MeanPixels => pooling::mean(moving(), self.graph.nodes[input].frame, &mut out),
            Operation::Linear { weight, bias } => {
                let terms = [(&moving()[..], self.weights.at(weight)), (x, direction.at(weight))];
                linear::forward(&terms, direction.at(bias), &mut out);
            }
        }
        out
    }
}
