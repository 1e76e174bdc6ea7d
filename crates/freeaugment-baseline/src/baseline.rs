//! The baselines by name.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use freeaugment_base::nearest;

use crate::table::{Operations, Row, TABLE};
use crate::{Augmentation, BaselineError, RandAugment, Recipe};

/// What a learned policy is compared with: an augmentation by name, with the recipe it belongs to.
///
/// ```
/// use freeaugment_baseline::Baseline;
///
/// let baseline: Baseline = "rand:1:14".parse()?;
/// assert_eq!(baseline.name(), "rand:1:14");
/// assert!("trival".parse::<Baseline>().unwrap_err().to_string().contains("did you mean `trivial`?"));
/// # Ok::<(), freeaugment_baseline::BaselineError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Baseline {
    row: &'static Row,
    /// The row's own operations, or with other numbers.
    operations: Operations,
}

impl Baseline {
    /// The names to choose from. Those that [take numbers](Baseline::takes_numbers) may be followed by them:
    /// `rand:2:9`.
    pub const NAMES: [&'static str; TABLE.len()] = {
        let mut names = [""; TABLE.len()];
        let mut at = 0;
        while at < names.len() {
            names[at] = TABLE[at].name;
            at += 1;
        }
        names
    };

    /// All of them, in the order of [`Baseline::NAMES`]; where numbers are taken, with those that hold if none are said.
    ///
    /// ```
    /// use freeaugment_baseline::Baseline;
    ///
    /// for baseline in Baseline::all() {
    ///     println!("{:26}{}", baseline.family(), baseline.description());
    /// }
    /// ```
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(Self::of)
    }

    fn of(row: &'static Row) -> Self {
        Self { row, operations: row.operations }
    }

    /// Its name, with its numbers; [`str::parse`] gives the same baseline again.
    pub fn name(&self) -> String {
        match self.operations {
            Operations::Numbered(rand) => format!("{}:{}:{}", self.row.name, rand.operations(), rand.level()),
            _ => self.row.name.into(),
        }
    }

    /// Its name without numbers, one of [`Baseline::NAMES`].
    pub const fn family(&self) -> &'static str {
        self.row.name
    }

    /// What it is, in one line.
    pub const fn description(&self) -> &'static str {
        self.row.description
    }

    /// What it does, for people: its operations with their numbers in one line, where it has any, and in another what is
    /// done beside them.
    ///
    /// ```
    /// use freeaugment_baseline::Baseline;
    ///
    /// let baseline: Baseline = "rand:1:14".parse()?;
    /// assert!(baseline.explanation().starts_with("RandAugment: 1 operation at level 14 of 30\n"));
    /// # Ok::<(), freeaugment_baseline::BaselineError>(())
    /// ```
    pub fn explanation(&self) -> String {
        match self.operations {
            Operations::None => self.recipe().words(false),
            Operations::Drawn(_) => format!("{}\n{}", self.description(), self.recipe().words(true)),
            Operations::Numbered(rand) => format!("{}\n{}", rand.words(), self.recipe().words(true)),
        }
    }

    /// Whether two numbers may follow its name: how many operations, and at which level.
    pub const fn takes_numbers(&self) -> bool {
        matches!(self.operations, Operations::Numbered(_))
    }

    /// What its recipe does beside the operations.
    pub const fn recipe(&self) -> Recipe {
        self.row.recipe
    }

    /// What draws its operations; nothing where there are none.
    pub fn augmentation(&self) -> Option<Box<dyn Augmentation>> {
        match self.operations {
            Operations::None => None,
            Operations::Drawn(make) => Some(make()),
            Operations::Numbered(rand) => Some(Box::new(rand)),
        }
    }

    /// With other numbers than those of the table.
    fn with_numbers(self, numbers: &str) -> Result<Self, BaselineError> {
        let wrong = |takes| BaselineError::Numbers { name: format!("{}:{numbers}", self.row.name), takes };
        let Operations::Numbered(usual) = self.operations else { return Err(wrong(false)) };
        let numbers = numbers.split_once(':').and_then(|(n, m)| Some((n.parse().ok()?, m.parse().ok()?)));
        let (operations, level) = numbers.ok_or_else(|| wrong(true))?;
        let rand = RandAugment::new(operations, level)?;
        let rand = if usual.is_torchvision() { rand.torchvision() } else { rand };
        Ok(Self { operations: Operations::Numbered(rand), ..self })
    }

    /// What makes two baselines the same.
    fn key(&self) -> (&'static str, Option<RandAugment>) {
        match self.operations {
            Operations::Numbered(rand) => (self.row.name, Some(rand)),
            _ => (self.row.name, None),
        }
    }
}

impl FromStr for Baseline {
    type Err = BaselineError;

    fn from_str(name: &str) -> Result<Self, BaselineError> {
        let (family, numbers) =
            name.split_once(':').map_or((name, None), |(family, numbers)| (family, Some(numbers)));
        let known = Self::all().find(|baseline| baseline.family() == family);
        let baseline = known.ok_or_else(|| BaselineError::Name {
            name: name.into(),
            nearest: nearest(family, Self::NAMES.into_iter()),
        })?;
        numbers.map_or(Ok(baseline), |numbers| baseline.with_numbers(numbers))
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(&self.name())
    }
}

impl fmt::Debug for Baseline {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "Baseline({self})")
    }
}

impl PartialEq for Baseline {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Baseline {}

impl Hash for Baseline {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
