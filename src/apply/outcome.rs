//! From an answer and what the views show afterwards to an outcome.

use crate::ports::ledger::{Outcome, OutcomeWord};
use crate::ports::write::DeleteAnswer;

/// What was seen of one thing after the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// It is there.
    There,
    /// It is not there, by the system's own clear word.
    Gone,
    /// No usable answer.
    NotSeen,
}

/// Record and path after the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadBack {
    /// The record, by the resource API.
    pub record: Seen,
    /// The path, by the NameNode.
    pub path: Seen,
}

/// Record and path are gone, by the clear word of both systems.
pub const GONE: ReadBack = ReadBack { record: Seen::Gone, path: Seen::Gone };

/// The outcome of a call. A read-back turns an unclear answer only into `Done`; a clear success that the views contradict is
/// `Failed`; a clear refusal is `Refused`.
pub fn judge(answer: &DeleteAnswer, back: ReadBack) -> Outcome {
    use OutcomeWord::{AlreadyDone, Done, Failed, Refused, Unknown};
    let gone = back == GONE;
    let seen = in_words(back);
    let of = |outcome, why: String| Outcome { outcome, why };
    match answer {
        DeleteAnswer::Success if gone => of(Done, format!("the server said success; {seen}")),
        DeleteAnswer::Success if back.record == Seen::There || back.path == Seen::There => {
            of(Failed, format!("the server said success, but {seen}"))
        }
        DeleteAnswer::Success => of(Unknown, format!("the server said success; {seen}")),
        DeleteAnswer::NoSuchRecord if gone => {
            of(AlreadyDone, format!("the server has no such record any more; {seen}"))
        }
        DeleteAnswer::NoSuchRecord => of(Unknown, format!("the server has no such record; {seen}")),
        DeleteAnswer::Refused { why } | DeleteAnswer::NotAuthorized { why } if gone => {
            of(AlreadyDone, format!("{why}; {seen}: somebody else removed it"))
        }
        DeleteAnswer::Refused { why } | DeleteAnswer::NotAuthorized { why } => of(Refused, format!("{why}; {seen}")),
        DeleteAnswer::Unclear { why } if gone => of(Done, format!("unclear answer ({why}), read back: {seen}")),
        DeleteAnswer::Unclear { why } => of(Unknown, format!("unclear answer ({why}), read back: {seen}")),
    }
}

fn in_words(back: ReadBack) -> String {
    let word = |seen| match seen {
        Seen::There => "still there",
        Seen::Gone => "gone",
        Seen::NotSeen => "could not be read",
    };
    format!("the record is {}, the path is {}", word(back.record), word(back.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_views_decide_and_unclear_becomes_done_or_unknown() {
        use OutcomeWord::{AlreadyDone, Done, Failed, Refused, Unknown};
        use Seen::{Gone, NotSeen, There};
        let unclear = DeleteAnswer::Unclear { why: "code 10058".into() };
        let refused = DeleteAnswer::Refused { why: "code 20018".into() };
        let table = [
            (&DeleteAnswer::Success, Gone, Gone, Done),
            (&DeleteAnswer::Success, There, Gone, Failed),
            (&DeleteAnswer::Success, Gone, There, Failed),
            (&DeleteAnswer::Success, NotSeen, Gone, Unknown),
            (&DeleteAnswer::Success, Gone, NotSeen, Unknown),
            (&DeleteAnswer::NoSuchRecord, Gone, Gone, AlreadyDone),
            (&DeleteAnswer::NoSuchRecord, There, Gone, Unknown),
            (&unclear, Gone, Gone, Done),
            (&unclear, There, Gone, Unknown),
            (&unclear, Gone, There, Unknown),
            (&unclear, NotSeen, NotSeen, Unknown),
            (&refused, There, Gone, Refused),
            (&refused, NotSeen, Gone, Refused),
        ];
        for (answer, record, path, expected) in table {
            let outcome = judge(answer, ReadBack { record, path });
            assert_eq!(outcome.outcome, expected, "{answer:?} {record:?} {path:?}");
        }
    }
}
