//! The `_metadata` files of a world: what Flink of that version would write, for a job with one stateful operator.

/// `CheckpointProperties` of a checkpoint that is kept on cancellation, as Flink 1.16 to 2.3 serialise it behind the body.
const PROPERTIES: &[u8] = include_bytes!("properties.bin");

/// The format that a Flink version writes (`Checkpoints.storeCheckpointMetadata`).
fn format_of(flink: &str) -> u32 {
    let mut numbers = flink.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    match (numbers.next().unwrap_or(1), numbers.next().unwrap_or(20)) {
        (1, ..=15) => 3,
        (1, _) => 4,
        (2, 0) => 5,
        _ => 6,
    }
}

/// A checkpoint that names `files` by absolute paths, with their lengths, and nothing else outside of itself.
pub(super) fn bytes(flink: &str, checkpoint: i64, files: &[(String, u64)]) -> Vec<u8> {
    let format = format_of(flink);
    let mut out = Writer::default();
    out.int(0x4960_672D).int(format.cast_signed()).long(checkpoint);
    // No master state; one operator.
    out.int(0).int(1);
    if format >= 5 {
        out.utf("").utf("");
    }
    out.raw(&[0x5A; 16]).int(1).int(128).byte(0);
    // One subtask: operator state inline, no raw operator state.
    out.int(1).int(0).int(1).byte(4).int(0).inline("op", b"state").int(0);
    if files.is_empty() {
        out.byte(0);
    } else {
        out.incremental(flink, checkpoint, files);
    }
    // No raw keyed state, no in-flight data.
    out.byte(0).int(0).int(0);
    if format >= 4 {
        out.raw(PROPERTIES);
    }
    out.0
}

/// What `DataOutputStream` writes: big-endian numbers, texts with their length.
#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn byte(&mut self, value: u8) -> &mut Self {
        self.raw(&[value])
    }

    fn int(&mut self, value: i32) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    fn long(&mut self, value: i64) -> &mut Self {
        self.raw(&value.to_be_bytes())
    }

    /// Paths of worlds hold neither U+0000 nor characters beyond U+FFFF, where Java's modified UTF-8 differs.
    fn utf(&mut self, text: &str) -> &mut Self {
        let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
        self.raw(&length.to_be_bytes()).raw(&text.as_bytes()[..usize::from(length)])
    }

    fn count(&mut self, count: usize) -> &mut Self {
        self.int(i32::try_from(count).unwrap_or(i32::MAX))
    }

    fn inline(&mut self, name: &str, bytes: &[u8]) -> &mut Self {
        self.byte(1).utf(name).count(bytes.len()).raw(bytes)
    }

    /// Incremental keyed state of all key groups, with the files as shared state.
    fn incremental(&mut self, flink: &str, checkpoint: i64, files: &[(String, u64)]) {
        let since_1_15 = !(flink.starts_with("1.13") || flink.starts_with("1.14"));
        self.byte(if since_1_15 { 11 } else { 5 });
        self.long(checkpoint).utf("8d7a4b9e-4a39-4f0e-9a3c-0c5f7d1e2b6a").int(0).int(128);
        if since_1_15 {
            self.long(0);
        }
        self.inline("meta", b"meta").count(files.len());
        for (at, (file, length)) in files.iter().enumerate() {
            self.utf(&format!("{at:06}.sst")).byte(2).long(length.cast_signed()).utf(file);
        }
        self.int(0);
        if since_1_15 {
            self.utf("3f1c2d4e-5a6b-4c7d-8e9f-0a1b2c3d4e5f");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;
    use crate::flink_metadata::read;

    #[test]
    fn every_version_is_read_back_with_exactly_the_files_it_names() {
        let files = [("hdfs://ns1/c/j/shared/a".to_owned(), 7), ("hdfs://ns1/c/j/shared/b".to_owned(), 0)];
        let versions =
            [("1.13.6", 3), ("1.14.6", 3), ("1.15.4", 3), ("1.17.2", 4), ("1.20.5", 4), ("2.0.2", 5), ("2.3.0", 6)];
        for (flink, format) in versions {
            for names in [&files[..], &[]] {
                let content = bytes(flink, 7, names);
                let metadata = read(&content).unwrap_or_else(|error| panic!("{flink}: {error}"));
                assert_eq!((metadata.version, metadata.checkpoint_id, metadata.operators.len()), (format, 7, 1));
                let found: Vec<(String, u64)> =
                    metadata.files.iter().map(|file| (file.path.to_string(), file.size.expect("a size"))).collect();
                assert_eq!(found, names, "{flink}");
                assert!(metadata.files.iter().all(|file| !file.relative));
            }
        }
    }
}
