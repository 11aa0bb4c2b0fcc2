//! What the reader does not take, each with the byte where it stopped.

use statewarden::flink_metadata::{Fault, MetadataError, read};

use super::build::File;
use super::fixtures;

fn refused(bytes: &[u8]) -> (usize, Fault) {
    let MetadataError { offset, fault } = read(bytes).expect_err("a file that is refused");
    (offset, fault)
}

/// A file of version 3 with one operator whose keyed state is `keyed`.
fn with_keyed(keyed: impl FnOnce(File) -> File) -> Vec<u8> {
    keyed(File::new(3).int(1).operator_up_to_keyed()).end()
}

/// Bytes before the keyed state of such a file.
const BEFORE_KEYED: usize = 24 + 25 + 4 + 12;

#[test]
fn what_these_tests_build_on_is_read() {
    assert!(read(&File::new(3).int(0).0).is_ok());
    assert!(read(&with_keyed(|file| file.byte(0))).is_ok());
    let one = with_keyed(|file| file.byte(3).int(0).int(1).long(5).byte(2).long(9).utf("hdfs://ns1/f"));
    let one = read(&one).expect("readable");
    assert_eq!((one.files[0].path.as_ref(), one.files[0].size), ("hdfs://ns1/f", Some(9)));
}

#[test]
fn headers() {
    assert_eq!(refused(b""), (0, Fault::Short { what: "magic number", wanted: 4, left: 0 }));
    assert_eq!(refused(b"PK\x03\x04 zip"), (0, Fault::Magic(0x504B_0304)));
    for version in [i32::MIN, -1, 0, 1, 7, 0x0400_0000] {
        assert_eq!(refused(&File::new(version).int(0).0), (4, Fault::Version(version)));
    }
    let negative = File::default().int(0x4960_672D).int(3).long(-1).int(0).int(0).0;
    assert_eq!(refused(&negative), (8, Fault::Value { what: "checkpoint id", value: -1 }));
}

#[test]
fn versions_2_and_3_end_where_they_end() {
    for version in [2, 3] {
        let bytes = File::new(version).int(0).byte(0).0;
        assert_eq!(refused(&bytes), (24, Fault::Trailing(1)));
    }
}

#[test]
fn later_versions_need_the_checkpoint_properties_and_no_other_object() {
    for version in [4, 5, 6] {
        let start = || File::new(version).int(0);
        assert!(matches!(refused(&start().0), (24, Fault::Short { .. })));
        assert!(matches!(refused(&start().raw(b"\xAC\xED\x00\x06p").0), (24, Fault::Properties(_))));
        // null, a string, an object of another class: well-formed, but not what Flink writes.
        assert!(matches!(refused(&start().raw(b"\xAC\xED\x00\x05p").0), (28, Fault::Properties(_))));
        assert!(matches!(refused(&start().raw(b"\xAC\xED\x00\x05t\0\x01x").0), (28, Fault::Properties(_))));
        let other = start().raw(b"\xAC\xED\x00\x05sr").utf("C").long(0).raw(b"\x02\0\0xp");
        assert!(matches!(refused(&other.0), (28, Fault::Properties(_))));
        let array = start().raw(b"\xAC\xED\x00\x05u");
        assert_eq!(refused(&array.0), (28, Fault::Tag { place: "object", tag: b'u' }));
    }
}

#[test]
fn a_class_above_itself_ends_in_an_error() {
    let start = File::new(4).int(0).raw(b"\xAC\xED\x00\x05sr").utf("C").long(0).raw(b"\x02\0\0xq");
    assert!(matches!(refused(&start.int(0x7E_0000).0), (_, Fault::Properties(_))));
    let nowhere = File::new(4).int(0).raw(b"\xAC\xED\x00\x05q").int(0x7E_0000);
    assert!(matches!(refused(&nowhere.0), (_, Fault::Properties(_))));
}

#[test]
fn unknown_tags_at_every_position() {
    let tag = |place: &'static str, tag: u8| Fault::Tag { place, tag };
    for unknown in [1, 2, 4, 6, 15, 16, 17, 18, 0xFF] {
        assert_eq!(refused(&with_keyed(|f| f.byte(unknown))), (BEFORE_KEYED, tag("keyed state handle", unknown)));
    }
    let stream = |unknown: u8| with_keyed(move |f| f.byte(3).int(0).int(0).byte(unknown));
    for unknown in [4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 17, 18, 0xFF] {
        assert_eq!(refused(&stream(unknown)), (BEFORE_KEYED + 9, tag("stream handle", unknown)));
    }
    let increment = |unknown: u8| with_keyed(move |f| f.byte(8).int(0).int(1).long(0).int(0).int(1).byte(unknown));
    assert_eq!(refused(&increment(12)).1, tag("changelog increment", 12));
    for unknown in [1, 3, 15, 18] {
        let operator = File::new(3).int(1).operator().int(1).int(0).int(1).byte(unknown).0;
        assert_eq!(refused(&operator), (61, tag("operator state handle", unknown)));
    }
    for unknown in [2, 6, 15, 16] {
        let coordinator = File::new(3).int(1).raw(&[7; 16]).int(1).int(1).byte(unknown).int(0).0;
        assert_eq!(refused(&coordinator), (48, tag("coordinator state", unknown)));
    }
    // Version 6: an input has no output's type.
    let channel =
        File::new(6).int(1).utf("").utf("").operator_up_to_keyed().byte(0).byte(0).int(1).byte(2).raw(&[0; 40]);
    assert_eq!(refused(&channel.0).1, tag("channel state handle", 2));
}

