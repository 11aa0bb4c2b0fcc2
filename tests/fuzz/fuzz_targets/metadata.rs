//! Any bytes to the reader of `_metadata`.
//!
//! The reader imports nothing of this program, so it is compiled in here by itself: the whole program under a sanitizer would
//! take minutes to build and find nothing more.

#![no_main]
#![allow(dead_code, unused_imports, reason = "only a part of the reader's interface is asked here")]

#[path = "../../../src/flink_metadata/mod.rs"]
mod flink_metadata;

use flink_metadata::{Event, Stream, read, walk};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut handles = 0_u64;
    let mut count = |event: Event<'_>| match event {
        Event::Stream { stream: Stream::File { .. } | Stream::Relative { .. } | Stream::Segment { .. }, .. } => {
            handles += 1
        }
        _ => (),
    };
    let walked = walk(bytes, &mut count);
    match read(bytes) {
        Ok(metadata) => {
            let counted: u64 = metadata.files.iter().map(|file| u64::from(file.references)).sum();
            assert_eq!(counted, handles);
            assert!(handles <= bytes.len() as u64 / 12);
            assert_eq!(walked.expect("the same bytes").checkpoint_id, metadata.checkpoint_id);
        }
        Err(error) => {
            assert!(error.offset <= bytes.len());
            assert_eq!((Err(error), handles), (walked, 0));
        }
    }
});
