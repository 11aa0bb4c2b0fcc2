//! The Java object stream at the end of a file of version 4 and later.
//!
//! It never names a path, but it is the only end mark such a file has: if it does not parse to the last byte, the walk
//! before it went wrong. Read is what `ObjectOutputStream` writes for `CheckpointProperties`: plain objects, enum constants,
//! strings and references to earlier ones. Anything else is refused.

use std::borrow::Cow;

use super::bytes::Cursor;
use super::error::{Fault, MetadataError};
use super::properties::{Properties, Snapshot};

type Result<T> = std::result::Result<T, MetadataError>;

/// `STREAM_MAGIC` and `STREAM_VERSION`.
const HEADER: i32 = 0xACED_0005_u32.cast_signed();

/// `baseWireHandle`: the number of the first thing that can be referred to.
const FIRST_HANDLE: i32 = 0x7E_0000;

/// Objects inside objects and classes above classes. Flink writes three.
const MAX_DEPTH: u32 = 16;

const ROOT: &str = "org.apache.flink.runtime.checkpoint.CheckpointProperties";
const CHECKPOINT: &str = "org.apache.flink.runtime.checkpoint.CheckpointType";
const SAVEPOINT: &str = "org.apache.flink.runtime.checkpoint.SavepointType";

mod tag {
    pub(super) const NULL: u8 = 0x70;
    pub(super) const REFERENCE: u8 = 0x71;
    pub(super) const CLASS: u8 = 0x72;
    pub(super) const OBJECT: u8 = 0x73;
    pub(super) const STRING: u8 = 0x74;
    pub(super) const END: u8 = 0x78;
    pub(super) const ENUM: u8 = 0x7E;
}

/// Reads the checkpoint properties, which must end where the file ends.
pub(super) fn properties(at: &mut Cursor<'_>) -> Result<Properties> {
    let begin = at.position();
    if at.i32("header of the checkpoint properties")? != HEADER {
        return Cursor::error_at(begin, wrong("no object stream begins here"));
    }
    let mut reader = Reader { at, things: Vec::new(), classes: Vec::new(), depth: 0, found: Found::default() };
    let begin = reader.at.position();
    match reader.value()? {
        Value::Object(class) if reader.classes[class].name == ROOT => (),
        _ => return Cursor::error_at(begin, wrong("they are of another class than Flink's")),
    }
    match reader.at.left() {
        0 => Ok(reader.found.into_properties()),
        left => reader.at.error(Fault::Trailing(left)),
    }
}

const fn wrong(why: &'static str) -> Fault {
    Fault::Properties(Cow::Borrowed(why))
}

/// A thing that a reference can mean.
#[derive(Clone, Copy)]
enum Thing {
    Class(usize),
    /// Where the string is in the stream.
    Text(usize),
    Object(usize),
}

struct Class<'a> {
    name: Cow<'a, str>,
    is_enum: bool,
    fields: Vec<Field<'a>>,
    /// The class above it, and how many there are.
    parent: Option<usize>,
    height: u32,
}

#[derive(Clone)]
struct Field<'a> {
    code: u8,
    name: Cow<'a, str>,
}

enum Value<'a> {
    Bool(bool),
    Text(Cow<'a, str>),
    Object(usize),
    Other,
}

struct Reader<'a, 'c> {
    at: &'c mut Cursor<'a>,
    /// In the order in which they are numbered. A class that is still being read has no entry in `classes` yet.
    things: Vec<Thing>,
    classes: Vec<Class<'a>>,
    depth: u32,
    found: Found,
}

