//! The engine of the CPU: our own kernels, on values laid out as `[batch, height, width, channel]`.
//!
//! A network is laid out once as a list of operations ([`graph`]); every operation has its value, gradient, tangent
//! and the gradient's tangent next to each other in a file of its own. Nothing here depends on the number of threads:
//! work is cut by shape, and sums of pieces are joined in order ([`share`]): nor on how many processes share a batch.

// A function that is not inlined keeps its own instruction set, so what kernels are made of must be.
#![allow(clippy::inline_always)]

mod activation;
mod backward;
mod buffer;
mod convolution;
mod direct;
mod forward;
mod frame;
mod graph;
mod lane;
mod linear;
mod matmul;
mod normalization;
mod pooling;
mod scratch;
mod share;
#[cfg(test)]
mod speed;
mod sum;
#[cfg(test)]
mod testing;
mod winograd;

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;

use self::backward::{Adjoint, Wanted};
use self::buffer::{Buffer, Pool};
use self::forward::{Context, Norms, Trace};
use self::graph::{Graph, Operation};
use self::share::{Share, Sums, add_doubles};
use crate::loss::CrossEntropy;
use crate::network::Network;
use crate::parameter::{Statistics, Weights};
use crate::ranks::{Alone, Ranks};
use crate::{Batch, Error, Evaluation, Hypergradient};

/// Into how many partial sums the gradient of a piece to weights of `size` numbers is cut: enough for the cores of a
/// desktop, and no more than 64 MiB of them.
fn groups(batch: usize, size: usize) -> usize {
    ((16 << 20) / size.max(1)).clamp(2, 8).min(batch.max(1))
}

/// The sum of arrays of the same length, from first to last.
fn sum_in_order(parts: Vec<Vec<f32>>) -> Vec<f32> {
    const CHUNK: usize = 16_384;
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_default();
    let rest: Vec<_> = parts.collect();
    total.par_chunks_mut(CHUNK).enumerate().for_each(|(index, total)| {
        for part in &rest {
            for (total, value) in total.iter_mut().zip(&part[index * CHUNK..]) {
                *total += value;
            }
        }
    });
    total
}

/// The CPU's engine for one network.
#[derive(Debug)]
pub(crate) struct Engine {
    network: Network,
    pool: Arc<Pool>,
    ranks: Arc<dyn Ranks>,
    /// The network laid out for the image size seen last.
    plan: Mutex<Option<Plan>>,
}

/// A size of images, height and width, and the network laid out for it.
type Plan = ((usize, usize), Arc<Graph>);

/// What a training pass leaves behind for `q`.
#[derive(Debug)]
pub(crate) struct Record {
    graph: Arc<Graph>,
    pool: Arc<Pool>,
    share: Share,
    weights: Weights,
    trace: Trace,
    adjoint: Adjoint,
}

impl Engine {
    pub(crate) fn new(network: Network) -> Self {
        Self { network, pool: Arc::default(), ranks: Arc::new(Alone), plan: Mutex::new(None) }
    }

    /// From now on a batch is shared with others.
    pub(crate) fn set_ranks(&mut self, ranks: Arc<dyn Ranks>) {
        self.ranks = ranks;
    }

    fn plan(&self, height: usize, width: usize) -> Arc<Graph> {
        let mut plan = self.plan.lock().unwrap_or_else(PoisonError::into_inner);
        match &*plan {
            Some((size, graph)) if *size == (height, width) => Arc::clone(graph),
            _ => {
                let graph = Arc::new(Graph::plan(&self.network, height, width));
                *plan = Some(((height, width), Arc::clone(&graph)));
                graph
            }
        }
    }

    /// Images `[batch, channel, height, width]` as the kernels want them.
    fn import(&self, batch: Batch) -> Buffer {
        let (channels, pixels) = (self.network.channels(), batch.height * batch.width);
        let mut out = self.pool.take(batch.images.len());
        let images = batch.images.par_chunks_exact(channels * pixels);
        out.par_chunks_exact_mut(channels * pixels)
            .zip(images)
            .for_each(|(out, image)| transpose(image, channels, out));
        out
    }

