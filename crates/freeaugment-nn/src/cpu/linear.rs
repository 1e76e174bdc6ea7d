//! The linear layer: weight `[outputs, inputs]`, values `[batch, inputs]`.

use super::matmul::{Extent, Left, Right, multiply, pack, packed_len};

/// `out = Σ over terms of values · weightᵀ + bias`; one term, or two for the tangent.
pub(crate) fn forward(terms: &[(&[f32], &[f32])], bias: &[f32], out: &mut [f32]) {
    let outputs = bias.len();
    for row in out.chunks_exact_mut(outputs) {
        row.copy_from_slice(bias);
    }
    for (values, weight) in terms {
        let inputs = weight.len() / outputs;
        let mut packed = vec![0.0; packed_len(inputs, outputs)];
        pack(&mut packed, inputs, outputs, |k, j| weight[j * inputs + k]);
        let extent = Extent { rows: values.len() / inputs, depth: inputs, columns: outputs };
        let left = Left { values, row: inputs, step: 1 };
        multiply(extent, left, Right::packed(&packed, inputs), out, outputs, true);
    }
}

/// `out = Σ over terms of cotangent · weight (+ addend)`.
pub(crate) fn backward(terms: &[(&[f32], &[f32])], outputs: usize, out: &mut [f32], addend: Option<&[f32]>) {
    match addend {
        Some(addend) => out.copy_from_slice(addend),
        None => out.fill(0.0),
    }
    for (cotangent, weight) in terms {
        let inputs = weight.len() / outputs;
        let mut packed = vec![0.0; packed_len(outputs, inputs)];
        pack(&mut packed, outputs, inputs, |k, j| weight[k * inputs + j]);
        let extent = Extent { rows: cotangent.len() / outputs, depth: outputs, columns: inputs };
        let left = Left { values: cotangent, row: outputs, step: 1 };
        multiply(extent, left, Right::packed(&packed, outputs), out, inputs, true);
    }
}

/// The gradients to weight and bias.
pub(crate) fn weights(values: &[f32], cotangent: &[f32], weight: &mut [f32], bias: &mut [f32]) {
    let outputs = bias.len();
    let inputs = weight.len() / outputs;
    let batch = cotangent.len() / outputs;
    let mut packed = vec![0.0; packed_len(batch, inputs)];
    pack(&mut packed, batch, inputs, |k, j| values[k * inputs + j]);
    let extent = Extent { rows: outputs, depth: batch, columns: inputs };
    let left = Left { values: cotangent, row: 1, step: outputs };
    multiply(extent, left, Right::packed(&packed, batch), weight, inputs, false);
    bias.fill(0.0);
    for row in cotangent.chunks_exact(outputs) {
        for (bias, cotangent) in bias.iter_mut().zip(row) {
            *bias += cotangent;
        }
    }
}