impl<'a> Reader<'a, '_> {
    fn value(&mut self) -> Result<Value<'a>> {
        if self.depth == MAX_DEPTH {
            return self.at.error(Fault::Depth(MAX_DEPTH));
        }
        self.depth += 1;
        let begin = self.at.position();
        let value = match self.at.u8("type of an object")? {
            tag::NULL => Value::Other,
            tag::REFERENCE => match self.referred()? {
                Thing::Text(at) => Value::Text(self.at.earlier(at).utf("string")?),
                Thing::Object(class) => Value::Object(class),
                Thing::Class(_) => return Cursor::error_at(begin, wrong("a class stands for an object")),
            },
            tag::OBJECT => self.object()?,
            tag::STRING => Value::Text(self.text()?),
            tag::ENUM => self.constant()?,
            tag => return Cursor::error_at(begin, Fault::Tag { place: "object", tag }),
        };
        self.depth -= 1;
        Ok(value)
    }

    fn referred(&mut self) -> Result<Thing> {
        let begin = self.at.position();
        let number = self.at.i32("reference")?.wrapping_sub(FIRST_HANDLE);
        let thing = usize::try_from(number).ok().and_then(|number| self.things.get(number));
        thing.copied().map_or_else(|| Cursor::error_at(begin, wrong("a reference leads nowhere")), Ok)
    }

    fn text(&mut self) -> Result<Cow<'a, str>> {
        self.things.push(Thing::Text(self.at.position()));
        self.at.utf("string")
    }

    /// A string or a reference to one.
    fn string(&mut self) -> Result<Cow<'a, str>> {
        let begin = self.at.position();
        match self.value()? {
            Value::Text(text) => Ok(text),
            _ => Cursor::error_at(begin, wrong("a string is missing")),
        }
    }

    fn object(&mut self) -> Result<Value<'a>> {
        let class = self.class_of_object(false)?;
        self.things.push(Thing::Object(class));
        let chain: Vec<usize> = std::iter::successors(Some(class), |class| self.classes[*class].parent).collect();
        for owner in chain.into_iter().rev() {
            for at in 0..self.classes[owner].fields.len() {
                self.field(owner, at)?;
            }
        }
        Ok(Value::Object(class))
    }

    fn constant(&mut self) -> Result<Value<'a>> {
        let class = self.class_of_object(true)?;
        self.things.push(Thing::Object(class));
        self.string().map(Value::Text)
    }

    fn class_of_object(&mut self, of_enum: bool) -> Result<usize> {
        let begin = self.at.position();
        match self.class()? {
            Some(class) if self.classes[class].is_enum == of_enum => Ok(class),
            _ => Cursor::error_at(begin, wrong("an object has no class of its sort")),
        }
    }

    /// A class, a reference to one, or none.
    fn class(&mut self) -> Result<Option<usize>> {
        let begin = self.at.position();
        match self.at.u8("type of a class")? {
            tag::NULL => Ok(None),
            tag::REFERENCE => match self.referred()? {
                // A class cannot stand above itself; it gets its entry when it is read to its end.
                Thing::Class(class) if class < self.classes.len() => Ok(Some(class)),
                _ => Cursor::error_at(begin, wrong("a class is missing")),
            },
            tag::CLASS => self.new_class().map(Some),
            tag => Cursor::error_at(begin, Fault::Tag { place: "class", tag }),
        }
    }

    fn new_class(&mut self) -> Result<usize> {
        if self.depth == MAX_DEPTH {
            return self.at.error(Fault::Depth(MAX_DEPTH));
        }
        self.depth += 1;
        let name = self.at.name("class name")?;
        self.at.i64("serial version of a class")?;
        let number = self.things.len();
        self.things.push(Thing::Class(usize::MAX));
        let is_enum = self.is_enum()?;
        let fields = self.fields()?;
        let begin = self.at.position();
        let end = self.at.u8("end of a class")?;
        if end != tag::END {
            return Cursor::error_at(begin, Fault::Tag { place: "end of a class", tag: end });
        }
        let parent = self.class()?;
        let height = parent.map_or(0, |parent| self.classes[parent].height + 1);
        if height > MAX_DEPTH {
            return Cursor::error_at(begin, Fault::Depth(MAX_DEPTH));
        }
        self.things[number] = Thing::Class(self.classes.len());
        self.classes.push(Class { name, is_enum, fields, parent, height });
        self.depth -= 1;
        Ok(self.classes.len() - 1)
    }

    /// `SC_SERIALIZABLE` without methods of its own, or the same with `SC_ENUM`.
    fn is_enum(&mut self) -> Result<bool> {
        let begin = self.at.position();
        match self.at.u8("flags of a class")? {
            0x02 => Ok(false),
            0x12 => Ok(true),
            other => Cursor::error_at(begin, Fault::Value { what: "known set of class flags", value: other.into() }),
        }
    }

    fn fields(&mut self) -> Result<Vec<Field<'a>>> {
        let count = self.at.u16("number of fields")?;
        let mut fields = Vec::new();
        for _ in 0..count {
            let code = self.at.u8("type of a field")?;
            let name = self.at.name("name of a field")?;
            if matches!(code, b'L' | b'[') {
                self.string()?;
            }
            fields.push(Field { code, name });
        }
        Ok(fields)
    }

    fn field(&mut self, owner: usize, at: usize) -> Result<()> {
        let Field { code, name } = self.classes[owner].fields[at].clone();
        let begin = self.at.position();
        let value = match code {
            b'Z' => match self.at.u8("truth value")? {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                other => return Cursor::error_at(begin, Fault::Value { what: "truth value", value: other.into() }),
            },
            b'B' => self.skip(1)?,
            b'C' | b'S' => self.skip(2)?,
            b'I' | b'F' => self.skip(4)?,
            b'J' | b'D' => self.skip(8)?,
            b'L' => self.value()?,
            tag => return Cursor::error_at(begin, Fault::Tag { place: "field", tag }),
        };
        match value {
            Value::Bool(value) => self.found.flag(&self.classes[owner].name, &name, value),
            Value::Text(text) => self.found.text(&self.classes[owner].name, &name, &text),
            Value::Object(_) | Value::Other => (),
        }
        Ok(())
    }

    fn skip(&mut self, bytes: usize) -> Result<Value<'a>> {
        self.at.take(bytes, "value of a field").map(|_| Value::Other)
    }
}

