//! One decoded image.

use freeaugment::{Images, Shape};
use freeaugment_base::Fnv;

/// A decoded image: 8 bits a channel, `[height, width, channel]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
    /// 1 (grey) or 3 (red, green, blue).
    pub channels: usize,
    /// `height * width * channels` values.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// The shape as a batch of one.
    pub fn shape(&self) -> Shape {
        Shape { count: 1, channels: self.channels, height: self.height, width: self.width }
    }

    /// The picture with so many channels: grey is repeated, colours are weighed as the eye does (ITU-R 601).
    #[must_use]
    pub fn with_channels(self, channels: usize) -> Self {
        let pixels = match (self.channels, channels) {
            (1, 3) => self.pixels.iter().flat_map(|&grey| [grey; 3]).collect(),
            (3, 1) => self.pixels.chunks_exact(3).map(luma).collect(),
            _ => return self,
        };
        Self { channels, pixels, ..self }
    }

    /// A number that changes with the size and with any pixel.
    pub(crate) fn hash(&self) -> u64 {
        let mut hash = Fnv::default();
        for side in [self.height, self.width, self.channels] {
            hash.add(&(side as u64).to_le_bytes());
        }
        hash.add(&self.pixels);
        hash.finish()
    }

    /// The picture as numbers in [0, 1], `[channel, height, width]`.
    pub fn to_planes(&self) -> Vec<f32> {
        Images::from_u8(&self.pixels, self.shape())
            .expect("a picture has as many pixels as it says")
            .into_vec()
    }
}

fn luma(pixel: &[u8]) -> u8 {
    let [red, green, blue] = [0, 1, 2].map(|channel| u32::from(pixel[channel]));
    ((299 * red + 587 * green + 114 * blue + 500) / 1000) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grey_and_colour_turn_into_each_other() {
        let grey = Picture { height: 1, width: 2, channels: 1, pixels: vec![7, 250] };
        let colour = grey.clone().with_channels(3);
        assert_eq!(colour.pixels, [7, 7, 7, 250, 250, 250]);
        assert_eq!(colour.with_channels(1), grey);
        let red = Picture { height: 1, width: 1, channels: 3, pixels: vec![255, 0, 0] };
        assert_eq!(red.with_channels(1).pixels, [76]);
    }
}