#[test]
fn nesting_ends() {
    let deep = |depth: usize| {
        with_keyed(|file| {
            let keyed = (0..depth).fold(file.byte(3).int(0).int(0), |file, _| file.byte(3).int(0).int(0));
            keyed.byte(0)
        })
    };
    assert!(read(&deep(16)).is_ok());
    assert_eq!(refused(&deep(17)).1, Fault::Depth(16));
    let changelogs = with_keyed(|file| (0..40).fold(file, |file, _| file.byte(14).int(0).int(0).long(0).int(1)));
    assert_eq!(refused(&changelogs).1, Fault::Depth(16));
}

#[test]
fn what_flink_never_writes() {
    let value = |what: &'static str, value: i64| Fault::Value { what, value };
    let operator =
        |parallelism: i32, max: i32| File::new(3).int(1).raw(&[7; 16]).int(parallelism).int(max).byte(0).int(0).0;
    assert_eq!(refused(&operator(3, 2)), (44, value("maximum for this parallelism", 2)));
    assert_eq!(refused(&operator(1, 40_000)), (44, value("maximum for this parallelism", 40_000)));
    let subtask = |index: i32| File::new(3).int(1).operator().int(1).int(index).raw(&[0; 18]).0;
    assert_eq!(refused(&subtask(1)), (53, value("subtask index here", 1)));
    let twice = File::new(3).int(1).raw(&[7; 16]).int(2).int(2).byte(0).int(2).int(-1).int(0).raw(&[0; 18]);
    assert_eq!(refused(&twice.0), (57, value("subtask index here", 0)));
    let flag = File::new(3).int(1).operator().int(1).int(0).int(2);
    assert_eq!(refused(&flag.0), (57, value("number of operator state handles", 2)));
    let coordinator = |subtasks: i32| {
        File::new(3).int(1).raw(&[7; 16]).int(1).int(1).byte(1).utf("c").int(2).raw(b"xx").int(subtasks).0
    };
    for subtasks in [0, -1] {
        let what = "number of subtasks where the coordinator has state";
        assert_eq!(refused(&coordinator(subtasks)), (58, value(what, subtasks.into())));
    }
    let file = |path: &str, size: i64| with_keyed(|f| f.byte(3).int(0).int(0).byte(2).long(size).utf(path));
    assert_eq!(read(&file("f", -1)).expect("an unknown length").files[0].size, None);
    assert_eq!(refused(&file("f", -2)).1, value("file size", -2));
    assert_eq!(refused(&file("", 1)).1, Fault::Text { what: "file path", why: "empty" });
    assert_eq!(refused(&file("a\0b", 1)).1, Fault::Text { what: "file path", why: "not in modified UTF-8" });
    let offset = |offset: i64| with_keyed(|f| f.byte(3).int(0).int(1).long(offset).byte(2).long(9).utf("f"));
    assert!(read(&offset(9)).is_ok() && read(&offset(-1)).is_ok());
    assert_eq!(refused(&offset(10)).1, value("offset in a stream that ends before it", 10));
    assert_eq!(refused(&offset(-2)).1, value("offset", -2));
}

/// Version 3 with a changelog handle (tag 8) that can be read as Flink 1.14 wrote it and as 1.15 did, with other files named.
#[test]
fn a_file_that_both_layouts_fit_is_refused() {
    // To 1.14 the handle ends after two empty lists, and one output channel follows, whose inline bytes are `hidden`.
    // To 1.15 the lists are a size, the channel is what else the handle has, and `hidden` belongs to the next operator.
    let tail = 9;
    let hidden = |rest: usize| {
        let length = i32::try_from(rest).expect("a short file");
        let operator = File::default().int(32_768).byte(0).int(1).int(0).int(0).int(0);
        operator.byte(3).int(0).int(0).byte(1).utf("x").int(length).0
    };
    let second = File::default().operator_up_to_keyed().byte(0).end();
    let inside = hidden(second.len() - tail);
    let file = |version: i32| {
        let start = File::new(version).int(2).operator_up_to_keyed().byte(8).int(0).int(1);
        let channel = start.int(0).int(0).byte(0).int(0).int(1).int(0).int(0).int(0).int(0).long(0);
        let length = i32::try_from(inside.len()).expect("a short file");
        channel.byte(1).utf("channel").int(length).raw(&inside).raw(&second).0
    };
    assert_eq!(refused(&file(3)), (0, Fault::TwoLayouts));
}

#[test]
fn an_error_says_where_and_what() {
    let whole = &fixtures::all()[0].bytes;
    let said = read(&whole[..300]).expect_err("cut off").to_string();
    assert!(said.starts_with("byte ") && said.contains("the file ends too early"), "{said}");
}
