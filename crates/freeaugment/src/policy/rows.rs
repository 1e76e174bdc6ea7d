//! One row per image, of three parts. Noise, samples and their gradients are all kept this way: a thread that works on
//! an image reads and writes one row of each.

use crate::error::{Error, check_length};
use crate::sampling::Matrices;

/// The sizes of the three parts of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) types: usize,
    pub(crate) magnitudes: usize,
    pub(crate) depth: usize,
}

/// The three parts of one row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    pub(crate) types: &'a [f32],
    pub(crate) magnitudes: &'a [f32],
    pub(crate) depth: &'a [f32],
}

/// The same, to write into.
pub(crate) struct RowMut<'a> {
    pub(crate) types: &'a mut [f32],
    pub(crate) magnitudes: &'a mut [f32],
    pub(crate) depth: &'a mut [f32],
}

/// Rows of one layout.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rows {
    pub(crate) layout: Layout,
    pub(crate) count: usize,
    pub(crate) data: Vec<f32>,
}

impl Layout {
    pub(crate) fn len(self) -> usize {
        self.types + self.magnitudes + self.depth
    }

    pub(crate) fn row(self, data: &[f32]) -> Row<'_> {
        let (types, rest) = data.split_at(self.types);
        let (magnitudes, depth) = rest.split_at(self.magnitudes);
        Row { types, magnitudes, depth }
    }

    pub(crate) fn row_mut(self, data: &mut [f32]) -> RowMut<'_> {
        let (types, rest) = data.split_at_mut(self.types);
        let (magnitudes, depth) = rest.split_at_mut(self.magnitudes);
        RowMut { types, magnitudes, depth }
    }
}

impl Rows {
    pub(crate) fn zeros(layout: Layout, count: usize) -> Self {
        Self { layout, count, data: vec![0.0; layout.len() * count] }
    }

    pub(crate) fn row(&self, b: usize) -> Row<'_> {
        let len = self.layout.len();
        self.layout.row(&self.data[b * len..][..len])
    }

    /// The matrices of types of the rows from `b` on: the first part of each row. Where there is one row, all share it.
    pub(crate) fn types_from(&self, b: usize) -> Matrices<'_> {
        let len = self.layout.len();
        if self.count == 1 {
            Matrices { data: &self.data, stride: 0 }
        } else {
            Matrices { data: &self.data[b * len..], stride: len }
        }
    }

    /// Rows that another policy made are refused.
    pub(crate) fn check_layout(&self, expected: Layout) -> Result<(), Error> {
        check_length("the part of the types", self.layout.types, expected.types)?;
        check_length("the part of the magnitudes", self.layout.magnitudes, expected.magnitudes)?;
        check_length("the part of the depth", self.layout.depth, expected.depth)
    }
}
