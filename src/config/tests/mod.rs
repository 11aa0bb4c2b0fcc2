//! Configurations from file text to the checked form, in surroundings made for the test.

mod errors;
mod examples;
mod hadoop;
mod layers;
mod refusals;

use std::path::Path;

use super::load::{LoadOptions, Surroundings, load_in};
use super::valid::Config;
use super::{ConfigError, ConfigErrors};

/// The token that stands in the variable `STATEWARDEN_DS_TOKEN`; it must never come out again.
const TOKEN: &str = "5f4dcc3b5aa765d61d8327deb882cf99";

/// A configuration without a fault. Twelve lines; what is added after it starts at line 13.
const SOUND: &str = r#"authority = "hdfs://ns1"
[hdfs]
urls = ["http://nn1:9870"]
[ds]
url = "http://ds:12345/dolphinscheduler"
version = "3.1.9"
[[clusters]]
name = "c1"
url = "http://jm1:8081"
[[clusters]]
name = "c2"
url = "http://jm2:8081"
"#;

/// A directory with a configuration file in it, and what surrounds it.
struct Place {
    directory: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Place {
    fn empty() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        Self { directory, variables: vec![("STATEWARDEN_DS_TOKEN", TOKEN.to_owned())] }
    }

    fn with_file(text: &str) -> Self {
        let place = Self::empty();
        place.write("statewarden.toml", text);
        place
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, text).expect("a file");
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn variable(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.retain(|(known, _)| *known != name);
        self.variables.push((name, value.into()));
        self
    }

    fn load(&self, options: &LoadOptions) -> Result<Config, ConfigErrors> {
        let variable = |name: &str| self.variables.iter().find(|(known, _)| *known == name).map(|(_, v)| v.clone());
        load_in(options, &Surroundings { variable: &variable, directory: self.path().to_owned() })
    }
}

fn load(text: &str) -> Result<Config, ConfigErrors> {
    Place::with_file(text).load(&LoadOptions::default())
}

fn sound_with(more: &str) -> Config {
    load(&format!("{SOUND}{more}")).expect("a sound configuration")
}

fn errors(text: &str) -> Vec<ConfigError> {
    load(text).expect_err("a faulty configuration").iter().cloned().collect()
}
