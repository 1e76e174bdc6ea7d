//! Where pixels go: affine maps of the plane.

/// An affine map of the plane: (x, y) goes to (a·x + b·y + c, d·x + e·y + f).
///
/// Coordinates are those of pixels: x to the right, y down, and the centre of the top-left pixel is (0, 0). Where the
/// corner of that pixel is the origin instead, as in most annotations of boxes, take half a pixel off before a point is
/// mapped and add it afterwards.
///
/// ```
/// use freeaugment::{Step, Transformation};
///
/// let step = Step { transformation: Transformation::named("TranslateX")?, magnitude: Some(0.25) };
/// let moved = step.affine(/* height */ 10, /* width */ 8).expect("a translation moves pixels");
/// assert_eq!(moved.map(1.0, 5.0), (3.0, 5.0));
/// assert_eq!(moved.inverse().map(3.0, 5.0), (1.0, 5.0));
/// # Ok::<(), freeaugment::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// `[[a, b, c], [d, e, f]]`.
    pub rows: [[f64; 3]; 2],
}

impl Affine {
    /// Every point stays where it is.
    pub const IDENTITY: Self = Self { rows: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] };

    /// Where a point goes.
    pub fn map(self, x: f64, y: f64) -> (f64, f64) {
        let [first, second] = self.rows.map(|[a, b, c]| a * x + b * y + c);
        (first, second)
    }

    /// First this map, then the other.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        let [first, second] = self.rows;
        let rows = next.rows.map(|[a, b, c]| {
            let mut row = [0.0, 0.0, c];
            for (row, (first, second)) in row.iter_mut().zip(first.into_iter().zip(second)) {
                *row += a * first + b * second;
            }
            row
        });
        Self { rows }
    }

    /// The map that undoes this one. Every transformation's can be undone; that of a map that squeezes the plane to a
    /// line, which a caller can make, holds values that are not finite.
    #[must_use]
    pub fn inverse(self) -> Self {
        let [[a, b, c], [d, e, f]] = self.rows;
        let determinant = a * e - b * d;
        let (a, b, d, e) = (e / determinant, -b / determinant, -d / determinant, a / determinant);
        Self { rows: [[a, b, -(a * c + b * f)], [d, e, -(d * c + e * f)]] }
    }
}

impl Default for Affine {
    fn default() -> Self {
        Self::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SKEW: Affine = Affine { rows: [[2.0, 1.0, 3.0], [0.5, -1.0, 4.0]] };
    const TURN: Affine = Affine { rows: [[0.0, -1.0, 7.0], [1.0, 0.0, 0.0]] };

    #[test]
    fn maps_follow_one_another() {
        let (x, y) = SKEW.map(1.5, -2.0);
        assert_eq!(SKEW.then(TURN).map(1.5, -2.0), TURN.map(x, y));
        assert_eq!(SKEW.then(Affine::IDENTITY), SKEW);
        assert_eq!(Affine::default().then(SKEW), SKEW);
    }

    #[test]
    fn the_inverse_undoes() {
        for map in [SKEW, TURN, SKEW.then(TURN)] {
            let (x, y) = map.inverse().map(map.map(3.25, 1.5).0, map.map(3.25, 1.5).1);
            assert!((x - 3.25).abs() < 1e-12 && (y - 1.5).abs() < 1e-12, "{map:?}");
        }
    }
}