    /// Loss, gradients and logits with batch statistics; with `keep`, also what `q` needs.
    pub(crate) fn gradient(
        &self,
        batch: Batch,
        weights: &Weights,
        statistics: Option<&mut Statistics>,
        loss: CrossEntropy,
        keep: bool,
    ) -> Result<(Evaluation, Option<Record>), Error> {
        let graph = self.plan(batch.height, batch.width);
        let share = Share::agree(&self.ranks, batch.labels.len())?;
        let context = Context { graph: &graph, weights, pool: &self.pool, share: &share };
        let mut trace = context.forward(self.import(batch), Norms::Batch);
        if let Some(statistics) = statistics {
            update(&context, &trace, statistics);
        }
        let (loss, logits, cotangent) = self.finish(&trace, &context, batch, loss);
        let mut gradient = Sums::new(&share, &self.pool, weights.layout());
        let wanted = Wanted { weights: true, input: false, keep };
        let adjoint = context.backward(&mut trace, Arc::new(cotangent), wanted, &mut gradient);
        let gradient = gradient.finish();
        let record = keep.then(|| Record {
            weights: weights.clone(),
            pool: Arc::clone(&self.pool),
            trace,
            adjoint,
            graph: Arc::clone(&graph),
            share,
        });
        Ok((Evaluation { loss, logits, gradient }, record))
    }

    /// Loss, and its gradient to the images.
    pub(crate) fn input_gradient(
        &self,
        batch: Batch,
        weights: &Weights,
        loss: CrossEntropy,
    ) -> Result<(f64, Vec<f32>), Error> {
        let graph = self.plan(batch.height, batch.width);
        let share = Share::agree(&self.ranks, batch.labels.len())?;
        let context = Context { graph: &graph, weights, pool: &self.pool, share: &share };
        let mut trace = context.forward(self.import(batch), Norms::Batch);
        let (loss, _, cotangent) = self.finish(&trace, &context, batch, loss);
        let mut ignored = Sums::new(&share, &self.pool, weights.layout());
        let wanted = Wanted { weights: false, input: true, keep: false };
        let adjoint = context.backward(&mut trace, Arc::new(cotangent), wanted, &mut ignored);
        let gradient = adjoint.cotangents[0].as_ref().expect("the input's cotangent was wanted");
        Ok((loss, export(gradient, self.network.channels(), batch.height * batch.width)))
    }

    /// Every image's part of ⟨∇loss, direction⟩: a tangent forward, and nothing backward.
    pub(crate) fn parts(
        &self,
        batch: Batch,
        weights: &Weights,
        direction: &Weights,
        loss: CrossEntropy,
    ) -> Result<Vec<f32>, Error> {
        let graph = self.plan(batch.height, batch.width);
        let share = Share::agree(&self.ranks, batch.labels.len())?;
        let context = Context { graph: &graph, weights, pool: &self.pool, share: &share };
        let trace = context.forward(self.import(batch), Norms::Batch);
        let moved = context.tangent(&trace, direction, false);
        let (_, _, cotangent) = self.finish(&trace, &context, batch, loss);
        Ok(rowwise_products(&cotangent, moved.tangent(graph.nodes.len() - 1), self.network.classes()))
    }

    /// The loss of the whole batch; logits and their cotangent of the own images.
    fn finish(
        &self,
        trace: &Trace,
        context: &Context,
        batch: Batch,
        loss: CrossEntropy,
    ) -> (f64, Vec<f32>, Buffer) {
        let (classes, share) = (self.network.classes(), context.share);
        let logits = trace.value(context.graph.nodes.len() - 1).to_vec();
        let mut cotangent = self.pool.take(logits.len());
        let sums = share.pieces().map(|piece| {
            let (rows, labels) = (piece.start * classes..piece.end * classes, &batch.labels[piece]);
            let (sum, gradient) =
                loss.sum_and_gradient(&logits[rows.clone()], labels, classes, share.total());
            cotangent[rows].copy_from_slice(&gradient);
            vec![sum]
        });
        let loss = share.sum(sums.collect(), add_doubles)[0] / share.total() as f64;
        (loss, logits, cotangent)
    }

