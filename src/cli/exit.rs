//! The exit codes, in one place.

use crate::report::Verdict;

/// How the program ends. The cases and reports call them `clean`, `drift`, `incomplete`, `refused`, `not_proven`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExitCode {
    /// In sync, or all done.
    InSync,
    /// Usage, syntax, or something unexpected: the question was not answered.
    Failure,
    /// The systems disagree. `--drift-exit-code` may give it another number.
    Drift(u8),
    /// A view is incomplete, or a guard closed.
    Incomplete,
    /// Refused by safety; not used by `drift`.
    Refused,
    /// Something was attempted and is not proven done.
    NotProven,
}

impl ExitCode {
    /// The number of plain drift.
    pub const DRIFT: u8 = 2;

    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::InSync, Self::Failure, Self::Drift(Self::DRIFT), Self::Incomplete, Self::Refused, Self::NotProven];

    /// The number the shell sees.
    pub const fn number(self) -> u8 {
        match self {
            Self::InSync => 0,
            Self::Failure => 1,
            Self::Drift(number) => number,
            Self::Incomplete => 3,
            Self::Refused => 4,
            Self::NotProven => 5,
        }
    }

    /// If several apply: failure over not proven over refused over incomplete over drift over in sync.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }

    const fn rank(self) -> u8 {
        match self {
            Self::InSync => 0,
            Self::Drift(_) => 1,
            Self::Incomplete => 2,
            Self::Refused => 3,
            Self::NotProven => 4,
            Self::Failure => 5,
        }
    }

    /// The code of a verdict, with the number that plain drift ends with.
    pub const fn of(verdict: Verdict, drift: u8) -> Self {
        match verdict {
            Verdict::Clean => Self::InSync,
            Verdict::Drift => Self::Drift(drift),
            Verdict::Incomplete => Self::Incomplete,
            Verdict::Refused => Self::Refused,
            Verdict::NotProven => Self::NotProven,
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_fixed() {
        assert_eq!(ExitCode::ALL.map(ExitCode::number), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn one_over_five_over_four_over_three_over_two_over_zero() {
        let descending = [1, 5, 4, 3, 2, 0];
        for a in ExitCode::ALL {
            for b in ExitCode::ALL {
                let rank = |code: ExitCode| descending.iter().position(|n| *n == code.number());
                let expected = if rank(a) <= rank(b) { a } else { b };
                assert_eq!(a.worst(b).number(), expected.number(), "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn a_verdict_has_the_number_the_report_names() {
        for verdict in [Verdict::Clean, Verdict::Drift, Verdict::Incomplete, Verdict::Refused, Verdict::NotProven] {
            assert_eq!(ExitCode::of(verdict, ExitCode::DRIFT).number(), verdict.number());
        }
        assert_eq!(ExitCode::of(Verdict::Drift, 0).number(), 0);
        assert_eq!(ExitCode::of(Verdict::Incomplete, 0).number(), 3);
    }
}
