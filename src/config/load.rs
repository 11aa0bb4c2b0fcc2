//! The layers over the configuration file: defaults, file, environment, flags.