    /// Logits with running statistics.
    pub(crate) fn logits(&self, batch: Batch, weights: &Weights, statistics: &Statistics) -> Vec<f32> {
        let graph = self.plan(batch.height, batch.width);
        let input = self.import(batch);
        let share = Share::alone(input.len() / graph.nodes[0].frame.len());
        let context = Context { graph: &graph, weights, pool: &self.pool, share: &share };
        let trace = context.forward(input, Norms::Running(statistics));
        trace.value(graph.nodes.len() - 1).to_vec()
    }
}

/// Moves running statistics towards a batch's.
fn update(context: &Context, trace: &Trace, statistics: &mut Statistics) {
    for (node, moments) in context.graph.nodes.iter().zip(&trace.moments) {
        if let (Operation::Normalize { norm, .. }, Some(moments)) = (node.operation, moments) {
            statistics.update(
                norm,
                &moments.mean,
                &moments.variance,
                context.share.total() * node.frame.pixels(),
            );
        }
    }
}

impl Record {
    /// ⟨∇loss, direction⟩ and its gradient to the images; with `product`, also that to the weights.
    pub(crate) fn hypergradient(
        &self,
        direction: &Weights,
        network: &Network,
        product: bool,
    ) -> (Hypergradient, Option<Weights>) {
        let Self { graph, weights, pool, share, .. } = self;
        let context = Context { graph, weights, pool, share };
        let moved = context.tangent(&self.trace, direction, product);
        let last = self.graph.nodes.len() - 1;
        let (logits, tangent) = (self.trace.value(last), moved.tangent(last));
        let cotangent = self.adjoint.cotangents[last].as_ref().expect("all cotangents were kept");
        let parts = rowwise_products(cotangent, tangent, network.classes());
        let change = CrossEntropy::gradient_tangent(logits, tangent, network.classes(), share.total());
        let mut second = self.pool.take(change.len());
        second.copy_from_slice(&change);
        let mut product = product.then(|| Sums::new(share, pool, direction.layout()));
        let (trace, adjoint, second) = (&self.trace, &self.adjoint, Arc::new(second));
        let q = context.backward_tangent(trace, adjoint, direction, moved, second, product.as_mut());
        let q = export(&q, network.channels(), self.graph.nodes[0].frame.pixels());
        (Hypergradient { parts, q }, product.map(Sums::finish))
    }
}

/// The inner product of every row of `a` with that of `b`.
fn rowwise_products(a: &[f32], b: &[f32], columns: usize) -> Vec<f32> {
    let product = |(a, b): (&f32, &f32)| f64::from(*a) * f64::from(*b);
    let row = |(a, b): (&[f32], &[f32])| a.iter().zip(b).map(product).sum::<f64>() as f32;
    a.chunks_exact(columns).zip(b.chunks_exact(columns)).map(row).collect()
}

/// `[channel, pixel]` to `[pixel, channel]`.
fn transpose(image: &[f32], channels: usize, out: &mut [f32]) {
    let pixels = image.len() / channels;
    for (pixel, out) in out.chunks_exact_mut(channels).enumerate() {
        for (channel, out) in out.iter_mut().enumerate() {
            *out = image[channel * pixels + pixel];
        }
    }
}

/// `[batch, pixel, channel]` to `[batch, channel, pixel]`.
fn export(values: &[f32], channels: usize, pixels: usize) -> Vec<f32> {
    let mut out = vec![0.0; values.len()];
    let images = values.par_chunks_exact(channels * pixels);
    out.par_chunks_exact_mut(channels * pixels)
        .zip(images)
        .for_each(|(out, image)| transpose(image, pixels, out));
    out
}
