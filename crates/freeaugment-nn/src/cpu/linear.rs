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

/// The gradient to the weight.
pub(crate) fn weights(values: &[f32], cotangent: &[f32], outputs: usize, weight: &mut [f32]) {
    let inputs = weight.len() / outputs;
    let batch = cotangent.len() / outputs;
    let mut packed = vec![0.0; packed_len(batch, inputs)];
    pack(&mut packed, batch, inputs, |k, j| values[k * inputs + j]);
    let extent = Extent { rows: outputs, depth: batch, columns: inputs };
    let left = Left { values: cotangent, row: 1, step: outputs };
    multiply(extent, left, Right::packed(&packed, batch), weight, inputs, false);
}

/// The gradient to the bias.
pub(crate) fn bias(cotangent: &[f32], bias: &mut [f32]) {
    bias.fill(0.0);
    for row in cotangent.chunks_exact(bias.len()) {
        for (bias, cotangent) in bias.iter_mut().zip(row) {
            *bias += cotangent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_close, noise};
    use super::*;

    #[test]
    fn values_and_gradients_agree_with_a_plain_loop() {
        let (batch, inputs, outputs) = (3, 21, 10);
        let (x, w, bias) = (noise(1, batch * inputs), noise(2, outputs * inputs), noise(3, outputs));
        let (other, cotangent) = (noise(4, batch * inputs), noise(5, batch * outputs));
        let product = |a: f32, b: f32| f64::from(a) * f64::from(b);
        let mut y: Vec<f64> = (0..batch * outputs).map(|i| f64::from(bias[i % outputs])).collect();
        let mut back: Vec<f64> = other.iter().map(|&v| f64::from(v)).collect();
        let (mut gradient, mut bias_gradient) = (vec![0.0; w.len()], vec![0.0; outputs]);
        for (b, o) in (0..batch).flat_map(|b| (0..outputs).map(move |o| (b, o))) {
            bias_gradient[o] += f64::from(cotangent[b * outputs + o]);
            for i in 0..inputs {
                let (at, weight) = (b * inputs + i, o * inputs + i);
                y[b * outputs + o] += product(x[at], w[weight]) + product(other[at], w[weight]);
                back[at] += product(cotangent[b * outputs + o], w[weight]);
                gradient[weight] += product(cotangent[b * outputs + o], x[at]);
            }
        }
        let mut out = vec![f32::NAN; y.len()];
        forward(&[(&x, &w), (&other, &w)], &bias, &mut out);
        assert_close(&out, &y, 1e-5, "forward");
        let mut out = vec![f32::NAN; x.len()];
        backward(&[(&cotangent, &w)], outputs, &mut out, Some(&other));
        assert_close(&out, &back, 1e-5, "backward");
        let (mut out, mut out_bias) = (vec![f32::NAN; w.len()], vec![f32::NAN; outputs]);
        weights(&x, &cotangent, outputs, &mut out);
        super::bias(&cotangent, &mut out_bias);
        assert_close(&out, &gradient, 1e-5, "weights");
        assert_close(&out_bias, &bias_gradient, 1e-5, "bias");
    }
}