/// The fields that mean something, as they come by.
#[derive(Default)]
struct Found {
    properties: Properties,
    class: Option<&'static str>,
    name: String,
    sharing: String,
    format: String,
    action: String,
}

impl Found {
    fn flag(&mut self, class: &str, field: &str, value: bool) {
        let properties = &mut self.properties;
        let place = match field {
            _ if class != ROOT => return,
            "forced" => &mut properties.forced,
            "discardSubsumed" => &mut properties.discard_subsumed,
            "discardFinished" => &mut properties.discard_finished,
            "discardCancelled" => &mut properties.discard_cancelled,
            "discardFailed" => &mut properties.discard_failed,
            "discardSuspended" => &mut properties.discard_suspended,
            "unclaimed" => &mut properties.unclaimed,
            _ => return,
        };
        *place = Some(value);
    }

    fn text(&mut self, class: &str, field: &str, value: &str) {
        let Some(class) = [CHECKPOINT, SAVEPOINT].into_iter().find(|known| *known == class) else { return };
        self.class = Some(class);
        let place = match field {
            "name" => &mut self.name,
            "sharingFilesStrategy" => &mut self.sharing,
            "formatType" => &mut self.format,
            "postCheckpointAction" => &mut self.action,
            _ => return,
        };
        value.clone_into(place);
    }

    fn into_properties(self) -> Properties {
        let Self { name, sharing, format, action, .. } = self;
        let snapshot = match self.class {
            Some(CHECKPOINT) => Snapshot::Checkpoint { name, sharing },
            Some(SAVEPOINT) => Snapshot::Savepoint { name, format, action },
            _ => Snapshot::Unknown,
        };
        Properties { snapshot, ..self.properties }
    }
}
