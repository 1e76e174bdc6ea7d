//! A network laid out for images of one size: the list of its operations in order.

use super::convolution::Layer;
use super::frame::Frame;
use crate::network::Network;
use crate::pass::{Activation, Convolution, Pass, Window};

/// A place in [`Graph::nodes`].
pub(crate) type Id = usize;

/// What a node computes. Parameters are indices into the layout.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Input,
    /// A convolution, plus another value of the same shape: a block's sum costs nothing where a convolution is written
    /// anyway.
    Convolve {
        layer: Layer,
        weight: usize,
        addend: Option<Id>,
    },
    Normalize {
        scale: usize,
        shift: usize,
        norm: usize,
        activation: Option<Activation>,
    },
    Add {
        other: Id,
        activation: Option<Activation>,
    },
    MaxPool {
        window: Window,
    },
    MeanPixels,
    Linear {
        weight: usize,
        bias: usize,
    },
}

/// An operation, the value it reads and the frame of the value it writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) operation: Operation,
    pub(crate) input: Id,
    pub(crate) frame: Frame,
}

impl Node {
    /// The values it reads.
    pub(crate) fn reads(&self) -> impl Iterator<Item = Id> + use<> {
        let (input, other) = match self.operation {
            Operation::Input => (None, None),
            Operation::Convolve { addend, .. } => (Some(self.input), addend),
            Operation::Add { other, .. } => (Some(self.input), Some(other)),
            _ => (Some(self.input), None),
        };
        input.into_iter().chain(other)
    }
}

/// The operations of a network in order; the first is the input, the last the logits.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    /// The last node that reads each node's value.
    pub(crate) last_use: Vec<Id>,
}

impl Graph {
    /// Lays `network` out for images of `height` × `width`.
    pub(crate) fn plan(network: &Network, height: usize, width: usize) -> Self {
        let frame = Frame { height, width, channels: network.channels() };
        let mut planner = Planner::default();
        let input = planner.push(Operation::Input, 0, frame);
        network.forward(&mut planner, &input);
        let nodes = fuse(planner.nodes);
        let mut last_use: Vec<Id> = (0..nodes.len()).collect();
        for (id, node) in nodes.iter().enumerate() {
            for read in node.reads() {
                last_use[read] = id;
            }
        }
        Self { nodes, last_use }
    }
}

/// Lets a convolution write a sum with its value, where nothing else reads that value.
fn fuse(nodes: Vec<Node>) -> Vec<Node> {
    let mut readers = vec![0; nodes.len()];
    for node in &nodes {
        for read in node.reads() {
            readers[read] += 1;
        }
    }
    let mut places: Vec<Id> = Vec::with_capacity(nodes.len());
    let mut fused: Vec<Node> = Vec::with_capacity(nodes.len());
    for mut node in nodes {
        let alone = readers[node.input] == 1;
        node.input = places.get(node.input).copied().unwrap_or(0);
        if let Operation::Add { other, activation } = &mut node.operation {
            *other = places[*other];
            let last = fused.len() - 1;
            if let (true, None, Operation::Convolve { addend: addend @ None, .. }) =
                (alone && node.input == last, *activation, &mut fused[last].operation)
            {
                *addend = Some(*other);
                places.push(last);
                continue;
            }
        }
        places.push(fused.len());
        fused.push(node);
    }
    fused
}

/// Nodes as they come. Weights and batch norms are counted in the order of the layout.
#[derive(Default)]
struct Planner {
    nodes: Vec<Node>,
    parameters: usize,
    norms: usize,
}

impl Planner {
    fn push(&mut self, operation: Operation, input: Id, frame: Frame) -> Id {
        self.nodes.push(Node { operation, input, frame });
        self.nodes.len() - 1
    }

    /// The index of the next parameter.
    fn parameter(&mut self) -> usize {
        self.parameters += 1;
        self.parameters - 1
    }
}

impl Pass for Planner {
    type Value = Id;

    fn convolve(&mut self, x: &Id, _name: &str, convolution: Convolution) -> Id {
        let window = convolution.window;
        let source = self.nodes[*x].frame;
        let target = Frame {
            height: window.positions(source.height),
            width: window.positions(source.width),
            channels: convolution.outputs,
        };
        let weight = self.parameter();
        self.push(
            Operation::Convolve { layer: Layer { convolution, source, target }, weight, addend: None },
            *x,
            target,
        )
    }

    fn normalize(&mut self, x: &Id, _name: &str, activation: Option<Activation>) -> Id {
        let (scale, shift, norm) = (self.parameter(), self.parameter(), self.norms);
        self.norms += 1;
        self.push(Operation::Normalize { scale, shift, norm, activation }, *x, self.nodes[*x].frame)
    }

    fn add(&mut self, a: &Id, b: &Id, activation: Option<Activation>) -> Id {
        let (earlier, later) = (*a.min(b), *a.max(b));
        self.push(Operation::Add { other: earlier, activation }, later, self.nodes[later].frame)
    }

    fn max_pool(&mut self, x: &Id, window: Window) -> Id {
        let source = self.nodes[*x].frame;
        let (height, width) = (window.positions(source.height), window.positions(source.width));
        self.push(Operation::MaxPool { window }, *x, Frame { height, width, ..source })
    }

    fn mean_pixels(&mut self, x: &Id) -> Id {
        let channels = self.nodes[*x].frame.channels;
        self.push(Operation::MeanPixels, *x, Frame { height: 1, width: 1, channels })
    }

    fn linear(&mut self, x: &Id, _name: &str, outputs: usize) -> Id {
        let (weight, bias) = (self.parameter(), self.parameter());
        self.push(Operation::Linear { weight, bias }, *x, Frame { height: 1, width: 1, channels: outputs })
    }
}
