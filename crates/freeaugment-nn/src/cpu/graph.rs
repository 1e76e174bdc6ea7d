//! A network laid out for images of one size: the list of its operations in order.

use super::convolution::Layer;
use super::frame::Frame;
use crate::network::Network;
use crate::parameter::LayoutBuilder;
use crate::pass::{Activation, Convolution, Pass, Window};
use crate::{Layout, parameter::Kind};

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

/// The operations of a network in order; the first is the input, the last the logits.
#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    /// The last node that reads each node's value.
    pub(crate) last_use: Vec<Id>,
}

impl Graph {
    /// Lays `network` out for images of `height` × `width`; the layout of its parameters comes along.
    pub(crate) fn plan(network: &Network, height: usize, width: usize) -> (Self, Layout) {
        let frame = Frame { height, width, channels: network.channels() };
        let mut planner = Planner { nodes: Vec::new(), layout: LayoutBuilder::default() };
        let input = planner.push(Operation::Input, 0, frame);
        network.forward(&mut planner, &input);
        let mut last_use: Vec<Id> = (0..planner.nodes.len()).collect();
        for (id, node) in planner.nodes.iter().enumerate() {
            last_use[node.input] = id;
            match node.operation {
                Operation::Convolve { addend: Some(other), .. } | Operation::Add { other, .. } => {
                    last_use[other] = id;
                }
                _ => {}
            }
        }
        (Self { nodes: planner.nodes, last_use }, planner.layout.finish())
    }
}

struct Planner {
    nodes: Vec<Node>,
    layout: LayoutBuilder,
}

impl Planner {
    fn push(&mut self, operation: Operation, input: Id, frame: Frame) -> Id {
        self.nodes.push(Node { operation, input, frame });
        self.nodes.len() - 1
    }
}

impl Pass for Planner {
    type Value = Id;

    fn convolve(&mut self, x: &Id, name: &str, convolution: Convolution) -> Id {
        let Convolution { inputs, outputs, window } = convolution;
        let source = self.nodes[*x].frame;
        let target = Frame {
            height: window.positions(source.height),
            width: window.positions(source.width),
            channels: outputs,
        };
        let shape = [outputs, inputs, window.kernel, window.kernel];
        let weight = self.layout.parameter(format!("{name}.weight"), &shape, Kind::Convolution);
        self.push(
            Operation::Convolve { layer: Layer { convolution, source, target }, weight, addend: None },
            *x,
            target,
        )
    }

    fn normalize(&mut self, x: &Id, name: &str, activation: Option<Activation>) -> Id {
        let frame = self.nodes[*x].frame;
        let scale = self.layout.parameter(format!("{name}.weight"), &[frame.channels], Kind::Scale);
        let shift = self.layout.parameter(format!("{name}.bias"), &[frame.channels], Kind::Shift);
        let norm = self.layout.norm(name, frame.channels);
        self.push(Operation::Normalize { scale, shift, norm, activation }, *x, frame)
    }

    fn add(&mut self, a: &Id, b: &Id, activation: Option<Activation>) -> Id {
        let (earlier, later) = (*a.min(b), *a.max(b));
        let last = self.nodes.len() - 1;
        if let (None, Operation::Convolve { addend: addend @ None, .. }) =
            (activation, &mut self.nodes[later].operation)
            && later == last
        {
            *addend = Some(earlier);
            return later;
        }
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

    fn linear(&mut self, x: &Id, name: &str, outputs: usize) -> Id {
        let inputs = self.nodes[*x].frame.channels;
        let weight =
            self.layout.parameter(format!("{name}.weight"), &[outputs, inputs], Kind::Linear { inputs });
        let bias = self.layout.parameter(format!("{name}.bias"), &[outputs], Kind::Linear { inputs });
        self.push(Operation::Linear { weight, bias }, *x, Frame { height: 1, width: 1, channels: outputs })
    }
}
